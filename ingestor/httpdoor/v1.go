package httpdoor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/ingestor"
	"bagtrail/ingestor/capture"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/operation"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Limits of a request with many messages.
const (
	maxMessages = 1000
	maxBags     = 5000 // that all its messages name together
	maxBodyV1   = 4 << 20
	limitV1     = 10 * time.Second
)

// Bags reads what became of messages; *trail.Reader does.
type Bags interface {
	// Folded returns the bags of plates.
	Folded(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error)
}

// Messages takes in many messages at once (POST /v1/messages).
type Messages struct {
	Acceptor *ingestor.Acceptor
	Bags     func(bag.Sight) Bags // for who sees that; nil is everything
	Places   apikey.Places
}

// Operations returns POST /v1/messages and POST /v1/messages/validate.
func (d Messages) Operations() []web.Operation {
	return []web.Operation{
		{Operation: operation.ByID("postMessages"), MaxBody: maxBodyV1, Limit: limitV1, Serve: d.post},
		{Operation: operation.ByID("validateMessages"), MaxBody: maxBodyV1, Limit: limitV1, Serve: d.validate},
	}
}

// posted is a message of a request, and what becomes of it.
type posted struct {
	id     string // the caller's; "" if there is none
	hasID  bool
	events []told
	copied bool // it repeats a message that was received before
}

// told is an event of a message.
type told struct {
	plate bag.Plate
	code  string
}

// post answers POST /v1/messages. What it has accepted is durable before the answer.
func (d Messages) post(ctx context.Context, c *web.Call) web.Answer {
	messages, envelopes, outcomes, refusal := d.judge(c)
	if refusal != nil {
		return *refusal
	}
	done := context.WithoutCancel(ctx) // what was begun is brought to its end, whether or not the caller waits for it
	if err := d.Acceptor.ApplyAll(done, envelopes, outcomes); err != nil {
		return c.Unavailable(err)
	}
	if err := d.tellEvents(ctx, c, messages, outcomes); err != nil {
		return c.Unavailable(err)
	}
	return show(c, messages, outcomes)
}

// validate answers POST /v1/messages/validate. It changes nothing.
func (d Messages) validate(_ context.Context, c *web.Call) web.Answer {
	messages, _, outcomes, refusal := d.judge(c)
	if refusal != nil {
		return *refusal
	}
	return show(c, messages, outcomes)
}

// judge reads the messages of a request and judges them.
func (d Messages) judge(c *web.Call) ([]posted, []ingestor.Envelope, []ingestor.Outcome, *web.Answer) {
	refuse := func(a web.Answer) ([]posted, []ingestor.Envelope, []ingestor.Outcome, *web.Answer) {
		return nil, nil, nil, &a
	}
	var r reading
	if r.read(c); len(r.errors) > 0 {
		return refuse(c.Invalid(r.errors))
	}
	if !c.MayUse() {
		return refuse(c.NotAuthorised())
	}
	received, origin := d.Acceptor.Now(), "http/"+c.UniqueID()+"/"
	envelopes, outcomes := make([]ingestor.Envelope, len(r.texts)), make([]ingestor.Outcome, len(r.texts))
	bags := 0
	for i, text := range r.texts {
		envelopes[i] = ingestor.Envelope{
			Raw: text, Received: received, Origin: origin + strconv.Itoa(i), Sender: c.Key.Name,
			Authorise: func(m *parser.Message) bool { return c.Key.Message(m) },
		}
		outcomes[i] = d.Acceptor.Judge(envelopes[i])
		bags += len(outcomes[i].Filing.Entries)
	}
	if bags > maxBags {
		return refuse(c.Problem(fault.TooLargeV1, "The messages of a request may name "+strconv.Itoa(maxBags)+" bags together"))
	}
	if len(envelopes) > 1 {
		together := firstPlate(outcomes)
		for i := range envelopes {
			envelopes[i].Together = together
		}
	}
	return r.messages, envelopes, outcomes, nil
}

