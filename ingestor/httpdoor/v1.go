package httpdoor

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/preview"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Limits of a request with many messages.
const (
	maxMessages = 1000
	maxBags     = 5000    // of all its messages together; containers that they position count too
	maxFaults   = 50_000  // of all its messages together, warnings included
	maxBodyV1   = 4 << 20 // bytes
	limitV1     = 10 * time.Second
)

// Bags reads bags from the index. *trail.Reader implements it.
type Bags interface {
	// Folded returns the bags of plates.
	Folded(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error)
}

// Attempts stores the received time and the origin of the first attempt of each request.
// *requeststore.Store implements it.
type Attempts interface {
	// Begin records an attempt as the latest one of a request, and returns the first attempt on
	// record. Attempts are kept for ten minutes after the latest one, or until End. Each attempt must
	// be unique.
	Begin(ctx context.Context, id, attempt string) (first string, err error)
	// End removes the attempts of a request, unless a later attempt is on record. After that, the
	// same request counts as a new one. If ctx ends first, End returns and continues in the
	// background.
	End(ctx context.Context, id, attempt string)
}

// Messages accepts many messages at once (POST /v1/messages). A request that was answered with 503
// may have taken effect in part. If it is sent again within ten minutes, its messages get the
// received time, the positions and the origins of the first attempt, so that they are the same
// messages.
type Messages struct {
	Acceptor *ingestor.Acceptor
	Attempts Attempts
	Bags     func(bag.Sight) Bags // returns the reader for a sight; a nil sight sees everything
	Preview  preview.Maker        // for validateMessages
	Airports *airport.Library
}

// Operations returns POST /v1/messages and POST /v1/messages/validate.
func (d Messages) Operations() []web.Operation {
	return []web.Operation{
		{Operation: operation.ByID("postMessages"), MaxBody: maxBodyV1, Limit: limitV1, Serve: d.post},
		{Operation: operation.ByID("validateMessages"), MaxBody: maxBodyV1, Limit: limitV1, Serve: d.validate},
	}
}

// requestMessage is a message of a request, with its events.
type requestMessage struct {
	text   string
	id     string // given by the caller; "" if there is none
	hasID  bool
	events []plateEvent // those that its sender sees
	seen   bool         // its sender sees a bag that it names
	made   bool         // it has made an event, seen or not
}

// plateEvent is an event of a message.
type plateEvent struct {
	plate bag.Plate
	code  string
}

// post answers POST /v1/messages. The accepted messages are durable before the answer.
func (d Messages) post(ctx context.Context, c *web.Call) web.Answer {
	r, refusal := read(c)
	if refusal != nil {
		return *refusal
	}
	id, own := r.id(c.Key), d.attempt(c)
	first, err := d.begin(ctx, id, own)
	if err != nil {
		return c.Unavailable(err)
	}
	envelopes, outcomes, refusal := d.judge(c, r.messages, first)
	if refusal != nil {
		return *refusal
	}
	done := context.WithoutCancel(ctx) // the messages take effect even if the caller does not wait
	if err := d.Acceptor.ApplyAll(done, envelopes, outcomes); err != nil {
		return c.Unavailable(err)
	}
	if err := d.findEvents(ctx, c, r.messages, outcomes); err != nil {
		return c.Unavailable(err)
	}
	answer := show(c, r.messages, outcomes)
	if answer.Status == http.StatusOK {
		d.end(done, id, own)
	}
	return answer
}

// validate answers POST /v1/messages/validate. It changes nothing. The events of a message are
// those that it would make if it were the first message of its bags.
func (d Messages) validate(ctx context.Context, c *web.Call) web.Answer {
	r, refusal := read(c)
	if refusal != nil {
		return *refusal
	}
	_, outcomes, refusal := d.judge(c, r.messages, d.attempt(c))
	if refusal != nil {
		return *refusal
	}
	for i := range outcomes {
		events, err := d.Preview.Events(ctx, outcomes[i].Filing)
		if err != nil {
			return c.Unavailable(err)
		}
		for _, e := range events {
			r.messages[i].events = append(r.messages[i].events, plateEvent{e.Plate, e.Code})
		}
	}
	return show(c, r.messages, outcomes)
}

// read reads the messages of a request.
func read(c *web.Call) (*requestReader, *web.Answer) {
	r := new(requestReader)
	if r.read(c); len(r.errors) > 0 {
		answer := c.Invalid(r.errors)
		return nil, &answer
	}
	if !c.MayUse() {
		answer := c.NotAuthorised()
		return nil, &answer
	}
	return r, nil
}

// attempt is the received time and the origin that a request gives its messages.
type attempt struct {
	received time.Time // of all its messages
	origin   string    // of all its messages, without their numbers
}

func (d Messages) attempt(c *web.Call) attempt {
	return attempt{d.Acceptor.Now(), "http/" + c.UniqueID() + "/"}
}

func (a attempt) String() string { return a.received.Format(time.RFC3339Nano) + " " + a.origin }

// attemptsLimit is the time limit of a call of Attempts.
const attemptsLimit = 900 * time.Millisecond

// begin records the attempt own. It returns the attempt to use: the first one on record if the
// request is a repetition, else own.
func (d Messages) begin(ctx context.Context, id string, own attempt) (attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptsLimit)
	defer cancel()
	first, err := d.Attempts.Begin(ctx, id, own.String())
	if err != nil {
		return attempt{}, err
	}
	at, origin, _ := strings.Cut(first, " ")
	received, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return attempt{}, fmt.Errorf("read the first attempt of request %s: %w", id, err)
	}
	return attempt{received, origin}, nil
}

