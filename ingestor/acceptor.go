package ingestor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/gather"
	"bagtrail/parser"
)

// Record is an accepted message on its way into the log.
type Record struct {
	Raw      string
	Report   bool      // Raw is the document of a delayed-bag report
	Received time.Time // UTC, in milliseconds
	Plate    bag.Plate // the first plate that it names, or ""
	// Replayed tells that the message was received before, and has no position: so to bring it again changes nothing.
	Replayed bool
	Position bag.Position // where it stands in the log, which Append tells
}

// Log is the log of record, from which the index can be rebuilt.
type Log interface {
	// Append returns when the log holds all records on all its replicas, and has told those that are not Replayed their
	// positions. After an error it may hold any of them. Records with one plate have positions in their order.
	Append(ctx context.Context, records []Record) error
}

// Rejection is a rejected message with all that came with it. Its origin is its identity: the same rejection
// written twice counts once.
type Rejection struct {
	Envelope
	Errors []Diagnostic
}

// Rejects takes rejected messages.
type Rejects interface {
	// Reject returns when all are safe. After an error any of them may be.
	Reject(ctx context.Context, rejections []Rejection) error
}

// Limits of what an Acceptor does at once, where the caller sets none.
const (
	defaultPatience = 900 * time.Millisecond
	acceptsARun     = 500
	acceptRuns      = 4
)

// Acceptor decides on messages that somebody waits for, one at a time each. What arrives while it is busy goes
// through the log and the index together.
type Acceptor struct {
	pipeline *Pipeline
	log      Log
	clock    *Clock
	patience time.Duration
	accepts  gather.Calls[*acceptance]
	rejects  gather.Calls[Rejection]
	refuses  bool // rejected messages are written
}

type acceptance struct {
	outcome Outcome
	record  Record
}

// NewAcceptor returns an Acceptor for the pipeline. Without a log (nil) the index is the only copy, and no message has a
// position; without rejects (nil) rejected messages are not kept. The clock is the one that gives received times. patience
// bounds every call; zero means 900 ms.
func NewAcceptor(pipeline *Pipeline, log Log, rejects Rejects, clock *Clock, patience time.Duration) *Acceptor {
	if patience <= 0 {
		patience = defaultPatience
	}
	a := &Acceptor{pipeline: pipeline, log: log, clock: clock, patience: patience, refuses: rejects != nil}
	a.accepts = gather.Calls[*acceptance]{Run: a.settle, Most: acceptsARun, Runs: acceptRuns, Limit: patience}
	if rejects != nil {
		a.rejects = gather.Calls[Rejection]{Run: rejects.Reject, Most: acceptsARun, Runs: 1, Limit: patience}
	}
	return a
}

// Accept decides on one message. An accepted one is in the log, then in the index, before Accept returns, and the
// millisecond of its received time is over, so that whoever waits for one before sending the next is received in that
// order. A rejected one is among the rejects.
//
// authorise, where it is not nil, sees a message without errors before anything is written; the message is valid
// until it returns, and its error is returned as it is. Any other error means that it is not known whether the
// message took effect; to bring it again is safe.
func (a *Acceptor) Accept(ctx context.Context, env Envelope, authorise func(*parser.Message) error) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	env.Received = env.Received.UTC().Truncate(time.Millisecond)
	outcome, err := a.pipeline.judge(env, authorise)
	if err != nil {
		return Outcome{}, err
	}
	if outcome.Verdict == Rejected {
		return outcome, a.reject(ctx, env, outcome.Errors)
	}
	work := &acceptance{outcome: outcome, record: outcome.Record()}
	if err := a.accepts.Do(ctx, work); err != nil {
		return Outcome{}, fmt.Errorf("accept a message: %w", err)
	}
	a.clock.Pass(env.Received)
	return work.outcome, nil
}

func (a *Acceptor) reject(ctx context.Context, env Envelope, errs []Diagnostic) error {
	if !a.refuses {
		return nil
	}
	if env.Origin == "" {
		return errors.New("reject a message: it has no origin")
	}
	if err := a.rejects.Do(ctx, Rejection{env, errs}); err != nil {
		return fmt.Errorf("reject a message: %w", err)
	}
	return nil
}

// settle makes messages take effect: first in the log, so that whatever the index holds can be rebuilt.
func (a *Acceptor) settle(ctx context.Context, work []*acceptance) error {
	outcomes := make([]Outcome, len(work))
	for i, w := range work {
		outcomes[i] = w.outcome
	}
	if a.log != nil {
		records := make([]Record, len(work))
		for i, w := range work {
			records[i] = w.record
		}
		if err := a.log.Append(ctx, records); err != nil {
			return fmt.Errorf("append to the log: %w", err)
		}
		for i, r := range records {
			outcomes[i].Filing.Position = r.Position
		}
	}
	if err := a.pipeline.Settle(ctx, outcomes); err != nil {
		return err
	}
	for i, w := range work {
		w.outcome = outcomes[i]
	}
	return nil
}

// Record returns the record that brings an accepted message about again. It has no position yet.
func (o Outcome) Record() Record {
	r := Record{Raw: o.Filing.Raw, Report: o.Filing.Report, Received: o.Filing.Received}
	if len(o.Filing.Entries) > 0 {
		r.Plate = o.Filing.Entries[0].Plate
	}
	return r
}