// firstPlate returns the key with which the messages of a request are written to the log: the first
// plate that any of them names. They are received at one time, so their positions alone order them,
// and different keys may lead to different partitions.
func firstPlate(outcomes []ingestor.Outcome) bag.Plate {
	for i := range outcomes {
		if entries := outcomes[i].Filing.Entries; len(entries) > 0 {
			return entries[0].Plate
		}
	}
	return "0000000000" // of containers alone
}

// platesAtOnce bounds how much is read at once to tell events.
const platesAtOnce = 200

// tellEvents finds the events that the messages have made, as far as the sender sees them. A
// message that makes none of a bag that its sender sees is a copy.
func (d Messages) tellEvents(ctx context.Context, c *web.Call, messages []posted, outcomes []ingestor.Outcome) error {
	sight := c.Key.SightIfLimited(d.Places)
	reader, viewer := d.Bags(sight), bag.NewViewer(ctx, sight)
	byPlate := map[bag.Plate][]int{} // the messages that name it
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
			if view == nil {
				continue
			}
			for _, i := range byPlate[b.Plate] {
				messages[i].tell(view, &outcomes[i].Filing)
			}
		}
	}
	for i := range messages {
		p := &messages[i]
		p.copied = p.copied && len(p.events) == 0
		if outcomes[i].Verdict == ingestor.Duplicate {
			p.events = nil // they are those of the message that was there
		}
	}
	return viewer.Err()
}

// tell adds the events of a message of a bag.
func (p *posted) tell(b *bag.Bag, f *bag.Filing) {
	p.copied = true // unless there is an event
	for i := range b.Events {
		m := b.Events[i].Message
		if m.Received.Equal(f.Received) && m.Position == f.Position && m.Raw == f.Raw {
			p.events = append(p.events, told{b.Plate, b.Events[i].Code})
		}
	}
}

// verdicts are the names of the verdicts.
const (
	accepted = iota
	duplicate
	rejected
	unauthorised
)

var verdictNames = [...]string{"accepted", "duplicate", "rejected", "unauthorised"}

func (p *posted) verdict(o *ingestor.Outcome) int {
	switch {
	case o.Verdict == ingestor.Rejected:
		return rejected
	case o.Verdict == ingestor.Refused:
		return unauthorised
	case o.Verdict == ingestor.Duplicate || p.copied:
		return duplicate
	}
	return accepted
}

// show answers with the verdicts.
func show(c *web.Call, messages []posted, outcomes []ingestor.Outcome) web.Answer {
	var counts [len(verdictNames)]int
	for i := range messages {
		counts[messages[i].verdict(&outcomes[i])]++
	}
	dst := append(c.Buffer, '{')
	for v, n := range counts {
		dst = strictjson.AppendNumber(dst, verdictNames[v], n)
	}
	dst = append(dst, `,"results":[`...)
	for i := range messages {
		dst = strictjson.AppendComma(dst)
		dst = messages[i].append(dst, &outcomes[i])
		var err error
		if dst, err = c.Part(dst); err != nil {
			return c.Unavailable(err)
		}
	}
	return c.OK(append(dst, `]}`...))
}

func (p *posted) append(dst []byte, o *ingestor.Outcome) []byte {
	dst = append(dst, '{')
	if p.hasID {
		dst = strictjson.AppendText(dst, "id", p.id)
	}
	dst = strictjson.AppendText(dst, "verdict", verdictNames[p.verdict(o)])
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

// reading reads the messages of a request.
type reading struct {
	messages []posted
	texts    []string
	count    int // of messages, faulty ones included
	errors   []web.RequestError
}

// fail adds a fault, unless there are more than are told.
func (r *reading) fail(e web.RequestError) {
	if len(r.errors) <= web.MostFaults {
		r.errors = append(r.errors, e)
	}
}

// more counts a message. It returns false if there are too many; the first of them is a fault.
func (r *reading) more(pointer string) bool {
	r.count++
	if r.count == maxMessages+1 {
		r.fail(web.RequestError{Pointer: pointer, Cause: fault.TooMany, Expected: "at most " + strconv.Itoa(maxMessages)})
	}
	return r.count <= maxMessages
}

// read reads the body in the form that its content type names.
func (r *reading) read(c *web.Call) {
	asText := false
	for i, p := range c.Query {
		switch {
		case p.Name != "format":
			r.fail(web.RequestError{Parameter: p.Name, Cause: fault.Unknown, Got: p.Value})
		case p.Value != "text":
			r.fail(web.RequestError{Parameter: p.Name, Cause: fault.Malformed, Got: p.Value, Expected: "text"})
		case asText:
			r.fail(web.RequestError{Parameter: p.Name, Cause: fault.Repeated, Got: c.Query[i].Value})
		default:
			asText = true
		}
	}
	media := c.MediaType()
	if isText := media == "text/plain"; isText != asText {
		r.fail(web.RequestError{Parameter: "format", Cause: fault.Conflict, Got: media, Expected: "format=text with text/plain, and only with it"})
		return
	}
	switch media {
	case "text/plain":
		r.readText(c.Body)
	case "application/x-ndjson":
		number := 0
		for line := range bytes.Lines(c.Body) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				r.readMessage(line, "/"+strconv.Itoa(number))
			}
			number++
		}
	default:
		r.readList(c.Body)
	}
	if len(r.texts) == 0 && len(r.errors) == 0 {
		r.fail(web.RequestError{Cause: fault.Missing, Expected: "at least one message"})
	}
}

