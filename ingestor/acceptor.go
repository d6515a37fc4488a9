package ingestor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/batcher"
)

// Config is the configuration of an Acceptor.
type Config struct {
	Door    string // name of the door, for rejections of envelopes that name none
	Judge   *Judge
	Log     Log // nil: the index is the only copy, and no message gets a position
	Index   Index
	Rejects Rejects // nil: rejected messages are not kept
	Marks   Marks   // nil: changes are off, or another door that reads the log writes the marks

	// Observe is called with each batch that took effect, and must not keep it. It may be nil.
	Observe func(*Batch)

	// The fields below are for Accept and ApplyAll.

	Clock    *Clock        // gives the received times; nil: the clock of the machine
	Patience time.Duration // bounds Accept, and each batch of ApplyAll; 0: 900 ms
}

const (
	defaultPatience = 900 * time.Millisecond
	acceptRuns      = 4 // how many batches of accepted messages Accept applies at the same time
)

// Acceptor writes messages to the log, the index and the rejects. No other code files messages in
// the index. It may be used by several goroutines at once.
type Acceptor struct {
	conf Config
	// Accepted and rejected messages are applied separately, so that accepted messages do not fail if
	// rejects cannot be written.
	accepted, rejected batcher.Batcher[*decision]
}

// decision is a judged message of Accept.
type decision struct {
	envelope Envelope
	outcome  Outcome
}

// NewAcceptor returns an Acceptor.
func NewAcceptor(conf Config) *Acceptor {
	conf.Patience = cmp.Or(conf.Patience, defaultPatience)
	conf.Clock = cmp.Or(conf.Clock, NewClock(time.Now))
	a := &Acceptor{conf: conf}
	work := func(d *decision) int { return d.outcome.work() }
	a.accepted = batcher.Batcher[*decision]{Run: a.applyDecisions, Weight: work, MaxWeight: workABatch, MaxRuns: acceptRuns, Timeout: conf.Patience}
	a.rejected = batcher.Batcher[*decision]{Run: a.applyDecisions, Weight: work, MaxWeight: workABatch, MaxRuns: 1, Timeout: conf.Patience}
	return a
}

// Now returns the received time of a message that has just come in.
func (a *Acceptor) Now() time.Time { return a.conf.Clock.Now() }

// Judge decides on a message, and writes nothing.
func (a *Acceptor) Judge(env Envelope) Outcome { return a.conf.Judge.Judge(env) }

// Accept judges and applies one message for a caller that waits. Messages that arrive at the same
// time are applied together. If the message is accepted, Accept returns after the millisecond of
// its received time. So if a caller waits for each message before it sends the next, the received
// times have the same order.
//
// An error means that it is not known whether the message took effect. It is safe to send it again.
func (a *Acceptor) Accept(ctx context.Context, env Envelope) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, a.conf.Patience)
	defer cancel()
	d := &decision{env, a.Judge(env)}
	verdict, calls := d.outcome.Verdict, &a.accepted
	switch verdict {
	case Unauthorised:
		return d.outcome, nil
	case Rejected:
		calls = &a.rejected
	}
	if err := calls.Do(ctx, d); err != nil {
		return Outcome{}, fmt.Errorf("accept a message: %w", err)
	}
	if verdict == Accepted {
		a.conf.Clock.Pass(env.Received)
	}
	return d.outcome, nil
}

// ApplyAll applies many messages of one caller, in their order, as Accept does for one. outcomes
// are those of Judge; ApplyAll changes them to those of Apply.
func (a *Acceptor) ApplyAll(ctx context.Context, envelopes []Envelope, outcomes []Outcome) error {
	for from, to := 0, 0; from < len(envelopes); from = to {
		for work := 0; to < len(envelopes) && work < workABatch; to++ {
			work += outcomes[to].work()
		}
		limited, cancel := context.WithTimeout(ctx, a.conf.Patience)
		err := a.Apply(limited, &Batch{Envelopes: envelopes[from:to], Outcomes: outcomes[from:to]})
		if cancel(); err != nil {
			return fmt.Errorf("accept %d messages: %w", len(envelopes), err)
		}
	}
	if len(envelopes) > 0 {
		a.conf.Clock.Pass(envelopes[len(envelopes)-1].Received)
	}
	return nil
}

