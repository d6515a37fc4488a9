package ingestor

import (
	"context"
	"time"

	"bagtrail/internal/bag"
)

// Record is an accepted message as the log keeps it.
type Record struct {
	Raw        string
	Report     bool         // Raw is the document of a delayed-bag report
	Received   time.Time    // UTC, in milliseconds
	Plate      bag.Plate    // its key: the first of its plates, in plate order, or ""
	Reject     string       // id of the reject that it resubmits, or ""
	Sender     string       // name of the API key that resubmitted the reject, or ""
	NoPosition bool         // it gets no position, so that appending it again changes nothing: see Envelope.NoPosition
	Position   bag.Position // its place in its request, if it has one; else its place in the log, set by Append
}

// Log is the log of record, from which the index can be rebuilt.
type Log interface {
	// Append returns when all in-sync replicas of the log hold all records. It sets the position of
	// each record that has none yet, unless NoPosition is set. The positions of records of one plate
	// have the order of the records. After an error the log may hold any of the records.
	Append(ctx context.Context, records []Record) error
}

// Index stores filings.
type Index interface {
	// File returns when all filings are durable. After an error it may have filed some. Filing
	// again changes nothing. fresh reports, for each filing, whether the index did not hold it
	// before.
	File(ctx context.Context, filings []bag.Filing) (fresh []bool, err error)
}

// Rejection is a rejected message. Its origin is its identity: the same rejection written twice
// counts once.
type Rejection struct {
	Envelope
	Errors  []Diagnostic
	Airport string // see Outcome
}

// Rejects keeps rejected messages.
type Rejects interface {
	// Reject returns when all rejections are durable. After an error any of them may be.
	Reject(ctx context.Context, rejections []Rejection) error
}

// Marks notes which bags messages may have changed, so that these changes are published.
type Marks interface {
	// Mark notes the bags of the accepted messages and of the duplicates of a batch, since the door
	// that filed a duplicate may not have marked its bags. Mark returns when the notes are durable.
	// After an error any of them may be durable; marking again is harmless.
	Mark(ctx context.Context, b *Batch) error
}