// readText reads one message, or a capture of several.
func (r *reading) readText(body []byte) {
	for messages := capture.NewReader(bytes.NewReader(body)); ; {
		m, err := messages.Next()
		if errors.Is(err, io.EOF) || !r.more("") {
			return
		}
		r.add(posted{}, m.Text)
	}
}

// readList reads {"messages": […]}.
func (r *reading) readList(body []byte) {
	seen, before := map[string]bool{}, len(r.errors)
	err := strictjson.Object(body, func(m strictjson.Member) {
		name, _ := strictjson.Unquote(m.Name)
		fail := func(cause fault.Cause, expected string) {
			r.fail(web.RequestError{Pointer: web.Pointer(name), Cause: cause, Got: sent(m.Value), Expected: expected})
		}
		switch {
		case name != "messages":
			fail(fault.Unknown, "")
		case seen[name]:
			fail(fault.Repeated, "")
		case m.Value[0] != '[':
			fail(fault.Malformed, "a list")
		default:
			i := 0
			_ = strictjson.Elements(m.Value, func(value []byte) { // the body is being read as JSON
				r.readMessage(value, "/messages/"+strconv.Itoa(i))
				i++
			})
		}
		seen[name] = true
	})
	if err != nil {
		r.errors = append(r.errors[:before], web.RequestError{Cause: fault.Malformed, Expected: "a JSON object: " + err.Error()})
	}
}

// sent returns a JSON value as a fault shows it: a string without its quotes.
func sent(value []byte) string {
	if text, isText := strictjson.Unquote(value); isText {
		return text
	}
	return string(value)
}

// readMessage reads {"text": "…", "id": "…"}.
func (r *reading) readMessage(value []byte, pointer string) {
	if !r.more(pointer) {
		return
	}
	var message posted
	var text string
	seen := map[string]bool{}
	err := strictjson.Object(value, func(m strictjson.Member) {
		name, _ := strictjson.Unquote(m.Name)
		got, isText := strictjson.Unquote(m.Value)
		fail := func(cause fault.Cause, expected string) {
			r.fail(web.RequestError{Pointer: pointer + web.Pointer(name), Cause: cause, Got: sent(m.Value), Expected: expected})
		}
		switch {
		case name != "text" && name != "id":
			fail(fault.Unknown, "")
		case seen[name]:
			fail(fault.Repeated, "")
		case !isText:
			fail(fault.Malformed, "a string")
		case name == "id":
			message.id, message.hasID = got, true
		default:
			text = got
		}
		seen[name] = true
	})
	switch {
	case err != nil:
		r.fail(web.RequestError{Pointer: pointer, Cause: fault.Malformed, Got: sent(value), Expected: "a JSON object: " + err.Error()})
	case !seen["text"]:
		r.fail(web.RequestError{Pointer: pointer + "/text", Cause: fault.Missing})
	default:
		r.add(message, strings.Clone(text))
	}
}

// add adds a message.
func (r *reading) add(message posted, text string) {
	r.messages, r.texts = append(r.messages, message), append(r.texts, text)
}