// applyDecisions applies decisions of Accept together.
func (a *Acceptor) applyDecisions(ctx context.Context, decisions []*decision) error {
	b := &Batch{Envelopes: make([]Envelope, len(decisions)), Outcomes: make([]Outcome, len(decisions))}
	for i, d := range decisions {
		b.Envelopes[i], b.Outcomes[i] = d.envelope, d.outcome
	}
	if err := a.Apply(ctx, b); err != nil {
		return err
	}
	for i, d := range decisions {
		d.outcome = b.Outcomes[i]
	}
	return nil
}

// Batch holds judged messages that are applied together.
type Batch struct {
	Envelopes []Envelope
	Outcomes  []Outcome // in the order of the envelopes
	done      int       // how many steps of Apply are done

	// Refiled reports whether an earlier attempt to file the batch has failed. If so, that attempt
	// may have filed a message that is now a Duplicate.
	Refiled bool
}

// workABatch bounds a batch: once the work of its messages, in bags, reaches this number, the batch
// takes no further message. So a batch takes bounded memory and time, and other batches do not wait
// long.
const workABatch = maxBags

// work returns the work of applying a message, in bags. Each bag, each container, each ten flights
// of a bag, each fifty faults and each code of a rejected message count as one bag. The result is at
// least 1.
func (o *Outcome) work() int {
	work := len(o.Filing.Entries) + len(o.Filing.Stowage) + (len(o.Errors)+len(o.Warnings))/50 + len(Codes(o.Errors))
	for i := range o.Filing.Entries {
		work += len(o.Filing.Entries[i].Flights) / 10
	}
	return max(1, work)
}

// JudgeBatch judges the first of the envelopes, at least one and as many as fit into one batch. The
// batch keeps the envelopes.
func (a *Acceptor) JudgeBatch(envelopes []Envelope) *Batch {
	outcomes := make([]Outcome, 0, len(envelopes))
	for work := 0; len(outcomes) < len(envelopes) && work < workABatch; {
		o := a.Judge(envelopes[len(outcomes)])
		outcomes = append(outcomes, o)
		work += o.work()
	}
	return &Batch{Envelopes: envelopes[:len(outcomes)], Outcomes: outcomes}
}

// AcceptBatch judges and applies the first envelopes: at least one, and as many as fit into one
// batch. It returns an outcome for each of these. After an error, any of them may have taken
// effect; it is safe to send them again.
func (a *Acceptor) AcceptBatch(ctx context.Context, envelopes []Envelope) ([]Outcome, error) {
	b := a.JudgeBatch(envelopes)
	if err := a.Apply(ctx, b); err != nil {
		return nil, err
	}
	return b.Outcomes, nil
}

// StepError is an error of one step of Apply.
type StepError struct {
	Step string // "log", "index", "rejects" or "marks"
	Err  error
}

