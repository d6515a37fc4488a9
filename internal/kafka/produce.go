package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"
)

// maxRequest is the largest size of one request, in bytes of records: half of what brokers accept
// by default.
const maxRequest = 512 << 10

// Produce writes records to a topic and returns when all in-sync replicas have them. A record with
// a key goes to the partition that the Java client chooses (murmur2 of the key). Records of one
// partition keep their order. All records of a call that have no key go to one partition; each call
// takes the next partition.
//
// Produce sets Partition and Offset of each record that a broker has acknowledged. It retries
// temporary errors until ctx ends or the time limit [Timing].Produce is over. After a permanent error
// of one partition, the records of the others are still written. After an error any of the records may
// be in the topic.
func (c *Client) Produce(ctx context.Context, topic string, records []Record) error {
	return c.produce(ctx, topic, records, byKey)
}

// ProduceAnywhere is Produce for records whose partition does not matter. It ignores the keys and
// writes all records to one partition. Each attempt takes the next partition, so it also succeeds
// while a partition has no leader.
func (c *Client) ProduceAnywhere(ctx context.Context, topic string, records []Record) error {
	return c.produce(ctx, topic, records, anywhere)
}

// ProduceTo is Produce for records of one partition. It ignores the keys.
func (c *Client) ProduceTo(ctx context.Context, topic string, partition int, records []Record) error {
	return c.produce(ctx, topic, records, partition)
}

// These stand in the place of a partition.
const (
	byKey    = -1
	anywhere = -2
)

func (c *Client) produce(ctx context.Context, name string, records []Record, to int) error {
	if len(records) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.conf.Timing.Produce)
	defer cancel()
	left := make([]*Record, len(records))
	for i := range records {
		left[i] = &records[i]
	}
	var permanent []error
	err := c.Retry(ctx, func() error {
		topic, err := c.topic(ctx, name)
		if err != nil {
			return err
		}
		failed := c.writeAll(ctx, topic, c.place(left, topic, to))
		left = nil
		var errs []error
		for _, f := range failed {
			if isPermanent(f.err) {
				permanent = append(permanent, f.err)
				continue
			}
			left = append(left, f.records...)
			errs = append(errs, f.err)
		}
		return errors.Join(errs...)
	})
	return errors.Join(append(permanent, err)...)
}

// ErrTooLarge is the error of Produce for a record that is larger than the broker accepts.
const ErrTooLarge = kafkago.MessageSizeTooLarge

// PartitionOf returns the partition that the Java client chooses for a key, if the topic has the
// given number of partitions, numbered from 0.
func PartitionOf(key []byte, partitions int) int {
	numbers := make([]int, partitions)
	for i := range numbers {
		numbers[i] = i
	}
	return balance(key, numbers)
}

// balance chooses a partition for a key, out of the numbers of the partitions.
func balance(key []byte, numbers []int) int {
	return kafkago.Murmur2Balancer{}.Balance(kafkago.Message{Key: key}, numbers...)
}

// place chooses a partition for each record, unless to is one. It returns the records by partition,
// in their order.
func (c *Client) place(records []*Record, topic kafkago.Topic, to int) map[int][]*Record {
	numbers, turn := partitionsOf(topic), -1
	placed := make(map[int][]*Record, len(numbers))
	for _, r := range records {
		p := to
		switch {
		case to >= 0:
		case to == byKey && r.Key != nil:
			p = balance(r.Key, numbers)
		default:
			if turn < 0 {
				turn = numbers[int(c.turn.Add(1)-1)%len(numbers)]
			}
			p = turn
		}
		placed[p] = append(placed[p], r)
	}
	return placed
}

// writeAll writes the records of each partition. It writes to all leaders at the same time, and
// sends each leader the records of all its partitions together. It returns the records that are
// still to be written.
func (c *Client) writeAll(ctx context.Context, topic kafkago.Topic, records map[int][]*Record) []failure {
	leaders := make(map[int]kafkago.Broker, len(topic.Partitions))
	for _, p := range topic.Partitions {
		leaders[p.ID] = p.Leader
	}
	byLeader := make(map[kafkago.Broker][]part) // partitions without a leader, or that do not exist, are under the zero Broker
	for p, some := range records {
		byLeader[leaders[p]] = append(byLeader[leaders[p]], part{p, some, len(some)})
	}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed []failure
	)
	for _, parts := range byLeader {
		wg.Go(func() {
			rest := c.write(ctx, topic.Name, parts)
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, rest...)
		})
	}
	wg.Wait()
	return failed
}

// Retry calls do until it succeeds, fails with a permanent error, or ctx ends. It returns the last
// error.
func (c *Client) Retry(ctx context.Context, do func() error) error {
	pause := c.backoff()
	pause.next /= 4
	for {
		err := do()
		if err == nil || isPermanent(err) || !pause.wait(ctx) {
			return err
		}
	}
}

