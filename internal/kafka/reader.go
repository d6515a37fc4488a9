package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

// fetchMost is how many bytes of a partition are fetched at once, unless ConsumerConfig.Fetch sets
// another number. As with max.partition.fetch.bytes, a broker returns the first record batch of the
// first partition that has records even if it is larger.
const fetchMost = 256 << 10

// Reader reads one partition in order. It returns the records that producers have committed and
// none of an aborted transaction, so it reads up to the first open transaction. Only one goroutine
// at a time may use a Reader.
type Reader struct {
	client    *Client
	topic     string
	partition int
	most      int            // bytes that are fetched at once
	offset    int64          // of the next fetch
	last      int            // number of records of the last fetch that had some
	fetcher   *fetcher       // fetches for several readers together; nil if this reader sends its own requests
	broker    *brokerFetcher // of the fetcher; nil before the first fetch
	more      bool           // the last fetch did not reach the last stable offset
}

// Batch is the result of one fetch.
type Batch struct {
	Records       []Record
	Next          int64 // offset of the next fetch: after these records, and after control records and aborted ones
	LastStable    int64 // offset of the first record of an open transaction, or HighWatermark
	HighWatermark int64 // offset of the next record that will be written
}

// Reader returns a reader of a partition that begins at an offset.
func (c *Client) Reader(topic string, partition int, offset int64) *Reader {
	return &Reader{client: c, topic: topic, partition: partition, most: fetchMost, offset: offset}
}

// Bounds returns the first offset of the partition, and the offset after the last record that can
// be read now.
func (r *Reader) Bounds(ctx context.Context) (first, end int64, err error) {
	found, err := r.client.listOffsets(ctx, r.topic, kafkago.FirstOffsetOf(r.partition), kafkago.LastOffsetOf(r.partition))
	if err != nil {
		return 0, 0, fmt.Errorf("bounds of partition %d: %w", r.partition, err)
	}
	return found[0].FirstOffset, found[0].LastOffset, nil
}

// OffsetAt returns the offset of the first record that is not older than t, or end if there is
// none.
func (r *Reader) OffsetAt(ctx context.Context, t time.Time, end int64) (int64, error) {
	if t.UnixMilli() < 0 { // Kafka gives negative times other meanings
		t = time.UnixMilli(0)
	}
	found, err := r.client.listOffsets(ctx, r.topic, kafkago.TimeOffsetOf(r.partition, t))
	if err != nil {
		return 0, fmt.Errorf("find a time in partition %d: %w", r.partition, err)
	}
	for offset := range found[0].Offsets { // it has one element
		if offset >= 0 {
			return offset, nil
		}
	}
	return end, nil
}

// listOffsets asks the leaders of partitions for offsets of committed records. Without an error it
// returns at least one answer.
func (c *Client) listOffsets(ctx context.Context, topic string, ask ...kafkago.OffsetRequest) ([]kafkago.PartitionOffsets, error) {
	ctx, cancel := context.WithTimeout(ctx, c.conf.Timing.Request)
	defer cancel()
	answer, err := c.client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{topic: ask}, IsolationLevel: kafkago.ReadCommitted,
	})
	if err == nil && len(answer.Topics[topic]) == 0 {
		err = cmp.Or(ctx.Err(), errNoAnswer) // kafka-go answers with nothing if the context ends
	}
	if err != nil {
		return nil, fmt.Errorf("offsets of %s: %w", topic, err)
	}
	for _, p := range answer.Topics[topic] {
		err := p.Error
		if errors.Is(err, kafkago.Unknown) { // kafka-go puts it in the place of the cause, also if the context ends
			err = cmp.Or(ctx.Err(), errNoAnswer)
		}
		if err != nil {
			return nil, fmt.Errorf("offsets of %s/%d: %w", topic, p.Partition, err)
		}
	}
	return answer.Topics[topic], nil
}

// Close removes the reader from its fetcher, if it has one. A later Fetch adds it again.
func (r *Reader) Close() {
	if r.broker != nil {
		r.broker.removeReader()
		r.broker = nil
	}
}

// Fetch returns the next records. If none come within the wait, the batch is empty.
func (r *Reader) Fetch(ctx context.Context, wait time.Duration) (Batch, error) {
	b, err := r.fetch(ctx, wait)
	if err != nil {
		return Batch{}, fmt.Errorf("fetch from %s/%d: %w", r.topic, r.partition, err)
	}
	if len(b.Records) > 0 {
		r.last = len(b.Records)
	}
	r.offset, r.more = b.Next, b.Next < b.LastStable
	return b, nil
}

func (r *Reader) fetch(ctx context.Context, wait time.Duration) (Batch, error) {
	var p *fetch.ResponsePartition
	var err error
	if r.fetcher != nil {
		p, err = r.fetcher.fetch(ctx, r, wait)
	} else {
		var answers []response
		if answers, err = r.client.fetch(ctx, r.topic, []*Reader{r}, wait); err == nil {
			p, err = answers[0].partition, answers[0].err
		}
	}
	if err != nil {
		return Batch{}, err
	}
	return r.batch(p)
}

