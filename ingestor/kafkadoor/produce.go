package kafkadoor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

// maxRequest is how many bytes of records go into one request: half of what brokers take by default.
const maxRequest = 512 << 10

// turns counts requests, so that each goes to the next partition.
type turns struct{ n atomic.Uint32 }

func (t *turns) of(partitions []int) int {
	return partitions[int(t.n.Add(1)-1)%len(partitions)]
}

// Append implements ingestor.Log on the raw topic: all in-sync replicas have the records when it returns. Records with one
// plate go to one partition, in their order, as other clients of Kafka would place them by their keys.
func (d *Door) Append(ctx context.Context, records []ingestor.Record) error {
	msgs := make([]kafka.Message, len(records))
	for i := range records {
		msgs[i] = rawRecord(records[i])
		if !records[i].Replayed {
			msgs[i].WriterData = &records[i].Position // see acknowledge
		}
	}
	return d.deliver(ctx, d.conf.Topics.Raw, msgs)
}

// Reject implements ingestor.Rejects on the rejects topic.
func (d *Door) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	msgs := make([]kafka.Message, len(rejections))
	for i, r := range rejections {
		msgs[i] = rejectRecord(r, d.conf.Now())
	}
	if err := d.spread(ctx, d.conf.Topics.Rejects, msgs); err != nil {
		return err
	}
	d.conf.Rejected(rejections)
	return nil
}

// publish writes events. Those of one plate go to one partition, as other clients of Kafka would place them.
func (d *Door) publish(ctx context.Context, events []Event) error {
	return d.deliver(ctx, d.conf.Topics.Events, eventRecords(events, d.conf.Now()))
}

// deliver writes records to the partitions of their keys, and while ctx lasts again what a partition does not take for now:
// its leader may be another by then. What a partition would refuse again keeps the others from nothing.
func (d *Door) deliver(ctx context.Context, name string, left []kafka.Message) error {
	var refused []error
	err := d.persist(ctx, func() error {
		topic, err := d.topic(ctx, name)
		if err != nil {
			return err
		}
		failed := d.distribute(ctx, topic, d.place(left, topic))
		left = nil
		var errs []error
		for _, f := range failed {
			if lasts(f.err) {
				refused = append(refused, f.err)
				continue
			}
			left = append(left, f.msgs...)
			errs = append(errs, f.err)
		}
		return errors.Join(errs...)
	})
	return errors.Join(append(refused, err)...)
}

// place returns for each partition the records that go there: by the hash of their keys that the clients of Java use too, and
// those without a key to one partition, the next in turn. It sorts the records by partition.
func (d *Door) place(msgs []kafka.Message, topic kafka.Topic) map[int][]kafka.Message {
	numbers, by, turn := numbersOf(topic), kafka.Murmur2Balancer{}, -1
	for i := range msgs {
		if msgs[i].Key != nil {
			msgs[i].Partition = by.Balance(msgs[i], numbers...)
			continue
		}
		if turn < 0 {
			turn = d.turn.of(numbers)
		}
		msgs[i].Partition = turn
	}
	slices.SortStableFunc(msgs, func(m, n kafka.Message) int { return cmp.Compare(m.Partition, n.Partition) })
	placed := make(map[int][]kafka.Message, len(numbers))
	for len(msgs) > 0 {
		p, n := msgs[0].Partition, 1
		for n < len(msgs) && msgs[n].Partition == p {
			n++
		}
		placed[p], msgs = msgs[:n:n], msgs[n:]
	}
	return placed
}

// distribute writes records to the partitions under whose numbers they stand: to each broker those that it leads, together.
// It returns what is still to be written.
func (d *Door) distribute(ctx context.Context, topic kafka.Topic, records map[int][]kafka.Message) []failure {
	led := make(map[kafka.Broker][]part) // without one, by none
	nowhere := maps.Clone(records)
	for _, p := range topic.Partitions {
		if msgs, some := records[p.ID]; some {
			led[p.Leader] = append(led[p.Leader], part{p.ID, msgs})
			delete(nowhere, p.ID)
		}
	}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed []failure
	)
	for p, msgs := range nowhere {
		failed = append(failed, failure{part{p, msgs}, fmt.Errorf("write to %s/%d: %w", topic.Name, p, kafka.UnknownTopicOrPartition)})
	}
	for _, parts := range led {
		wg.Go(func() {
			rest := d.write(ctx, topic.Name, parts)
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, rest...)
		})
	}
	wg.Wait()
	return failed
}

// spread writes records to the next partition in turn, and to others where one does not take them for now.
func (d *Door) spread(ctx context.Context, topic string, msgs []kafka.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	return d.persist(ctx, func() error {
		numbers, err := d.partitions(ctx, topic)
		if err != nil {
			return err
		}
		for _, f := range d.write(ctx, topic, []part{{d.turn.of(numbers), msgs}}) {
			msgs, err = f.msgs, f.err
		}
		return err
	})
}

