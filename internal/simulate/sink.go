package simulate

import (
	"context"
	"fmt"
	"io"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
)

// ToLog returns a Sink that appends to the raw topic. The plate is the key of a record, the
// received time its timestamp. Malformed messages are appended too.
func ToLog(log ingestor.Log) Sink {
	return func(ctx context.Context, messages []Message) error {
		records := make([]ingestor.Record, len(messages))
		for i, m := range messages {
			records[i] = ingestor.Record{Raw: m.Text, Received: m.Received, Plate: bag.Plate(m.Plate)}
		}
		return log.Append(ctx, records)
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
