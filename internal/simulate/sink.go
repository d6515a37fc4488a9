package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

// ToLog returns a Sink that appends to the raw topic. The plate is the key of a record, the
// received time its timestamp. Malformed messages are appended too.
func ToLog(log ingestor.Log) Sink { return logSink{log} }

type logSink struct{ log ingestor.Log }

const (
	appendsAtOnce = 4   // concurrent appends
	appendLeast   = 100 // messages in an append, unless fewer are left
)

func (s logSink) Send(ctx context.Context, messages []Message) error {
	size := max(appendLeast, (len(messages)+appendsAtOnce-1)/appendsAtOnce)
	var wg sync.WaitGroup
	errs := make([]error, appendsAtOnce)
	for i, part := range slices.Collect(slices.Chunk(messages, size)) {
		wg.Go(func() { errs[i] = s.append(ctx, part) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s logSink) append(ctx context.Context, messages []Message) error {
	records := make([]ingestor.Record, len(messages))
	for i, m := range messages {
		records[i] = ingestor.Record{Raw: m.Text, Received: m.Received, Plate: bag.Plate(m.Plate)}
	}
	return s.log.Append(ctx, records)
}

// ToCapture returns a Sink that writes the texts of the messages one after the other, as a line
// printer does. Received times are not written.
func ToCapture(w io.Writer) Sink { return capture{w} }

type capture struct{ w io.Writer }

func (c capture) Send(ctx context.Context, messages []Message) error {
	for _, m := range messages {
		if _, err := io.WriteString(c.w, m.Text); err != nil {
			return fmt.Errorf("write capture: %w", err)
		}
	}
	return ctx.Err()
}
