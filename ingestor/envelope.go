// Package ingestor decides on messages and writes them: a Judge decides, and an Acceptor writes
// accepted messages to the log and the index, and rejected ones to the rejects. No other code
// writes messages to the index.
//
// Doors put messages into envelopes and translate the outcomes; they decide nothing. A faulty
// message is an outcome, Rejected. An error means that no decision was reached, and the same
// envelope may be sent again. Envelopes with the same text, received time and position have the
// same outcome, and nothing is filed twice. The package knows neither Kafka nor HTTP, nor how the
// index is stored.
package ingestor

import (
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// Lengths in bytes of the longest message, and of the longest JSON document that holds one.
const (
	MaxMessage  = 64 << 10
	MaxDocument = 1 << 20
)

// Envelope is a message as a door has received it.
type Envelope struct {
	Raw        string       // the message as sent, any bytes; if JSON is set, the document that holds it
	JSON       bool         // Raw is {"bim_message": "…"}; ignored for a report
	Report     bool         // Raw is the document of a delayed-bag report
	Received   time.Time    // the received time; Judge and Acceptor truncate it to milliseconds
	Logged     bool         // it was read from the log, so it is not appended again
	Again      bool         // it may have been read from the log before; the index may have lost it since
	NoPosition bool         // it gets no position in the log, so that appending it again changes nothing: a message from a file, or a reject
	Relayed    bool         // it was read from the log, to which a door of this service had appended it
	Position   bag.Position // bag.InRequest for a message of POST /v1/messages, else its position in the log if it is Logged and has one
	Door       string       // name of the door that received it; "": that of the Acceptor
	Key        string       // key of its Kafka record, or ""
	Sender     string       // name of the API key with which it was posted, or ""
	Reject     string       // id of the reject that it resubmits, or ""

	// Origin is the source of the message, and unique: topic/partition/offset, http/<id>,
	// http/<id>/<number>, file/<name>/<checksum>/<time>/<number>, reject/<id>/<time> or
	// demo/<start>/<number>.
	Origin string

	// Authorise reports whether the sender may send the message. It is called only for messages
	// without errors, and must not keep the message. If it is nil, every message may be sent.
	Authorise func(*parser.Message) bool
}

// Verdict is the decision on a message.
type Verdict uint8

// The verdicts.
const (
	Accepted     Verdict = iota + 1 // it is in the index
	Duplicate                       // it was in the index before: this very message, with this received time and position; or, for POST /v1/messages, a copy of another (rules §3)
	Rejected                        // it has errors, and has changed nothing
	Unauthorised                    // it has no errors, but its sender may not send it; it has changed nothing, and is not kept
)

// String returns the name of the verdict.
func (v Verdict) String() string {
	return [...]string{"undecided", "accepted", "duplicate", "rejected", "unauthorised"}[v]
}

// Outcome is the decision on one envelope. It shares no memory that is reused.
type Outcome struct {
	Verdict    Verdict
	Identifier string       // "BSM", "BUM", …; "" if none was found, and for reports
	Airport    string       // of .V; "" if it is missing or faulty, and for reports
	Happened   time.Time    // when an accepted BPM with a read time happened (rules §2); else zero
	Filing     bag.Filing   // for the index; zero unless the message is accepted
	Errors     []Diagnostic // not empty if the message is rejected
	Warnings   []Diagnostic
}

// milliseconds returns a received time in its stored form.
func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
