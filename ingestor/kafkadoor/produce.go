package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"

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
	left := make(map[int][]kafka.Message)
	for _, e := range events {
		m := eventRecord(e, d.conf.Now())
		p := place.Balance(m, numbers...)
		left[p] = append(left[p], m)
	}
	return d.persist(ctx, func() error { return d.distribute(ctx, topic, left) })
}

// distribute writes records to the partitions under whose numbers they stand: to each broker those that it leads, together.
// With an error those are left that are still to be written.
func (d *Door) distribute(ctx context.Context, topic string, left map[int][]kafka.Message) error {
	t, err := d.topic(ctx, topic)
	if err != nil {
		return err
	}
	led := make(map[int][]part) // by the leader's id
	for _, p := range t.Partitions {
		if msgs, some := left[p.ID]; some {
			led[p.Leader.ID] = append(led[p.Leader.ID], part{p.ID, msgs})
			delete(left, p.ID)
		}
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for p := range left {
		errs = append(errs, fmt.Errorf("write to %s/%d: %w", topic, p, kafka.UnknownTopicOrPartition))
	}
	for _, parts := range led {
		wg.Go(func() {
			rest, err := d.write(ctx, topic, parts)
			mu.Lock()
			defer mu.Unlock()
			for _, p := range rest {
				left[p.partition] = p.msgs
			}
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// spread writes records to the next partition in turn, and to others where one does not take them for now.
func (d *Door) spread(ctx context.Context, topic string, msgs []kafka.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	rest := []part{{msgs: msgs}}
	return d.persist(ctx, func() error {
		numbers, err := d.partitions(ctx, topic)
		if err != nil {
			return err
		}
		rest[0].partition = d.turn.of(numbers)
		rest, err = d.write(ctx, topic, rest)
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

// part is what one partition gets: at least one record.
type part struct {
	partition int
	msgs      []kafka.Message
}

// write writes to partitions that one broker leads, in requests of no more than maxRequest bytes. With an error it returns
// what is still to be written.
func (d *Door) write(ctx context.Context, topic string, parts []part) (rest []part, err error) {
	var errs []error
	for len(parts) > 0 {
		now := fitting(parts)
		faults := d.request(ctx, topic, now)
		var next []part
		for i, p := range parts {
			switch {
			case i >= len(now):
				next = append(next, p)
			case faults[i] != nil:
				rest = append(rest, p)
				errs = append(errs, fmt.Errorf("write %d records to %s/%d: %w", len(now[i].msgs), topic, p.partition, faults[i]))
			case len(now[i].msgs) < len(p.msgs):
				next = append(next, part{p.partition, p.msgs[len(now[i].msgs):]})
			}
		}
		parts = next
	}
	return rest, errors.Join(errs...)
}

// fitting returns what goes into the next request, of the first of the parts: at least one record.
func fitting(parts []part) []part {
	var now []part
	size := 0
	for _, p := range parts {
		n := 0
		for ; n < len(p.msgs); n++ {
			if size += sizeOf(p.msgs[n]); size > maxRequest && (n > 0 || len(now) > 0) {
				break
			}
		}
		if n > 0 {
			now = append(now, part{p.partition, p.msgs[:n]})
		}
		if n < len(p.msgs) {
			break
		}
	}
	return now
}

// sizeOf is about how many bytes a record takes in a request.
func sizeOf(m kafka.Message) int {
	size := len(m.Key) + len(m.Value) + 32
	for _, h := range m.Headers {
		size += len(h.Key) + len(h.Value) + 8
	}
	return size
}

// request sends one request, and halves of a part again where its broker takes less of that at once. It returns how each
// part went.
func (d *Door) request(ctx context.Context, topic string, parts []part) []error {
	faults := d.send(ctx, topic, parts)
	for i, p := range parts {
		if half := len(p.msgs) / 2; half > 0 && errors.Is(faults[i], kafka.MessageSizeTooLarge) {
			faults[i] = d.request(ctx, topic, []part{{p.partition, p.msgs[:half]}})[0]
			if faults[i] == nil {
				faults[i] = d.request(ctx, topic, []part{{p.partition, p.msgs[half:]}})[0]
			}
		}
	}
	return faults
}

// send sends one request. A client of the library asks for one partition at a time, which makes a dozen requests of a few
// events each.
func (d *Door) send(ctx context.Context, topic string, parts []part) []error {
	limit := d.conf.Timing.Request
	to := produce.RequestTopic{Topic: topic, Partitions: make([]produce.RequestPartition, len(parts))}
	for i, p := range parts {
		records := make([]kafka.Record, len(p.msgs))
		for j, m := range p.msgs {
			records[j] = kafka.Record{Time: m.Time, Key: kafka.NewBytes(m.Key), Value: kafka.NewBytes(m.Value), Headers: m.Headers}
		}
		to.Partitions[i] = produce.RequestPartition{
			Partition: int32(p.partition), RecordSet: protocol.RecordSet{Records: kafka.NewRecordReader(records...)},
		}
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := d.client.Transport.RoundTrip(limited, d.client.Addr, &produce.Request{
		Acks: int16(kafka.RequireAll), Timeout: int32(limit.Milliseconds()), Topics: []produce.RequestTopic{to},
	})
	faults := make([]error, len(parts))
	for i, p := range parts {
		if faults[i] = err; err == nil {
			faults[i] = outcome(response, topic, p.partition)
		}
	}
	return faults
}

// outcome is what a broker says of a partition.
func outcome(response kafka.Response, topic string, partition int) error {
	if answer, ok := response.(*produce.Response); ok {
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				if t.Topic != topic || int(p.Partition) != partition {
					continue
				}
				if p.ErrorCode != 0 {
					return kafka.Error(p.ErrorCode)
				}
				return nil
			}
		}
	}
	return errUnsaid
}

var errUnsaid = errors.New("the broker does not say whether it has them")
