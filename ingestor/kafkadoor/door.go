// Package kafkadoor is the Kafka side of the ingestor: it brings the records of the raw topic to an
// Acceptor, writes the raw and rejects topics, and reads both again for rebuilds and replays.
//
// Before the offset of a record is committed, its message is in the index or on the rejects topic,
// and its bags are marked. So a record may be read twice, and none is lost or skipped. If a reject
// is written twice, both records have the same header bagtrail-origin.
package kafkadoor

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
)

// Door reads and writes the topics of the ingestor. It may be used by several goroutines at once.
type Door struct {
	conf   Config
	client *kafka.Client
}

// New returns a Door that uses the client, whose Config.Topics include those of the door.
func New(client *kafka.Client, conf Config) *Door {
	return &Door{conf: conf.withDefaults(), client: client}
}

// Ping returns nil if a broker answers and the raw topic exists.
func (d *Door) Ping(ctx context.Context) error { return d.client.Ping(ctx, d.conf.Topics.Raw) }

// EnsureTopics creates the topics that are missing, see [kafka.Client.EnsureTopics].
func (d *Door) EnsureTopics(ctx context.Context) error {
	return d.client.EnsureTopics(ctx, d.conf.topics()...)
}

// Append implements ingestor.Log on the raw topic.
func (d *Door) Append(ctx context.Context, records []ingestor.Record) error {
	raw := make([]kafka.Record, len(records))
	for i := range records {
		raw[i] = rawRecord(records[i])
	}
	if err := d.client.Produce(ctx, d.conf.Topics.Raw, raw); err != nil {
		return err
	}
	for i := range records {
		if !records[i].NoPosition {
			records[i].Position = position(&raw[i])
		}
	}
	return nil
}

// keptOfTooLarge is how many bytes of a text are kept if the rejects topic does not take the whole
// text. A text that is cut is still longer than a message may be. A JSON document that is cut has
// lost its end, or only blanks behind its end: then it still holds its message.
const keptOfTooLarge = 256 << 10

// Reject implements ingestor.Rejects on the rejects topic. If the topic has a smaller limit than
// EnsureTopics sets, Reject cuts long texts, so that they hold up nothing.
func (d *Door) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	records := make([]kafka.Record, len(rejections))
	for i, r := range rejections {
		records[i] = rejectRecord(r, d.conf.Now())
	}
	err := d.client.ProduceAnywhere(ctx, d.conf.Topics.Rejects, records)
	if !errors.Is(err, kafka.ErrTooLarge) {
		return err
	}
	d.conf.Logger.Warn("the rejects topic does not take a reject of this size, and gets the beginning of its text: set max.message.bytes",
		zap.Error(err), zap.String("topic", d.conf.Topics.Rejects), zap.Int("wanted", maxRejectBytes))
	for i := range records {
		records[i].Value = records[i].Value[:min(len(records[i].Value), keptOfTooLarge)]
	}
	return d.client.ProduceAnywhere(ctx, d.conf.Topics.Rejects, records)
}
