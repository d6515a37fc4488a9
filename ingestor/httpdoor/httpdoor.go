// Package httpdoor is the door by which messages come in over HTTP: POST processbim (interface
// 4.5), and POST /v1/messages for many at once.
//
// It reads the message in the body, passes it to an Acceptor, and answers with the outcome. It
// decides only whether there is a message in the body, and whether the API key may post it. A
// message that was answered with success is in the log and in the index. A message that was
// answered with 503 may be in them.
package httpdoor

import (
	"context"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Door answers POST processbim.
type Door struct {
	Acceptor *ingestor.Acceptor
	Clock    func() time.Time // gives the received times
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
	}
	outcome, err := d.decide(ctx, c, message)
	switch {
	case err != nil:
		return c.Unavailable(err)
	case outcome.Verdict == ingestor.Unauthorised:
		return c.NotAuthorised()
	}
	return answer(c, outcome, at, details == "true")
}

// decide passes the message to the Acceptor. If the key may not post messages at all, the message
// is only judged: the answer shows its faults first (rules §4), but nothing is stored.
func (d Door) decide(ctx context.Context, c *web.Call, message string) (ingestor.Outcome, error) {
	env := ingestor.Envelope{
		Raw: message, Received: d.Clock(), Origin: "http/" + c.UniqueID(), Sender: c.Key.Name,
		Authorise: func(m *parser.Message) bool { return mayPost(c.Key, m) },
	}
	if !c.Key.MayUse(operation.ProcessBIM) {
		return d.Acceptor.Judge(env), nil
	}
	return d.Acceptor.Accept(ctx, env)
}
