package ingestor

import (
	"context"
	"sync"

	"bagtrail/internal/bag"
)

// Counter counts messages.
type Counter interface {
	// Count counts n messages and returns the number of the first. No number is given twice, and later ones are higher.
	Count(ctx context.Context, n int) (first int64, err error)
}

// Numbering stands for a log where there is none: it gives messages positions, and keeps nothing.
type Numbering struct {
	counter   Counter
	mu        sync.Mutex
	next, end int64 // numbers that were counted and not given yet
}

// NewNumbering returns a Numbering that shares a counter with those of other processes.
func NewNumbering(counter Counter) *Numbering { return &Numbering{counter: counter} }

// countedAhead is how many messages are counted at once: the counter is asked for some in advance, since it may be far away.
const countedAhead = 1000

// Append implements Log, but for what a log is for.
func (n *Numbering) Append(ctx context.Context, records []Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if count := int64(len(records)); n.end-n.next < count {
		first, err := n.counter.Count(ctx, max(len(records), countedAhead))
		if err != nil {
			return err
		}
		n.next, n.end = first, first+max(count, countedAhead)
	}
	for i := range records {
		records[i].Position = bag.Position{Known: true, Offset: n.next}
		n.next++
	}
	return nil
}