// fetch asks for the next records of partitions that one broker leads, and returns an answer for each
// reader. If no records come within the wait, the answers are empty. One unreadable partition makes
// fetch fail for all readers, since kafka-go reads all records before it returns any.
func (c *Client) fetch(ctx context.Context, topic string, readers []*Reader, wait time.Duration) ([]response, error) {
	partitions := make([]fetch.RequestPartition, len(readers))
	for i, r := range readers {
		partitions[i] = fetch.RequestPartition{
			Partition: int32(r.partition), CurrentLeaderEpoch: -1, FetchOffset: r.offset, LogStartOffset: -1, PartitionMaxBytes: int32(r.most),
		}
	}
	ctx, cancel := context.WithTimeout(ctx, wait+c.conf.Timing.Request)
	defer cancel()
	answer, err := c.client.Transport.RoundTrip(ctx, c.client.Addr, &fetch.Request{
		ReplicaID: -1, MaxWaitTime: int32(max(1, wait.Milliseconds())), MinBytes: 1, MaxBytes: math.MaxInt32, // PartitionMaxBytes counts
		IsolationLevel: int8(kafkago.ReadCommitted), SessionEpoch: -1,
		Topics: []fetch.RequestTopic{{Topic: topic, Partitions: partitions}},
	})
	if err != nil {
		return nil, err
	}
	fetched, ok := answer.(*fetch.Response)
	switch {
	case !ok:
		return nil, errNoAnswer
	case fetched.ErrorCode != 0:
		return nil, kafkago.Error(fetched.ErrorCode)
	}
	byPartition := make(map[int32]*fetch.ResponsePartition, len(readers))
	for i := range fetched.Topics {
		for j := range fetched.Topics[i].Partitions {
			p := &fetched.Topics[i].Partitions[j]
			byPartition[p.Partition] = p
		}
	}
	all := make([]response, len(readers))
	for i, r := range readers {
		switch p := byPartition[int32(r.partition)]; {
		case p == nil:
			all[i].err = errNoAnswer
		case p.ErrorCode != 0:
			all[i].err = kafkago.Error(p.ErrorCode)
		default:
			all[i].partition = p
		}
	}
	return all, nil
}

// batch reads the batch in an answer.
func (r *Reader) batch(p *fetch.ResponsePartition) (Batch, error) {
	b := Batch{Next: r.offset, LastStable: p.LastStableOffset, HighWatermark: p.HighWatermark}
	stream, ok := p.RecordSet.Records.(*protocol.RecordStream)
	if !ok {
		return b, nil
	}
	aborted := newAborted(p.AbortedTransactions)
	b.Records = make([]Record, 0, r.last+r.last/4+1)
	for _, records := range stream.Records {
		if err := r.append(&b, records, aborted.keep(records)); err != nil {
			return Batch{}, err
		}
	}
	if b.Next == r.offset && len(stream.Records) > 0 {
		b.Next++ // compaction removed the last records of this record batch, and its last offset is not known
	}
	return b, nil
}

// append reads records to their end, and appends them to the batch if keep is set.
func (r *Reader) append(b *Batch, records protocol.RecordReader, keep bool) error {
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
			continue // a broker sends whole record batches, which may begin before the offset
		}
		b.Next = max(b.Next, record.Offset+1)
		if keep {
			b.Records = append(b.Records, Record{
				Partition: r.partition, Offset: record.Offset, Key: key, Value: value, Headers: record.Headers, Time: record.Time,
			})
		}
	}
}

// contentsOf returns key and value of a record, and releases the buffers that hold them.
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

// aborted tells which batches of a fetch belong to aborted transactions. A broker sends these
// batches too, with a list of the offsets at which aborted transactions begin. Each transaction
// ends with a control batch of its producer.
type aborted struct {
	coming []fetch.ResponseTransaction // ascending by first offset
	open   map[int64]bool              // by producer: an aborted transaction has begun and not ended
}

func newAborted(list []fetch.ResponseTransaction) *aborted {
	slices.SortFunc(list, func(a, b fetch.ResponseTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	return &aborted{coming: list, open: make(map[int64]bool)}
}

// keep reports whether to keep the records of the next batch.
func (a *aborted) keep(records protocol.RecordReader) bool {
	switch r := records.(type) {
	case *protocol.RecordBatch:
		a.begin(r.BaseOffset)
		return !r.Attributes.Transactional() || !a.open[r.ProducerID]
	case *protocol.ControlBatch:
		a.begin(r.BaseOffset) // the fetch may begin with the end of a transaction
		delete(a.open, r.ProducerID)
		return false
	}
	return true
}

// begin opens the transactions that have begun up to an offset.
func (a *aborted) begin(offset int64) {
	for len(a.coming) > 0 && a.coming[0].FirstOffset <= offset {
		a.open[a.coming[0].ProducerID] = true
		a.coming = a.coming[1:]
	}
}
