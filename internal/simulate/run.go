package simulate

import (
	"context"
	"fmt"
	"time"

	"bagtrail/internal/pause"
)

// Sink sends messages of a feed to its destination. It returns nil once every message is stored.
// After an error some of them may be stored. The messages are in the order of the feed. A Sink must
// not change them.
type Sink func(ctx context.Context, messages []Message) error

// Delivery says where a feed is sent, and how fast.
type Delivery struct {
	Sink     Sink
	Truth    func(Bag) error  // called for each bag after its last message was sent; may be nil
	Rate     float64          // messages per second; 0 is as fast as Sink accepts them
	Clock    func() time.Time // each message waits until it shows the received time of the message; may be nil
	Progress func(Summary)    // called after each batch; may be nil
}

// Summary counts the messages that were sent.
type Summary struct {
	Start      time.Time      `json:"start"`    // Options.Start, with which the feed can be made again
	Bags       int            `json:"bags"`     // bags whose messages are all sent
	Messages   int            `json:"messages"` // all messages, with those that must be rejected
	Bytes      int64          `json:"bytes"`
	Positioned int            `json:"positioned"` // messages about containers, which name no bag
	Rejected   int            `json:"rejected"`   // messages that must be rejected
	Codes      map[string]int `json:"codes"`      // number of messages to be rejected, by code
	First      time.Time      `json:"first"`      // received time
	Last       time.Time      `json:"last"`       // received time
}

const (
	batchMessages = 1000                  // most messages of one call of Sink
	batchTime     = 10 * time.Millisecond // a batch holds the messages of this time, if there is a rate
)

// Run sends a feed with valid options until it ends, ctx ends, or Sink or Truth fails. The Summary
// counts what was sent until then.
func Run(ctx context.Context, opt Options, d Delivery) (Summary, error) {
	r := runner{Delivery: d, begun: time.Now(), sum: Summary{Start: opt.Start, Codes: map[string]int{}}}
	for m := range Generate(opt, func(b Bag) { r.finished = append(r.finished, b) }) {
		for d.Clock != nil && m.Received.After(d.Clock()) {
			if err := r.flush(ctx); err != nil {
				return r.sum, err
			}
			if err := pause.For(ctx, m.Received.Sub(d.Clock())); err != nil {
				return r.sum, err
			}
		}
		r.batch = append(r.batch, m)
		if len(r.batch) < r.batchSize() {
			continue
		}
		if err := r.flush(ctx); err != nil {
			return r.sum, err
		}
	}
	err := r.flush(ctx)
	return r.sum, err
}

// runner sends a feed in batches.
type runner struct {
	Delivery
	begun    time.Time
	batch    []Message
	finished []Bag // bags whose last message is in the batch
	sum      Summary
}

// batchSize is the number of messages in a batch.
func (r *runner) batchSize() int {
	if r.Rate <= 0 {
		return batchMessages
	}
	return min(batchMessages, 1+int(r.Rate*batchTime.Seconds()))
}

// flush waits until the batch is due, sends it, and reports the truth about the finished bags.
func (r *runner) flush(ctx context.Context) error {
	if err := r.await(ctx); err != nil {
		return err
	}
	if len(r.batch) > 0 {
		if err := r.Sink(ctx, r.batch); err != nil {
			return fmt.Errorf("simulate: send: %w", err)
		}
	}
	for i := range r.batch {
		r.sum.count(&r.batch[i])
	}
	r.batch = r.batch[:0]
	for _, b := range r.finished {
		r.sum.Bags++
		if r.Truth == nil {
			continue
		}
		if err := r.Truth(b); err != nil {
			return fmt.Errorf("simulate: report the truth: %w", err)
		}
	}
	r.finished = r.finished[:0]
	if r.Progress != nil {
		r.Progress(r.sum)
	}
	return nil
}

// await waits until the rate allows the batch.
func (r *runner) await(ctx context.Context) error {
	if r.Rate <= 0 {
		return ctx.Err()
	}
	due := r.begun.Add(time.Duration(float64(r.sum.Messages) / r.Rate * float64(time.Second)))
	return pause.For(ctx, time.Until(due))
}

func (s *Summary) count(m *Message) {
	s.Messages++
	s.Bytes += int64(len(m.Text))
	if m.Plate == "" {
		s.Positioned++
	}
	if m.Code != "" {
		s.Rejected++
		s.Codes[m.Code]++
	}
	if s.First.IsZero() || m.Received.Before(s.First) {
		s.First = m.Received
	}
	if m.Received.After(s.Last) {
		s.Last = m.Received
	}
}
