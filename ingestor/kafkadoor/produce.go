package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/segmentio/kafka-go"

	"bagtrail/ingestor"
)

// maxRequest is how many bytes of records go into one request: half of what brokers take by default.
const maxRequest = 512 << 10

// turns counts requests, so that each goes to the next partition.
type turns struct{ n atomic.Uint32 }

func (t *turns) of(partitions []int) int {
	return partitions[int(t.n.Add(1)-1)%len(partitions)]
}

// Append implements ingestor.Log on the raw topic: all in-sync replicas have the records when it returns. Neither the
// partition nor the order of messages matters, so each call goes to one partition, in turn.
func (d *Door) Append(ctx context.Context, records []ingestor.Record) error {
	msgs := make([]kafka.Message, len(records))
	for i, r := range records {
		msgs[i] = rawRecord(r)
	}
	return d.spread(ctx, d.conf.Topics.Raw, msgs)
}

// Reject implements ingestor.Rejects on the rejects topic.
func (d *Door) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	msgs := make([]kafka.Message, len(rejections))
	for i, r := range rejections {
		msgs[i] = rejectRecord(r, d.conf.Now())
	}
	return d.spread(ctx, d.conf.Topics.Rejects, msgs)
}

// publish writes events. Those of one plate go to one partition, as other clients of Kafka would place them.
func (d *Door) publish(ctx context.Context, events []Event) error {
	topic := d.conf.Topics.Events
	numbers, err := d.partitions(ctx, topic)
	if err != nil {
		return err
	}
	place := kafka.Murmur2Balancer{Consistent: true}
	placed := make(map[int][]kafka.Message)
	for _, e := range events {
		m := eventRecord(e, d.conf.Now())
		p := place.Balance(m, numbers...)
		placed[p] = append(placed[p], m)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for p, msgs := range placed {
		wg.Go(func() {
			err := d.persist(ctx, func() (err error) {
				msgs, err = d.write(ctx, topic, p, msgs)
				return err
			})
			if err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// spread writes records to the next partition in turn, and to others where one does not take them for now.
func (d *Door) spread(ctx context.Context, topic string, msgs []kafka.Message) error {
	return d.persist(ctx, func() error {
		numbers, err := d.partitions(ctx, topic)
		if err != nil {
			return err
		}
		msgs, err = d.write(ctx, topic, d.turn.of(numbers), msgs)
		return err
	})
}

// persist does something again, while ctx lasts, where it may well succeed in a moment.
func (d *Door) persist(ctx context.Context, do func() error) error {
	pause := newPause(d.conf.Timing.RetryMin/4, d.conf.Timing.RetryMax)
	for {
		err := do()
		var code kafka.Error
		if err == nil || errors.As(err, &code) && !code.Temporary() || !pause.wait(ctx) {
			return err
		}
	}
}

// write writes records to a partition, in requests of no more than maxRequest bytes. With an error it returns those
// that are still to be written.
func (d *Door) write(ctx context.Context, topic string, partition int, msgs []kafka.Message) (rest []kafka.Message, err error) {
	for len(msgs) > 0 {
		n := fitting(msgs)
		if err := d.request(ctx, topic, partition, msgs[:n]); err != nil {
			return msgs, fmt.Errorf("write %d records to %s/%d: %w", n, topic, partition, err)
		}
		msgs = msgs[n:]
	}
	return nil, nil
}

// fitting returns how many records go into the next request: at least one.
func fitting(msgs []kafka.Message) int {
	size := 0
	for i, m := range msgs {
		size += len(m.Key) + len(m.Value) + 32
		for _, h := range m.Headers {
			size += len(h.Key) + len(h.Value) + 8
		}
		if size > maxRequest && i > 0 {
			return i
		}
	}
	return len(msgs)
}

// request sends one request, or halves of it where a broker takes less at once.
func (d *Door) request(ctx context.Context, topic string, partition int, msgs []kafka.Message) error {
	records := make([]kafka.Record, len(msgs))
	for i, m := range msgs {
		records[i] = kafka.Record{Time: m.Time, Key: kafka.NewBytes(m.Key), Value: kafka.NewBytes(m.Value), Headers: m.Headers}
	}
	limited, cancel := context.WithTimeout(ctx, d.conf.Timing.Request)
	defer cancel()
	answer, err := d.client.Produce(limited, &kafka.ProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
	})
	if err == nil {
		err = answer.Error
	}
	if len(msgs) > 1 && errors.Is(err, kafka.MessageSizeTooLarge) {
		half := len(msgs) / 2
		if err := d.request(ctx, topic, partition, msgs[:half]); err != nil {
			return err
		}
		return d.request(ctx, topic, partition, msgs[half:])
	}
	return err
}
