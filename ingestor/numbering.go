package ingestor

import (
	"context"
	"sync"

	"bagtrail/internal/bag"
)

// Counter reserves positions for messages.
type Counter interface {
	// Count reserves n consecutive positions and returns the first. No position is reserved twice,
	// and later ones are higher.
	Count(ctx context.Context, n int) (first int64, err error)
}

// Numbering stands in for the log of a service without one: it gives messages positions, and keeps
// nothing.
type Numbering struct {
	counter   Counter
	mu        sync.Mutex
	next, end int64 // numbers that were counted and not given yet
}

// NewNumbering returns a Numbering. Several processes may share the counter.
func NewNumbering(counter Counter) *Numbering { return &Numbering{counter: counter} }

// countedAhead is how many messages are counted at once, since the counter may be far away.
const countedAhead = 1000

// Append sets the positions of the records that have none yet and shall have one.
func (n *Numbering) Append(ctx context.Context, records []Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range records {
		if records[i].NoPosition || records[i].Position.Known {
			continue
		}
		if n.next == n.end {
			first, err := n.counter.Count(ctx, countedAhead)
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
