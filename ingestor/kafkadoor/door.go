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
	"math"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/kafka"
)

// Door reads and writes the topics of the ingestor. It may be used by several goroutines at once.
type Door struct {
	conf   Config
	client *kafka.Client
}

// New returns a Door. The Config.Topics of the client must include the topics of the door.
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
// text. A cut text is still longer than a message may be, so it stays rejected. A cut JSON document
// is not valid JSON any more, unless it has lost only blanks after its end: then it still holds its
// whole message.
const keptOfTooLarge = 256 << 10

// Reject implements ingestor.Rejects on the rejects topic. If the topic has a smaller limit than
// EnsureTopics sets, Reject cuts long texts and leaves out diagnostics, so that a large reject does
// not hold up the messages after it.
func (d *Door) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	err := d.reject(ctx, rejections, math.MaxInt, maxDiagnostics)
	if !errors.Is(err, kafka.ErrTooLarge) {
		return err
	}
	d.conf.Logger.Warn("the rejects topic does not take a reject of this size, and gets only the beginning of its text and of its diagnostics: set max.message.bytes",
		zap.Error(err), zap.String("topic", d.conf.Topics.Rejects), zap.Int("wanted", maxRejectBytes))
	return d.reject(ctx, rejections, keptOfTooLarge, fewDiagnostics)
}

// reject writes rejections. At most text bytes of each message, and at most diagnostics bytes of
// each list of diagnostics, are written.
func (d *Door) reject(ctx context.Context, rejections []ingestor.Rejection, text, diagnostics int) error {
	records := make([]kafka.Record, len(rejections))
	for i, r := range rejections {
		r.Raw = r.Raw[:min(len(r.Raw), text)]
		records[i] = rejectRecord(r, diagnostics)
	}
	return d.client.ProduceAnywhere(ctx, d.conf.Topics.Rejects, records)
}
