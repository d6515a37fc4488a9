package simulate

import (
	"context"
	"fmt"
	"time"
)

// Sink takes the feed.
type Sink interface {
	// Send returns when all messages are safe, or an error; then any of them may be. They are in the order of the feed,
	// and must not be changed.
	Send(ctx context.Context, messages []Message) error
}

// Running says how the feed is sent.
type Running struct {
	Sink     Sink
	Truth    func(Bag) error // takes the truth about each bag when its last message was sent; may be nil
	Rate     float64         // messages a second; 0 is as fast as Sink takes them
	Progress func(Summary)   // called about ten times a second; may be nil
	Now      func() time.Time
}

// Summary is what was sent.
type Summary struct {
	Start      time.Time      `json:"start"`    // of the feed, with which it can be made again
	Bags       int            `json:"bags"`     // whose truth is told: all messages of theirs are sent
	Messages   int            `json:"messages"` // sent, with those to be rejected
	Bytes      int64          `json:"bytes"`
	Positioned int            `json:"positioned"` // of them container positionings, which name no bag
	Rejected   int            `json:"rejected"`   // of them to be rejected
	Codes      map[string]int `json:"codes"`      // for which code how many
	First      time.Time      `json:"first"`      // received time
	Last       time.Time      `json:"last"`
	Elapsed    time.Duration  `json:"-"`
	Share      float64        `json:"-"` // of all bags
}

const (
	batchMessages = 1000 // in one Send at most
	pause         = 10 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// Run sends the feed until it ends, or ctx does, or a Send fails. The Summary holds what was sent until then.
func Run(ctx context.Context, opt Options, with Running) (Summary, error) {
	r := runner{Running: with, bags: opt.Bags, begun: with.Now(), sum: Summary{Start: opt.Start, Codes: map[string]int{}}}
	feed, err := Generate(opt, func(b Bag) { r.finished = append(r.finished, b) })
	if err != nil {
		return r.sum, fmt.Errorf("simulate: %w", err)
	}
	for m := range feed {
		r.batch = append(r.batch, m)
		if len(r.batch) < r.room() {
			continue
		}
		if err := r.flush(ctx); err != nil {
			return r.sum, err
		}
	}
	err = r.flush(ctx)
	r.report(true)
	return r.sum, err
}

// runner sends the feed in batches, at its rate.
type runner struct {
	Running
	bags     int
	begun    time.Time
	reported time.Time
	batch    []Message
	finished []Bag // whose last message is in the batch, or was sent
	sum      Summary
}

// room is how many messages go into a batch: those of a pause, where there is a rate.
func (r *runner) room() int {
	if r.Rate <= 0 {
		return batchMessages
	}
	return min(batchMessages, 1+int(r.Rate*pause.Seconds()))
}

// flush waits until the batch is due, sends it, and tells the truth about the bags that it ends.
func (r *runner) flush(ctx context.Context) error {
	if err := r.await(ctx); err != nil {
		return err
	}
	if len(r.batch) > 0 {
		if err := r.Sink.Send(ctx, r.batch); err != nil {
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
			return fmt.Errorf("simulate: tell the truth: %w", err)
		}
	}
	r.finished = r.finished[:0]
	r.report(false)
	return nil
}

// await waits until the rate allows the messages of the batch.
func (r *runner) await(ctx context.Context) error {
	if r.Rate <= 0 {
		return ctx.Err()
	}
	due := r.begun.Add(time.Duration(float64(r.sum.Messages) / r.Rate * float64(time.Second)))
	timer := time.NewTimer(due.Sub(r.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}

func (r *runner) report(last bool) {
	now := r.Now()
	r.sum.Elapsed = now.Sub(r.begun)
	r.sum.Share = 1
	if r.bags > 0 {
		r.sum.Share = min(1, float64(r.sum.Bags)/float64(r.bags))
	}
	if r.Progress == nil || (!last && now.Sub(r.reported) < progressEvery) {
		return
	}
	r.reported = now
	r.Progress(r.sum)
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
