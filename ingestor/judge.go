package ingestor

import (
	"fmt"
	"strings"
	"sync"

	"bagtrail/enricher"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// Judge parses messages and decides whether they are accepted. It writes nothing. It may be used by
// several goroutines at once.
type Judge struct {
	reference parser.Reference
	enricher  *enricher.Enricher
	parsed    sync.Pool // of *parser.Message
}

// NewJudge returns a Judge that parses messages with reference, and turns accepted messages into
// filings with e.
func NewJudge(reference parser.Reference, e *enricher.Enricher) *Judge {
	return &Judge{reference: reference, enricher: e, parsed: sync.Pool{New: func() any { return new(parser.Message) }}}
}

// Judge decides on one message. It does not find duplicates: only the index knows them.
func (j *Judge) Judge(env Envelope) Outcome {
	env.Received = milliseconds(env.Received)
	text, faults := open(env)
	if faults != nil {
		return Outcome{Verdict: Rejected, Errors: faults}
	}
	if env.Report {
		return j.judgeReport(env)
	}
	m := j.parsed.Get().(*parser.Message)
	defer j.parsed.Put(m)
	m.Parse(text, j.reference)
	outcome := Outcome{
		Verdict: Accepted, Identifier: m.Identifier, Airport: m.Version.Airport,
		Errors: j.diagnostics(m, text, m.Errors, false), Warnings: j.diagnostics(m, text, m.Warnings, true),
	}
	if !m.Accepted() {
		outcome.Verdict = Rejected
		return outcome
	}
	filing, faults := j.filing(m, text, env.Received)
	if faults != nil {
		outcome.Verdict, outcome.Errors = Rejected, faults
		return outcome
	}
	if env.Authorise != nil && !env.Authorise(m) {
		outcome.Verdict = Unauthorised
		return outcome
	}
	outcome.Filing = filing
	outcome.Filing.Position = env.Position
	if at, isRead := j.enricher.Happened(m, env.Received); isRead {
		outcome.Happened = at
	}
	return outcome
}

// diagnostics copies the diagnostics of the parser, which reuses their memory, and adds advice.
func (j *Judge) diagnostics(m *parser.Message, text string, found []parser.Diagnostic, warnings bool) []Diagnostic {
	if len(found) == 0 {
		return nil
	}
	out := make([]Diagnostic, len(found))
	for i, d := range found {
		out[i] = diagnosticOf(d, warnings, m.Advise(d, text, j.reference))
	}
	return out
}

func (j *Judge) judgeReport(env Envelope) Outcome {
	filing, err := enricher.FilingOfReport(env.Raw, env.Received)
	if err != nil {
		return Outcome{Verdict: Rejected, Errors: faultOf(fault.DelayedRequest, "the document of a delayed-bag report")}
	}
	filing.Position = env.Position
	return Outcome{Verdict: Accepted, Filing: filing}
}

// Entry judges a stored message again and returns its index entry for a plate. If the message would
// be rejected now, or does not name the plate, the entry has only the plate.
func (j *Judge) Entry(plate bag.Plate, m bag.Stored) bag.Entry {
	for _, entry := range j.Judge(Envelope{Raw: m.Raw, Report: m.Report, Received: m.Received}).Filing.Entries {
		if entry.Plate == plate {
			return entry
		}
	}
	return bag.Entry{Plate: plate}
}

// open returns the message in an envelope. If the message cannot be parsed at all, it returns
// faults.
func open(env Envelope) (text string, faults []Diagnostic) {
	text = env.Raw
	if env.JSON && !env.Report {
		if len(env.Raw) > MaxDocument {
			return "", tooLong(MaxDocument)
		}
		message, ok := DecodeDocument(env.Raw)
		if !ok {
			return "", []Diagnostic{noDocument(env.Raw)}
		}
		text = message
	}
	if len(text) > MaxMessage {
		return "", tooLong(MaxMessage)
	}
	return text, nil
}

// DecodeDocument returns the message in a document {"bim_message": "…"}. It returns false if the
// document is not exactly one JSON object, or if bim_message is absent, repeated or not a string.
// Other members are ignored.
func DecodeDocument(document string) (message string, ok bool) {
	m, _ := strictjson.Only([]byte(document), "bim_message") // after an error it has no value
	return strictjson.Unquote(m.Value)
}

// noDocument returns the fault of a document that holds no message.
func noDocument(raw string) Diagnostic {
	d := parser.Diagnostic{
		Code: parser.MissingText, Line: 1, Column: 1, EndColumn: 1, Expected: `one JSON object with one string "bim_message"`,
	}
	var advice parser.Advice
	if start := strings.TrimLeft(raw, " \t\r\n"); start != "" && start[0] != '{' {
		advice.Hint = "The header content-type says JSON: leave it out if the value is the text of a message."
	}
	return diagnosticOf(d, false, advice)
}

func tooLong(most int) []Diagnostic {
	return faultOf(fault.TooLarge, fmt.Sprintf("at most %d bytes", most))
}
