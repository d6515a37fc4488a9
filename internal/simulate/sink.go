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

const (
	appendsAtOnce = 4   // concurrent appends
	appendLeast   = 100 // messages in an append, unless fewer are left
)

// ToLog returns a Sink that appends to the raw topic. The plate is the key of a record, the
// received time its timestamp. Malformed messages are appended too.
func ToLog(log ingestor.Log) Sink {
	return func(ctx context.Context, messages []Message) error {
		size := max(appendLeast, (len(messages)+appendsAtOnce-1)/appendsAtOnce)
		var wg sync.WaitGroup
		errs := make([]error, appendsAtOnce)
		for i, part := range slices.Collect(slices.Chunk(messages, size)) {
			wg.Go(func() {
				records := make([]ingestor.Record, len(part))
				for j, m := range part {
					records[j] = ingestor.Record{Raw: m.Text, Received: m.Received, Plate: bag.Plate(m.Plate)}
				}
				errs[i] = log.Append(ctx, records)
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

// ToCapture returns a Sink that writes the texts of the messages one after the other, as a line
// printer does. Received times are not written.
func ToCapture(w io.Writer) Sink {
	return func(ctx context.Context, messages []Message) error {
		for _, m := range messages {
			if _, err := io.WriteString(w, m.Text); err != nil {
				return fmt.Errorf("write capture: %w", err)
			}
		}
		return ctx.Err()
	}
}