// end removes the attempts of a request that has taken effect.
func (d Messages) end(ctx context.Context, id string, own attempt) {
	ctx, cancel := context.WithTimeout(ctx, attemptsLimit)
	defer cancel()
	d.Attempts.End(ctx, id, own.String())
}

// judge judges the messages of a request. It refuses the request as soon as the messages have too
// many bags or faults together, since each of these takes memory.
func (d Messages) judge(c *web.Call, messages []requestMessage, by attempt) ([]ingestor.Envelope, []ingestor.Outcome, *web.Answer) {
	envelopes, outcomes := make([]ingestor.Envelope, len(messages)), make([]ingestor.Outcome, len(messages))
	tooMany := func(verb string, most int, what string) ([]ingestor.Envelope, []ingestor.Outcome, *web.Answer) {
		answer := c.Problem(fault.TooLargeV1, fmt.Sprintf("The messages of the request %s more than %d %s together", verb, most, what))
		return nil, nil, &answer
	}
	bags, faults := 0, 0
	for i := range messages {
		envelopes[i] = ingestor.Envelope{
			Raw: messages[i].text, Received: by.received, Position: bag.InRequest(i), Origin: by.origin + strconv.Itoa(i), Sender: c.Key.Name,
			Authorise: func(m *parser.Message) bool { return c.Key.Message(m) },
		}
		outcomes[i] = d.Acceptor.Judge(envelopes[i])
		bags += len(outcomes[i].Filing.Entries) + len(outcomes[i].Filing.Stowage)
		faults += len(outcomes[i].Errors) + len(outcomes[i].Warnings)
		switch {
		case bags > maxBags:
			return tooMany("name", maxBags, "bags or containers")
		case faults > maxFaults:
			return tooMany("have", maxFaults, "faults")
		}
	}
	return envelopes, outcomes, nil
}

// platesAtOnce is how many plates findEvents reads in one call.
const platesAtOnce = 200

// findEvents finds the events that the messages have made. An accepted message that has made none is
// a Duplicate: it repeats an earlier one. Its sender is told so only if it sees a bag that the message
// names.
func (d Messages) findEvents(ctx context.Context, c *web.Call, messages []requestMessage, outcomes []ingestor.Outcome) error {
	sight := c.Key.SightIfLimited(d.Airports)
	reader, viewer := d.Bags(sight), bag.NewViewer(ctx, sight)
	byPlate := map[bag.Plate][]int{} // the indexes of the messages that name the plate
	var plates []bag.Plate
	for i := range outcomes {
		for _, entry := range outcomes[i].Filing.Entries {
			if byPlate[entry.Plate] == nil {
				plates = append(plates, entry.Plate)
			}
			byPlate[entry.Plate] = append(byPlate[entry.Plate], i)
		}
	}
	for some := range slices.Chunk(plates, platesAtOnce) {
		bags, err := reader.Folded(ctx, some)
		if err != nil {
			return err
		}
		for _, b := range bags {
			view := viewer.View(b)
			for _, i := range byPlate[b.Plate] {
				messages[i].addEvents(b, view, &outcomes[i].Filing)
			}
		}
	}
	for i := range messages {
		p, o := &messages[i], &outcomes[i]
		// The order of the bags of a plate would tell how names compare that the caller does not see.
		slices.SortStableFunc(p.events, func(a, b plateEvent) int {
			return cmp.Or(cmp.Compare(a.plate, b.plate), cmp.Compare(a.code, b.code))
		})
		if o.Verdict == ingestor.Accepted && p.seen && !p.made {
			o.Verdict = ingestor.Duplicate
		}
	}
	return viewer.Err()
}

// addEvents adds those events of a bag that the message has made and its sender sees. view is what
// the sender sees of the bag, or nil.
func (p *requestMessage) addEvents(b, view *bag.Bag, f *bag.Filing) {
	p.seen = p.seen || view != nil
	for i := range b.Events {
		e := &b.Events[i]
		m := e.Message
		if !m.Received.Equal(f.Received) || m.Position != f.Position || m.Raw != f.Raw {
			continue
		}
		p.made = true
		if view != nil && slices.ContainsFunc(view.Events, func(shown bag.Event) bool { return shown.Message == m }) {
			p.events = append(p.events, plateEvent{b.Plate, e.Code})
		}
	}
}

// show answers with the verdicts.
func show(c *web.Call, messages []requestMessage, outcomes []ingestor.Outcome) web.Answer {
	var counts [ingestor.Unauthorised + 1]int
	for i := range messages {
		counts[outcomes[i].Verdict]++
	}
	dst := append(c.Buffer, '{')
	for v := ingestor.Accepted; v <= ingestor.Unauthorised; v++ {
		dst = strictjson.AppendNumber(dst, v.String(), counts[v])
	}
	dst = append(dst, `,"results":[`...)
	for i := range messages {
		dst = strictjson.AppendComma(dst)
		dst = c.Part(messages[i].append(dst, &outcomes[i]))
	}
	return c.OK(append(dst, `]}`...))
}

func (p *requestMessage) append(dst []byte, o *ingestor.Outcome) []byte {
	dst = append(dst, '{')
	if p.hasID {
		dst = strictjson.AppendText(dst, "id", p.id)
	}
	dst = strictjson.AppendText(dst, "verdict", o.Verdict.String())
	dst = strictjson.AppendName(dst, "diagnostics")
	dst = ingestor.AppendDiagnostics(dst, slices.Concat(o.Errors, o.Warnings))
	if len(p.events) > 0 {
		dst = append(dst, `,"events":[`...)
		for _, e := range p.events {
			dst = append(strictjson.AppendComma(dst), '{')
			dst = strictjson.AppendText(dst, "plate", string(e.plate))
			dst = append(strictjson.AppendText(dst, "code", e.code), '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