// isPermanent reports whether a retry would give the same error. BrokerNotAvailable is the error of
// kafka-go for a partition without a leader.
func isPermanent(err error) bool {
	code, known := errors.AsType[kafkago.Error](err)
	return known && !code.Temporary() && code != kafkago.BrokerNotAvailable
}

// part is the records of one partition: at least one.
type part struct {
	partition int
	records   []*Record
	most      int // how many of them one request may have: fewer once the broker has refused so many as too large
}

// failure holds the records of a part that are still to be written, and the reason.
type failure struct {
	part
	err error
}

// write writes to partitions that one broker leads, in requests of at most maxRequest bytes. It
// stops if a request gets no answer. It returns the parts that are still to be written.
func (c *Client) write(ctx context.Context, topic string, parts []part) []failure {
	var failed []failure
	fail := func(p part, err error) {
		failed = append(failed, failure{p, fmt.Errorf("write %d records to %s/%d: %w", len(p.records), topic, p.partition, err)})
	}
	for len(parts) > 0 {
		now := fitting(parts)
		faults, err := c.send(ctx, topic, now)
		if err != nil {
			for _, p := range parts {
				fail(p, err)
			}
			return failed
		}
		var next []part
		for i, p := range parts[:len(now)] {
			switch n := len(now[i].records); {
			case n > 1 && errors.Is(faults[i], ErrTooLarge):
				next = append(next, part{p.partition, p.records, n / 2})
			case faults[i] != nil:
				fail(p, faults[i])
			case n < len(p.records):
				next = append(next, part{p.partition, p.records[n:], p.most})
			}
		}
		parts = append(next, parts[len(now):]...)
	}
	return failed
}

// fitting returns the first records of parts that fit into one request: at least one record.
func fitting(parts []part) []part {
	var now []part
	size := 0
	for _, p := range parts {
		n, most := 0, min(p.most, len(p.records))
		for ; n < most; n++ {
			if size += p.records[n].size(); size > maxRequest && (n > 0 || len(now) > 0) {
				break
			}
		}
		if n > 0 {
			now = append(now, part{p.partition, p.records[:n], n})
		}
		if n < most {
			break
		}
	}
	return now
}

// size returns the approximate size of a record in a request, in bytes.
func (r *Record) size() int {
	size := len(r.Key) + len(r.Value) + 32
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value) + 8
	}
	return size
}

// send sends one request for several partitions. The Produce of kafka-go takes one partition, which
// would make a dozen requests of a few records each. It returns an error for each part, or an error
// if the broker did not answer.
func (c *Client) send(ctx context.Context, topic string, parts []part) ([]error, error) {
	to := produce.RequestTopic{Topic: topic, Partitions: make([]produce.RequestPartition, len(parts))}
	for i, p := range parts {
		records := make([]kafkago.Record, len(p.records))
		for j, r := range p.records {
			records[j] = kafkago.Record{Time: r.Time, Key: kafkago.NewBytes(r.Key), Value: kafkago.NewBytes(r.Value), Headers: r.Headers}
		}
		to.Partitions[i] = produce.RequestPartition{
			Partition: int32(p.partition), RecordSet: protocol.RecordSet{Records: kafkago.NewRecordReader(records...)},
		}
	}
	limited, cancel := context.WithTimeout(ctx, c.conf.Timing.Request)
	defer cancel()
	deadline, _ := limited.Deadline()
	half := time.Until(deadline) / 2 // so that a broker whose replicas do not answer can still report which partitions were written
	response, err := c.client.Transport.RoundTrip(limited, c.client.Addr, &produce.Request{
		Acks: int16(kafkago.RequireAll), Timeout: int32(max(1, half.Milliseconds())), Topics: []produce.RequestTopic{to},
	})
	if err != nil {
		return nil, err
	}
	faults := make([]error, len(parts))
	for i, p := range parts {
		var first int64
		if first, faults[i] = baseOffset(response, topic, p.partition); faults[i] == nil {
			for j, r := range p.records {
				r.Partition, r.Offset = p.partition, first+int64(j)
			}
		}
	}
	return faults, nil
}

// baseOffset returns the offset that a response gives to the first record of a partition, or the
// error of that partition.
func baseOffset(response kafkago.Response, topic string, partition int) (int64, error) {
	if answer, ok := response.(*produce.Response); ok {
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				switch {
				case t.Topic != topic || int(p.Partition) != partition:
				case p.ErrorCode == 0:
					return p.BaseOffset, nil
				case p.ErrorMessage != "":
					return 0, fmt.Errorf("%w: %s", kafkago.Error(p.ErrorCode), p.ErrorMessage)
				default:
					return 0, kafkago.Error(p.ErrorCode)
				}
			}
		}
	}
	return 0, errNoAnswer
}

var errNoAnswer = errors.New("the answer of the broker does not name the partition")