// persist does something again, while ctx lasts, where it may well succeed in a moment.
func (d *Door) persist(ctx context.Context, do func() error) error {
	pause := newPause(d.conf.Timing.RetryMin/4, d.conf.Timing.RetryMax)
	for {
		err := do()
		if err == nil || lasts(err) || !pause.wait(ctx) {
			return err
		}
	}
}

// lasts reports whether a broker would say the same again.
func lasts(err error) bool {
	var code kafka.Error
	return errors.As(err, &code) && !code.Temporary()
}

// part is what one partition gets: at least one record.
type part struct {
	partition int
	msgs      []kafka.Message
}

// failure is what is still to be written of a part, and why.
type failure struct {
	part
	err error
}

// write writes to partitions that one broker leads, in requests of no more than maxRequest bytes, until one of them gets no
// answer. It returns what is still to be written, and perhaps some that was, where a broker took only half of a request.
func (d *Door) write(ctx context.Context, topic string, parts []part) []failure {
	var failed []failure
	fail := func(p part, err error) {
		failed = append(failed, failure{p, fmt.Errorf("write %d records to %s/%d: %w", len(p.msgs), topic, p.partition, err)})
	}
	for len(parts) > 0 {
		now := fitting(parts)
		faults, err := d.request(ctx, topic, now)
		if err != nil {
			for _, p := range parts {
				fail(p, err)
			}
			return failed
		}
		var next []part
		for i, p := range parts {
			switch {
			case i >= len(now):
				next = append(next, p)
			case faults[i] != nil:
				fail(p, faults[i])
			case len(now[i].msgs) < len(p.msgs):
				next = append(next, part{p.partition, p.msgs[len(now[i].msgs):]})
			}
		}
		parts = next
	}
	return failed
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
// part went, or an error where the broker did not say.
func (d *Door) request(ctx context.Context, topic string, parts []part) ([]error, error) {
	faults, err := d.send(ctx, topic, parts)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if half := len(p.msgs) / 2; half > 0 && errors.Is(faults[i], kafka.MessageSizeTooLarge) {
			faults[i] = d.inTwo(ctx, topic, part{p.partition, p.msgs[:half]}, part{p.partition, p.msgs[half:]})
		}
	}
	return faults, nil
}

// inTwo sends two halves of a part, one after the other.
func (d *Door) inTwo(ctx context.Context, topic string, halves ...part) error {
	for _, half := range halves {
		faults, err := d.request(ctx, topic, []part{half})
		if err = cmp.Or(err, errors.Join(faults...)); err != nil {
			return err
		}
	}
	return nil
}

// send sends one request. A client of the library asks for one partition at a time, which makes a dozen requests of a few
// events each.
func (d *Door) send(ctx context.Context, topic string, parts []part) ([]error, error) {
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
	limited, cancel := context.WithTimeout(ctx, d.conf.Timing.Request)
	defer cancel()
	deadline, _ := limited.Deadline()
	half := time.Until(deadline) / 2 // so that a broker whose replicas do not answer still says which partitions are well
	response, err := d.client.Transport.RoundTrip(limited, d.client.Addr, &produce.Request{
		Acks: int16(kafka.RequireAll), Timeout: int32(max(1, half.Milliseconds())), Topics: []produce.RequestTopic{to},
	})
	if err != nil {
		return nil, err
	}
	faults := make([]error, len(parts))
	for i, p := range parts {
		var first int64
		if first, faults[i] = outcome(response, topic, p.partition); faults[i] == nil {
			p.acknowledge(first)
		}
	}
	return faults, nil
}

// acknowledge tells those of the records that want to know it their positions, the first of which has an offset.
func (p part) acknowledge(first int64) {
	for i := range p.msgs {
		if told, ok := p.msgs[i].WriterData.(*bag.Position); ok {
			*told = position(p.partition, first+int64(i))
		}
	}
}

// outcome is what a broker says of a partition: the offset of the first record, or an error.
func outcome(response kafka.Response, topic string, partition int) (first int64, err error) {
	if answer, ok := response.(*produce.Response); ok {
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				switch {
				case t.Topic != topic || int(p.Partition) != partition:
				case p.ErrorCode == 0:
					return p.BaseOffset, nil
				case p.ErrorMessage != "":
					return 0, fmt.Errorf("%w: %s", kafka.Error(p.ErrorCode), p.ErrorMessage)
				default:
					return 0, kafka.Error(p.ErrorCode)
				}
			}
		}
	}
	return 0, errUnsaid
}

var errUnsaid = errors.New("the broker does not say whether it has them")
