// Package httpdoor is the door by which messages come in over HTTP: POST processbim (interface 4.5).
//
// It takes the message out of the body, lets the pipeline decide, and translates the outcome. It decides only what the
// pipeline cannot know: whether there is a message in the body, and whether the key covers it. A message that was
// answered with success is in the log and in the index; one that was answered with 503 may be.
package httpdoor

import (
	"context"
	"errors"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Acceptor decides on messages; *ingestor.Acceptor does.
type Acceptor interface {
	// Accept MUST return within a second, and when ctx ends. authorise sees a message without errors before anything is written, and its error
	// is returned as it is; any other error means that it is not known whether the message took effect.
	Accept(ctx context.Context, env ingestor.Envelope, authorise func(*parser.Message) error) (ingestor.Outcome, error)
}

// Judge decides whether a message is to be accepted, and touches nothing; Pipeline.Judge does.
type Judge func(env ingestor.Envelope) ingestor.Outcome

// Door takes messages in.
type Door struct {
	Acceptor Acceptor
	Judge    Judge
	Clock    func() time.Time
}

// Operation returns POST processbim.
func (d Door) Operation() web.Operation {
	return web.Operation{
		Operation: operation.ByID("processbim"), Serve: d.process,
		Refusals: web.Refusals{
			KeyMissing: fault.BIMKeyMissing, KeyUnknown: fault.BIMKeyUnknown,
			NotAuthorised: fault.BIMNotAuthorised, Unavailable: fault.Unavailable,
		},
	}
}

var errNotAuthorised = errors.New("the key does not cover the message")

func (d Door) process(ctx context.Context, c *web.Call) web.Answer {
	if c.TooLarge {
		return c.Refuse(fault.TooLarge)
	}
	details, once := c.Query.Value("details")
	message, at, err := c.Text("bim_message")
	switch {
	case !once:
		return c.Refuse(fault.BIMMissing)
	case err != nil:
		return missing(c, err, details == "true")
	case len(message) > ingestor.MaxMessage:
		return c.Refuse(fault.TooLarge)
	}
	outcome, err := d.decide(ctx, c, message)
	switch {
	case errors.Is(err, errNotAuthorised):
		return c.NotAuthorised()
	case err != nil:
		return c.Unavailable(err)
	}
	if len(outcome.Errors) > 0 && outcome.Errors[0].Code == fault.TooLarge.Entry().Code {
		return c.Refuse(fault.TooLarge)
	}
	return answer(c, outcome, at, details == "true")
}

// decide has the message judged and, where nothing speaks against it, accepted. What a key sends that may not process
// messages at all is judged, since faults of the message come first (rules §4), but leaves no trace.
func (d Door) decide(ctx context.Context, c *web.Call, message string) (ingestor.Outcome, error) {
	env := ingestor.Envelope{Raw: message, Received: d.Clock(), Origin: "http/" + c.UniqueID(), Sender: c.Key.Name}
	if !c.Key.MayUse(operation.ProcessBIM) {
		if outcome := d.Judge(env); outcome.Verdict == ingestor.Rejected {
			return outcome, nil
		}
		return ingestor.Outcome{}, errNotAuthorised
	}
	var authorise func(*parser.Message) error
	if c.Key.Limited() {
		authorise = func(m *parser.Message) error {
			if !c.Key.Message(m) {
				return errNotAuthorised
			}
			return nil
		}
	}
	return d.Acceptor.Accept(ctx, env, authorise)
}
