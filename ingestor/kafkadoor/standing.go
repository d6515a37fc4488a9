package kafkadoor

import (
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// standing is how a partition stands that this process reads.
type standing struct {
	offset int64     // of the first record that is not decided on
	since  time.Time // when this process first saw that record wait; zero where none waits
	held   bool      // by an open transaction: nobody may read it yet
}

// assign forgets the partitions that are no longer assigned. What is known of the others goes on, so that a partition that
// does not move is not taken for a moving one after each rebalance.
func (c *Consumer) assign(assigned []kafka.PartitionAssignment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := make(map[int]standing, len(assigned))
	for _, a := range assigned {
		kept[a.ID] = c.standings[a.ID]
	}
	c.standings = kept
}

// stand notes that the worker has decided on all before its offset, of a log that ends at end and can be read up to stable. oldest is
// the time of the record at the offset, about; zero where it is not known.
func (w *worker) stand(stable, end int64, oldest time.Time) {
	w.mu.Lock()
	s := w.standings[w.partition]
	switch {
	case end <= w.offset:
		s = standing{offset: w.offset}
	case s.since.IsZero() || s.offset != w.offset:
		s = standing{offset: w.offset, since: w.door.conf.Now()}
	}
	s.held = stable <= w.offset
	w.standings[w.partition] = s
	w.mu.Unlock()
	if !oldest.After(firstReceived) || oldest.After(s.since) { // it has no time, or one in the future, or none waits
		oldest = s.since
	}
	w.metrics.Lag(w.partition, max(0, end-w.offset), oldest)
}

// Moving returns nil while every partition that this process reads moves on or has nothing to read, and else names one that
// has stood still for [Timing].Stall or longer although records wait. Those of an open transaction do not count.
func (c *Consumer) Moving() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest, partition := time.Duration(0), -1
	for p, s := range c.standings {
		if s.since.IsZero() || s.held {
			continue
		}
		if d := c.door.conf.Now().Sub(s.since); d >= c.door.conf.Timing.Stall && d > longest {
			longest, partition = d, p
		}
	}
	if partition < 0 {
		return nil
	}
	return fmt.Errorf("partition %d of %s has not moved for %v: the record at offset %d waits",
		partition, c.door.conf.Topics.Raw, longest.Round(time.Second), c.standings[partition].offset)
}

var errOutside = errors.New("is no member of the consumer group")

// Member returns nil while the consumer is a member of its group. A rebalance does not count: between two generations nobody is
// a member for a moment.
func (c *Consumer) Member() error {
	if c.joined.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.door.conf.Timing
	if !c.left.IsZero() && c.door.conf.Now().Sub(c.left) < t.Session+t.Rebalance {
		return nil
	}
	return errOutside
}
