package ingestor

import (
	"context"
	"sync"

	"bagtrail/internal/bag"
)

// Numbering replaces the log in a service without Kafka: it gives positions to messages, and stores
// nothing.
type Numbering struct {
	reserve   func(ctx context.Context, n int) (first int64, err error)
	mu        sync.Mutex
	next, end int64 // the reserved positions that are not yet given are those from next to end-1
}

// NewNumbering returns a Numbering. reserve reserves n consecutive positions and returns the first.
// Each position must be higher than all that any process has reserved before.
func NewNumbering(reserve func(ctx context.Context, n int) (first int64, err error)) *Numbering {
	return &Numbering{reserve: reserve}
}

// countedAhead is how many positions are reserved at once, since each call of reserve takes a round
// trip.
const countedAhead = 1000

// Append sets the position of each record that has none yet, unless NoPosition is set.
func (n *Numbering) Append(ctx context.Context, records []Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range records {
		if records[i].NoPosition || records[i].Position.Known {
			continue
		}
		if n.next == n.end {
			first, err := n.reserve(ctx, countedAhead)
			if err != nil {
				return err
			}
			n.next, n.end = first, first+countedAhead
		}
		records[i].Position = bag.Position{Known: true, Offset: n.next}
		n.next++
	}
	return nil
}
