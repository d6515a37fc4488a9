package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

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
	fetcher   *fetcher // perhaps of several readers
	partition int
	offset    int64          // of the next fetch
	last      int            // number of records of the last fetch that had some
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
	return c.newFetcher(topic, 1, fetchMost).reader(partition, offset)
}

// Close removes the reader from its fetcher. A later Fetch adds it again.
func (r *Reader) Close() {
	if r.broker == nil {
		return
	}
	r.fetcher.mu.Lock()
	defer r.fetcher.mu.Unlock()
	r.broker.open--
	r.fetcher.open--
	r.broker = nil
}

// Fetch returns the next records. If none come within the wait, the batch is empty. After ctx has
// ended, the reader must not fetch again.
func (r *Reader) Fetch(ctx context.Context, wait time.Duration) (b Batch, err error) {
	until := time.Now().Add(wait)
	p, err := r.fetcher.await(ctx, r, until)
	if misrouted(err) {
		r.Close() // the leader of some reader has moved, perhaps of this one
		p, err = r.fetcher.await(ctx, r, until)
	}
	if err == nil {
		b, err = r.batch(p)
	}
	if err != nil {
		return Batch{}, fmt.Errorf("fetch from %s/%d: %w", r.fetcher.topic, r.partition, err)
	}
	if len(b.Records) > 0 {
		r.last = len(b.Records)
	}
	r.offset, r.more = b.Next, b.Next < b.LastStable
	return b, nil
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
