package kafkadoor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

// What a fetch asks for. While messages come soon after each other it waits a little for more, so that a steady trickle
// does not become a request and a commit a message; otherwise the first message counts.
const (
	fetchMost   = 256 << 10
	fetchEnough = 32 << 10
	fetchSoon   = 20 * time.Millisecond
)

// reader reads one partition in order. It returns what producers have committed and nothing of aborted transactions, so it reads
// no further than to the first open one.
type reader struct {
	door      *Door
	topic     string
	partition int
	offset    int64     // of the next fetch
	came      time.Time // when there were messages last
	busy      bool      // and others soon before them
	last      int       // how many there were
}

// batch is one fetch, whole, in memory.
type batch struct {
	messages []kafka.Message
	next     int64 // offset behind them, also behind what is no message
	stable   int64 // offset of the first record of an open transaction; high where there is none
	high     int64 // offset of the next record that will be written
}

// first returns the time of the first message, zero where there is none.
func (b *batch) first() (t time.Time) {
	if len(b.messages) > 0 {
		t = b.messages[0].Time
	}
	return t
}

// latest returns the time of the last message, zero where there is none.
func (b *batch) latest() (t time.Time) {
	if n := len(b.messages); n > 0 {
		t = b.messages[n-1].Time
	}
	return t
}

func (d *Door) reader(topic string, partition int) *reader {
	return &reader{door: d, topic: topic, partition: partition}
}

// bounds returns the first offset that is still there, and the one behind the last that can be read now.
func (r *reader) bounds(ctx context.Context) (first, end int64, err error) {
	answer, err := r.offsets(ctx, kafka.FirstOffsetOf(r.partition), kafka.LastOffsetOf(r.partition))
	if err != nil {
		return 0, 0, fmt.Errorf("bounds of %s/%d: %w", r.topic, r.partition, err)
	}
	return answer.FirstOffset, answer.LastOffset, nil
}

// offsetAt returns the offset of the first record from the moment on, or end where there is none.
func (r *reader) offsetAt(ctx context.Context, t time.Time, end int64) (int64, error) {
	answer, err := r.offsets(ctx, kafka.TimeOffsetOf(r.partition, t))
	if err != nil {
		return 0, fmt.Errorf("find a time in %s/%d: %w", r.topic, r.partition, err)
	}
	for offset := range answer.Offsets { // there is one
		if offset >= 0 {
			return offset, nil
		}
	}
	return end, nil
}

func (r *reader) offsets(ctx context.Context, ask ...kafka.OffsetRequest) (kafka.PartitionOffsets, error) {
	ctx, cancel := context.WithTimeout(ctx, r.door.conf.Timing.Request)
	defer cancel()
	answer, err := r.door.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{r.topic: ask}, IsolationLevel: kafka.ReadCommitted,
	})
	if err != nil {
		return kafka.PartitionOffsets{}, err
	}
	for _, p := range answer.Topics[r.topic] {
		if p.Partition == r.partition {
			return p, p.Error
		}
	}
	return kafka.PartitionOffsets{}, errUnsaid
}

// fetch returns what comes next, after a wait also nothing.
func (r *reader) fetch(ctx context.Context, wait time.Duration) (batch, error) {
	b, err := r.request(ctx, wait)
	if err != nil {
		return batch{}, fmt.Errorf("fetch from %s/%d: %w", r.topic, r.partition, err)
	}
	now := time.Now()
	r.busy = len(b.messages) > 0 && now.Sub(r.came) < 2*fetchSoon
	if len(b.messages) > 0 {
		r.came, r.last = now, len(b.messages)
	}
	r.offset = b.next
	return b, nil
}

