// Package filedoor takes in the messages of files.
//
// They count as received a millisecond apart, in their order. They get no position in the log, so
// they come after messages that were received in the same millisecond. With the same files and the
// same times, taking them in again changes nothing.
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
)

// Acceptor decides on messages; *ingestor.Acceptor does.
type Acceptor interface {
	// AcceptBatch decides on the first of the envelopes, at least one: on as many as it returns
	// outcomes.
	AcceptBatch(ctx context.Context, envelopes []ingestor.Envelope) ([]ingestor.Outcome, error)
}

// Door takes messages in.
type Door struct {
	Acceptor Acceptor
	Received time.Time // of the first message
	Messages iter.Seq2[messagefile.Message, error]
	// Decided is called for some messages after the other, in their order, with one outcome for
	// each.
	Decided func([]messagefile.Message, []ingestor.Outcome)
}

// A batch has so many messages, or so many bytes and one message more.
const (
	messagesABatch = 2000
	bytesABatch    = 1 << 20
)

// Run returns when all messages are decided on. What cannot be read is left out, and reported by
// the error. If a batch cannot be accepted Run stops; it is not known then which of its messages
// took effect.
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
			return err
		}
		clear(messages)
		clear(envelopes)
		messages, envelopes, bytes = messages[:0], envelopes[:0], 0
	}
	if err := d.accept(ctx, messages, envelopes); err != nil {
		return err
	}
	return errors.Join(faults...)
}

// accept decides on all of the messages.
func (d Door) accept(ctx context.Context, messages []messagefile.Message, envelopes []ingestor.Envelope) error {
	for len(envelopes) > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped early: %w", err)
		}
		outcomes, err := d.Acceptor.AcceptBatch(ctx, envelopes)
		if err != nil {
			return err
		}
		n := len(outcomes)
		d.Decided(messages[:n], outcomes)
		messages, envelopes = messages[n:], envelopes[n:]
	}
	return nil
}
