// Package ingestor is the one way by which messages reach the index: parse, judge, file.
//
// Doors bring messages in envelopes and translate what comes back; they decide nothing. A faulty message is an
// outcome, Rejected; an error means that no decision was reached, and the same envelope may be brought again.
// For envelopes with the same text, received time and position the outcome is always the same, and nothing is filed twice.
// The package knows neither Kafka, nor HTTP, nor how the index is kept.
package ingestor

import (
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Longest message and longest JSON document that holds one, in bytes.
const (
	MaxMessage  = 64 << 10
	MaxDocument = 1 << 20
)

// Envelope is a message as a door took it in.
type Envelope struct {
	Raw      string       // the message as sent, any bytes; where JSON is set, the document that holds it
	JSON     bool         // Raw is {"bim_message": "…"}; of no meaning for a report
	Report   bool         // Raw is the document of a delayed-bag report
	Received time.Time    // what is below a millisecond is cut off
	Position bag.Position // where it stands in the log; unknown for what is not in it, or is to have no position
	Origin   string       // where it came from, different for every envelope: topic/partition/offset, or http/<id>
	Key      string       // key of the record that brought it, or ""
	Sender   string       // name of the API key with which it was posted, or ""
}

// Verdict is what became of a message.
type Verdict uint8

// The verdicts.
const (
	Accepted  Verdict = iota + 1 // it is in the index
	Duplicate                    // it was in the index before: this very message, with this received time and position
	Rejected                     // it has errors, and has changed nothing
)

// Outcome is the decision on one envelope. It shares no memory that is used again.
type Outcome struct {
	Verdict    Verdict
	Identifier string       // "BSM", "BUM", …; "" where none was found, and for reports
	Filing     bag.Filing   // what the index was told; zero where rejected
	Errors     []Diagnostic // not empty where rejected
	Warnings   []Diagnostic
}

// Filer turns accepted messages into what the index is told. Its results depend on its arguments alone.
type Filer interface {
	// Filing is called for messages without errors. It keeps nothing of m.
	Filing(m *parser.Message, raw string, received time.Time) bag.Filing
	// ReportFiling fails where the document is no delayed-bag report.
	ReportFiling(document string, received time.Time) (bag.Filing, error)
}