func (r *reader) request(ctx context.Context, wait time.Duration) (batch, error) {
	enough := int32(1)
	if r.busy {
		enough, wait = fetchEnough, min(fetchSoon, wait)
	}
	ctx, cancel := context.WithTimeout(ctx, wait+r.door.conf.Timing.Request)
	defer cancel()
	response, err := r.door.client.Transport.RoundTrip(ctx, r.door.client.Addr, &fetch.Request{
		ReplicaID: -1, MaxWaitTime: int32(wait.Milliseconds()), MinBytes: enough, MaxBytes: math.MaxInt32, // that of the partition counts
		IsolationLevel: int8(kafka.ReadCommitted), SessionEpoch: -1,
		Topics: []fetch.RequestTopic{{Topic: r.topic, Partitions: []fetch.RequestPartition{{
			Partition: int32(r.partition), CurrentLeaderEpoch: -1, FetchOffset: r.offset, LogStartOffset: -1, PartitionMaxBytes: fetchMost,
		}}}},
	})
	if err != nil {
		return batch{}, err
	}
	answer, ok := response.(*fetch.Response)
	switch {
	case !ok:
		return batch{}, errUnsaid
	case answer.ErrorCode != 0:
		return batch{}, kafka.Error(answer.ErrorCode)
	case len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1:
		return batch{}, errUnsaid
	}
	p := &answer.Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		return batch{}, kafka.Error(p.ErrorCode)
	}
	return r.take(p)
}

// take takes the messages out of an answer.
func (r *reader) take(p *fetch.ResponsePartition) (batch, error) {
	b := batch{next: r.offset, stable: p.LastStableOffset, high: p.HighWatermark}
	stream, ok := p.RecordSet.Records.(*protocol.RecordStream)
	if !ok {
		return b, nil
	}
	dropped := newAborted(p.AbortedTransactions)
	b.messages = make([]kafka.Message, 0, r.last+r.last/4+1)
	for _, records := range stream.Records {
		if err := r.append(&b, records, dropped.pass(records)); err != nil {
			return batch{}, err
		}
	}
	if b.next == r.offset && len(stream.Records) > 0 {
		b.next++ // the end of this batch was compacted away, and its length is not told
	}
	return b, nil
}

// append reads records to their end, and appends them to the messages where they are to be kept.
func (r *reader) append(b *batch, records protocol.RecordReader, keep bool) error {
	for {
		record, err := records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		key, value, err := contentsOf(record)
		if err != nil {
			return err
		}
		if record.Offset < r.offset {
			continue // a batch is sent as a whole
		}
		b.next = max(b.next, record.Offset+1)
		if keep {
			b.messages = append(b.messages, kafka.Message{
				Topic: r.topic, Partition: r.partition, Offset: record.Offset, Key: key, Value: value, Headers: record.Headers, Time: record.Time,
			})
		}
	}
}

// contentsOf takes key and value out of a record, and gives back the memory in which they came.
func contentsOf(record *protocol.Record) (key, value []byte, err error) {
	key, err = protocol.ReadAll(record.Key)
	if err == nil {
		value, err = protocol.ReadAll(record.Value)
	}
	for _, b := range []protocol.Bytes{record.Key, record.Value} {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
	}
	return key, value, err
}

// aborted tells which batches of a fetch belong to aborted transactions. A broker sends these too, with a list of where such
// transactions begin; each ends with a mark of its producer.
type aborted struct {
	coming []fetch.ResponseTransaction // in order of their first offsets
	open   map[int64]bool              // producers, between beginning and end
}

func newAborted(list []fetch.ResponseTransaction) *aborted {
	slices.SortFunc(list, func(a, b fetch.ResponseTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	return &aborted{coming: list, open: make(map[int64]bool)}
}

// pass reports whether the records of the next batch are messages to be kept.
func (a *aborted) pass(records protocol.RecordReader) bool {
	switch r := records.(type) {
	case *protocol.RecordBatch:
		for len(a.coming) > 0 && a.coming[0].FirstOffset <= r.BaseOffset {
			a.open[a.coming[0].ProducerID] = true
			a.coming = a.coming[1:]
		}
		return !r.Attributes.Transactional() || !a.open[r.ProducerID]
	case *protocol.ControlBatch:
		delete(a.open, r.ProducerID)
		return false
	}
	return true
}
