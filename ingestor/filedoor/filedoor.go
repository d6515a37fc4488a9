// Package filedoor is the door for messages in files.
//
// The received times of the messages are a millisecond apart, in the order of the messages. None is
// in the future: the door waits until it has come. The messages get no position in the log, so they
// come after other messages of the same millisecond. Running the door again with the same files and
// the same time changes nothing.
package filedoor

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/messagefile"
	"bagtrail/internal/pause"
)

// Door brings the messages of files to an Acceptor.
type Door struct {
	// AcceptBatch is that of an ingestor.Acceptor. It decides on the first of the envelopes, at least
	// one, and returns an outcome for each of these.
	AcceptBatch func(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error)

	Received time.Time                             // received time of the first message
	Messages iter.Seq2[messagefile.Message, error] // an error stands for a file that cannot be read
	// Decided is called with the messages of each batch, in their order, and one outcome for each.
	Decided func([]messagefile.Message, []ingestor.Outcome)
}

// A batch is complete when it reaches one of these limits.
const (
	messagesABatch = 2000
	bytesABatch    = 1 << 20
)

// Run brings the messages to the Acceptor, and returns when all are decided. It leaves out files
// that cannot be read, and reports them in the error. If a batch fails, Run stops, and it is not
// known which messages of that batch took effect.
func (d Door) Run(ctx context.Context) error {
	received := d.Received.UTC().Truncate(time.Millisecond)
	var (
		messages  []messagefile.Message
		envelopes []ingestor.Envelope
		bytes     int
		faults    []error
	)
	for m, err := range d.Messages {
		if err != nil {
			faults = append(faults, err)
			continue
		}
		messages = append(messages, m)
		envelopes = append(envelopes, ingestor.Envelope{
			Raw: m.Text, Received: received, NoPosition: true,
			Origin: fmt.Sprintf("file/%s/%08x/%d/%d", m.File, crc32.ChecksumIEEE([]byte(m.Text)), received.UnixMilli(), m.Number),
		})
		received = received.Add(time.Millisecond)
		if bytes += len(m.Text); len(messages) < messagesABatch && bytes < bytesABatch {
			continue
		}
		if err := d.accept(ctx, messages, envelopes); err != nil {
			return errors.Join(append(faults, err)...)
		}
		messages, envelopes, bytes = nil, nil, 0
	}
	return errors.Join(append(faults, d.accept(ctx, messages, envelopes))...)
}

// accept brings all of the messages to the Acceptor, once the received time of the last one has come.
func (d Door) accept(ctx context.Context, messages []messagefile.Message, envelopes []ingestor.Envelope) error {
	if n := len(envelopes); n > 0 {
		_ = pause.For(ctx, time.Until(envelopes[n-1].Received))
	}
	for len(envelopes) > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped early: %w", err)
		}
		outcomes, err := d.AcceptBatch(ctx, envelopes)
		switch {
		case err != nil && ctx.Err() != nil: // err may wrongly say that a server does not answer
			return fmt.Errorf("stopped early: %w", ctx.Err())
		case err != nil:
			return err
		}
		n := len(outcomes)
		d.Decided(messages[:n], outcomes)
		messages, envelopes = messages[n:], envelopes[n:]
	}
	return nil
}
