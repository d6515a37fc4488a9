package kafkadoor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
)

// What a fetch asks for. While messages come soon after each other it waits a little for more, so that a steady trickle
// does not become a request and a commit a message; otherwise the first message counts.
const (
	fetchMost   = 256 << 10
	fetchEnough = 32 << 10
	fetchSoon   = 20 * time.Millisecond
)

// reader reads one partition in order, over one connection to its leader. After an error it must be closed.
type reader struct {
	conn      *kafka.Conn
	topic     string
	partition int
	timing    Timing
	came      time.Time // when there were messages last
	busy      bool      // and others soon before them
	last      int       // how many there were
	release   func() bool
}

// batch is one fetch, whole, in memory.
type batch struct {
	messages []kafka.Message
	next     int64 // offset behind them, also behind what is no message
	high     int64 // offset of the next record that will be written
}

// first returns the time of the first message, zero where there is none.
func (b batch) first() (t time.Time) {
	if len(b.messages) > 0 {
		t = b.messages[0].Time
	}
	return t
}

// last returns the time of the last message, zero where there is none.
func (b batch) last() (t time.Time) {
	if n := len(b.messages); n > 0 {
		t = b.messages[n-1].Time
	}
	return t
}

// dialReader connects to the leader of a partition. The reader is closed when ctx ends.
func (d *Door) dialReader(ctx context.Context, topic string, partition int) (*reader, error) {
	limited, cancel := context.WithTimeout(ctx, d.conf.Timing.Request)
	defer cancel()
	conn, err := d.dialLeader(limited, topic, partition)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: conn, topic: topic, partition: partition, timing: d.conf.Timing}
	r.release = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return r, nil
}

func (r *reader) close() {
	r.release()
	_ = r.conn.Close() // nothing was written
}

// bounds returns the first offset that is still there, and the one behind the last.
func (r *reader) bounds() (first, end int64, err error) {
	if err := r.conn.SetDeadline(time.Now().Add(r.timing.Request)); err != nil {
		return 0, 0, fmt.Errorf("bounds of %s/%d: %w", r.topic, r.partition, err)
	}
	if first, end, err = r.conn.ReadOffsets(); err != nil {
		return 0, 0, fmt.Errorf("bounds of %s/%d: %w", r.topic, r.partition, err)
	}
	return first, end, nil
}

// offsetAt returns the offset of the first record from the moment on, or end where there is none.
func (r *reader) offsetAt(t time.Time, end int64) (int64, error) {
	if err := r.conn.SetDeadline(time.Now().Add(r.timing.Request)); err != nil {
		return 0, fmt.Errorf("find a time in %s/%d: %w", r.topic, r.partition, err)
	}
	offset, err := r.conn.ReadOffset(t)
	if err != nil {
		return 0, fmt.Errorf("find a time in %s/%d: %w", r.topic, r.partition, err)
	}
	if offset < 0 {
		return end, nil
	}
	return offset, nil
}

// seek makes the next fetch begin at the offset.
func (r *reader) seek(offset int64) error {
	if _, err := r.conn.Seek(offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
		return fmt.Errorf("seek %d in %s/%d: %w", offset, r.topic, r.partition, err)
	}
	return nil
}

// fetch returns what comes next, after a wait also nothing. The connection's deadline keeps running while messages
// are read, and one that fires between them spoils the connection: so all are in memory before fetch returns.
func (r *reader) fetch(wait time.Duration) (batch, error) {
	want := kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: fetchMost, MaxWait: wait}
	if r.busy {
		want.MinBytes, want.MaxWait = fetchEnough, min(fetchSoon, wait)
	}
	if err := r.conn.SetDeadline(time.Now().Add(want.MaxWait + r.timing.Request)); err != nil {
		return batch{}, fmt.Errorf("fetch from %s/%d: %w", r.topic, r.partition, err)
	}
	fetched := r.conn.ReadBatchWith(want)
	var b batch
	var err error
	for {
		var m kafka.Message
		if m, err = fetched.ReadMessage(); err != nil {
			break
		}
		if !isControl(&m) {
			if b.messages == nil {
				b.messages = make([]kafka.Message, 0, r.last+r.last/4+1)
			}
			b.messages = append(b.messages, m)
		}
	}
	b.next, b.high = fetched.Offset(), fetched.HighWaterMark()
	if closed := fetched.Close(); closed != nil {
		err = closed
	}
	now := time.Now()
	r.busy = len(b.messages) > 0 && now.Sub(r.came) < 2*fetchSoon
	if len(b.messages) > 0 {
		r.came, r.last = now, len(b.messages)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, kafka.RequestTimedOut) {
		return b, nil
	}
	return batch{}, fmt.Errorf("fetch from %s/%d: %w", r.topic, r.partition, err)
}
