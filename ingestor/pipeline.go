package ingestor

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/parser"
)

// Index keeps what was filed.
type Index interface {
	// File files all of them, or returns an error and may have filed some. It returns when they are durable. Filing
	// again changes nothing; fresh tells for each whether it was not there before.
	File(ctx context.Context, filings []bag.Filing) (fresh []bool, err error)
}

// Pipeline parses, judges and files. It may be used by several goroutines at once.
type Pipeline struct {
	reference parser.Reference
	filer     Filer
	index     Index
	parsed    sync.Pool // of *parser.Message: memory for one parse, used again and again
}

// New returns a Pipeline into the index.
func New(reference parser.Reference, filer Filer, index Index) *Pipeline {
	return &Pipeline{
		reference: reference, filer: filer, index: index,
		parsed: sync.Pool{New: func() any { return new(parser.Message) }},
	}
}

// Process decides on one envelope.
func (p *Pipeline) Process(ctx context.Context, env Envelope) (Outcome, error) {
	outcomes, err := p.ProcessSome(ctx, []Envelope{env})
	if err != nil {
		return Outcome{}, err
	}
	return outcomes[0], nil
}

// atOnce is how many messages are judged before others have a turn: some tens of microseconds.
const atOnce = 32

// bagsAtOnce is how many bags messages name, at least, that are decided on together; containers count like bags. It bounds
// the memory that they take, and how long others wait for them.
const bagsAtOnce = mostBags

// ProcessSome decides on as many of the envelopes, from the first on and at least one of them, as are enough for once, and
// files what is accepted in one call of the index. There is an outcome for each that was decided on, in their order. After an
// error none is decided, although some may be filed.
func (p *Pipeline) ProcessSome(ctx context.Context, envelopes []Envelope) ([]Outcome, error) {
	outcomes := make([]Outcome, 0, len(envelopes))
	bags := 0
	for i, env := range envelopes {
		if bags >= bagsAtOnce {
			break
		}
		if i%atOnce == atOnce-1 {
			runtime.Gosched() // a question takes less than a batch, and is not to wait for it
		}
		o := p.Judge(env)
		outcomes = append(outcomes, o)
		bags += len(o.Filing.Entries) + len(o.Filing.Stowage)
	}
	if err := p.Settle(ctx, outcomes); err != nil {
		return nil, err
	}
	return outcomes, nil
}

// Judge decides whether a message is to be accepted, and touches nothing.
func (p *Pipeline) Judge(env Envelope) Outcome {
	outcome, _ := p.judge(env, nil)
	return outcome
}

// Settle files what was judged to be accepted, in one call of the index, and marks what was filed before.
func (p *Pipeline) Settle(ctx context.Context, outcomes []Outcome) error {
	filings := make([]bag.Filing, 0, len(outcomes))
	for i := range outcomes {
		if outcomes[i].Verdict != Rejected {
			filings = append(filings, outcomes[i].Filing)
		}
	}
	if len(filings) == 0 {
		return nil
	}
	fresh, err := p.index.File(ctx, filings)
	if err != nil {
		return fmt.Errorf("file %d messages: %w", len(filings), err)
	}
	at := 0
	for i := range outcomes {
		if outcomes[i].Verdict == Rejected {
			continue
		}
		outcomes[i].Verdict = Accepted
		if !fresh[at] {
			outcomes[i].Verdict = Duplicate
		}
		at++
	}
	return nil
}

// judge asks authorise, where there is one, about a message without errors; its error is returned as it is.
func (p *Pipeline) judge(env Envelope, authorise func(*parser.Message) error) (Outcome, error) {
	env.Received = env.Received.UTC().Truncate(time.Millisecond)
	text, wrong := open(env)
	if wrong != nil {
		return Outcome{Verdict: Rejected, Errors: []Diagnostic{*wrong}}, nil
	}
	if env.Report {
		return p.judgeReport(env), nil
	}

	m := p.parsed.Get().(*parser.Message)
	defer p.parsed.Put(m)
	m.Parse(text, p.reference)
	outcome := Outcome{
		Verdict: Accepted, Identifier: m.Identifier,
		Errors: diagnostics(m.Errors), Warnings: diagnostics(m.Warnings),
	}
	if !m.Accepted() {
		outcome.Verdict = Rejected
		return outcome, nil
	}
	if wrong := tooFar(m, text); wrong != nil {
		outcome.Verdict, outcome.Errors = Rejected, []Diagnostic{*wrong}
		return outcome, nil
	}
	if authorise != nil {
		if err := authorise(m); err != nil {
			return Outcome{}, err
		}
	}
	outcome.Filing = p.filer.Filing(m, text, env.Received)
	outcome.Filing.Position = env.Position
	return outcome, nil
}

func (p *Pipeline) judgeReport(env Envelope) Outcome {
	filing, err := p.filer.ReportFiling(env.Raw, env.Received)
	if err != nil {
		return Outcome{Verdict: Rejected, Errors: []Diagnostic{of(fault.DelayedRequest, "the document of a delayed-bag report")}}
	}
	filing.Position = env.Position
	return Outcome{Verdict: Accepted, Filing: filing}
}

// open takes the message out of its envelope.
func open(env Envelope) (text string, wrong *Diagnostic) {
	text = env.Raw
	if env.JSON && !env.Report {
		if len(env.Raw) > MaxDocument {
			d := of(fault.TooLarge, fmt.Sprintf("at most %d bytes", MaxDocument))
			return "", &d
		}
		message, ok := DecodeDocument(env.Raw)
		if !ok {
			d := unreadable()
			return "", &d
		}
		text = message
	}
	if len(text) > MaxMessage {
		d := of(fault.TooLarge, fmt.Sprintf("at most %d bytes", MaxMessage))
		return "", &d
	}
	return text, nil
}