func (e *StepError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// steps are the steps of Apply, in order.
var steps = [...]struct {
	name string
	do   func(*Acceptor, context.Context, *Batch) error
}{
	{"log", (*Acceptor).log}, // first, so that the whole index can be rebuilt from the log
	{"index", (*Acceptor).file},
	{"rejects", (*Acceptor).reject},
	{"marks", (*Acceptor).mark}, // last, so that the owner of a mark finds the message in the index
}

// Apply makes the outcomes of a batch take effect. It appends accepted messages to the log, unless
// they are Logged, then files them in the index. It writes rejected messages to the rejects. Last,
// it marks the bags that the messages may have changed. When it returns all of this is durable, and
// the verdict of an accepted message that the index held before is Duplicate.
//
// Every error is a *StepError. After an error Apply may be called again, and goes on with the step
// that failed.
func (a *Acceptor) Apply(ctx context.Context, b *Batch) error {
	for ; b.done < len(steps); b.done++ {
		step := steps[b.done]
		if err := step.do(a, ctx, b); err != nil {
			return &StepError{step.name, err}
		}
	}
	if a.conf.Observe != nil {
		a.conf.Observe(b)
	}
	return nil
}

func (a *Acceptor) log(ctx context.Context, b *Batch) error {
	var (
		records  []Record
		recorded []*bag.Filing
	)
	for i := range b.Outcomes {
		o, env := &b.Outcomes[i], &b.Envelopes[i]
		if o.Verdict == Accepted && !env.Logged && a.conf.Log != nil {
			records = append(records, recordOf(&o.Filing, env))
			recorded = append(recorded, &o.Filing)
		}
	}
	if len(records) == 0 {
		return nil
	}
	if err := a.conf.Log.Append(ctx, records); err != nil {
		return fmt.Errorf("append to the log: %w", err)
	}
	for i, r := range records {
		recorded[i].Position = r.Position
	}
	return nil
}

func recordOf(f *bag.Filing, env *Envelope) Record {
	r := Record{Raw: f.Raw, Report: f.Report, Received: f.Received, NoPosition: env.NoPosition, Position: f.Position}
	if env.Reject != "" {
		r.Reject, r.Sender = env.Reject, env.Sender
	}
	if len(f.Entries) > 0 {
		r.Plate = f.Entries[0].Plate
	}
	return r
}

func (a *Acceptor) file(ctx context.Context, b *Batch) error {
	filings := make([]bag.Filing, 0, len(b.Outcomes))
	filed := make([]int, 0, len(b.Outcomes)) // their indexes in the batch
	for i := range b.Outcomes {
		if o := &b.Outcomes[i]; o.Verdict == Accepted {
			filings, filed = append(filings, o.Filing), append(filed, i)
		}
	}
	if len(filings) == 0 {
		return nil
	}
	fresh, err := a.conf.Index.File(ctx, filings)
	if err != nil {
		b.Refiled = true
		return fmt.Errorf("file %d messages: %w", len(filings), err)
	}
	for n, i := range filed {
		if !fresh[n] && !a.isNew(&b.Envelopes[i]) {
			b.Outcomes[i].Verdict = Duplicate
		}
	}
	return nil
}

// isNew reports whether a message is new even if the index has it already. A message that was just
// appended to the log with a position is a new record: if the index has it, the Kafka door has read
// that record and filed it first. The same holds for a reject, since it is resubmitted only once. Any
// other message without a position, such as one from a file, may have been appended before.
func (a *Acceptor) isNew(env *Envelope) bool {
	return a.conf.Log != nil && !env.Logged && (!env.NoPosition || env.Reject != "")
}

func (a *Acceptor) reject(ctx context.Context, b *Batch) error {
	var rejections []Rejection
	for i := range b.Outcomes {
		if o, env := &b.Outcomes[i], b.Envelopes[i]; o.Verdict == Rejected && a.conf.Rejects != nil {
			if env.Origin == "" {
				return errors.New("reject a message: it has no origin")
			}
			env.Received = milliseconds(env.Received)
			env.Door = cmp.Or(env.Door, a.conf.Door)
			// A record that was compressed may be larger than a record of the rejects. The part that is
			// kept is still too long to be accepted.
			env.Raw, env.Key = env.Raw[:min(len(env.Raw), MaxDocument+1)], env.Key[:min(len(env.Key), MaxMessage)]
			rejections = append(rejections, Rejection{env, o.Errors, o.Airport})
		}
	}
	if len(rejections) == 0 {
		return nil
	}
	if err := a.conf.Rejects.Reject(ctx, rejections); err != nil {
		return fmt.Errorf("reject %d messages: %w", len(rejections), err)
	}
	return nil
}

func (a *Acceptor) mark(ctx context.Context, b *Batch) error {
	if a.conf.Marks == nil {
		return nil
	}
	return a.conf.Marks.Mark(ctx, b)
}
