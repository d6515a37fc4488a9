package kafka

import (
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// progress is the progress of this process in a partition.
type progress struct {
	offset int64     // of the first record that is not handled
	since  time.Time // when this process first saw that record; zero if there is none
	held   bool      // the record belongs to an open transaction, so it cannot be read yet
}

// assign removes the progress of partitions that are no longer assigned. It keeps the others, so
// that a stuck partition does not look healthy after each rebalance.
func (c *Consumer) assign(assigned []kafkago.PartitionAssignment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := make(map[int]progress, len(assigned))
	for _, a := range assigned {
		kept[a.ID] = c.progress[a.ID]
	}
	c.progress = kept
}

// note notes that the worker has handled everything before its offset. The partition ends at end
// and can be read up to stable. oldest is the approximate time of the record at the offset, or zero
// if it is unknown.
func (w *worker) note(stable, end int64, oldest time.Time) {
	w.mu.Lock()
	p := w.progress[w.partition]
	switch {
	case end <= w.offset:
		p = progress{offset: w.offset}
	case p.since.IsZero() || p.offset != w.offset:
		p = progress{offset: w.offset, since: w.client.conf.Now()}
	}
	p.held = stable <= w.offset
	w.progress[w.partition] = p
	w.mu.Unlock()
	if oldest.Unix() <= 0 || oldest.After(p.since) { // unknown, or in the future, or no record waits
		oldest = p.since
	}
	w.conf.Metrics.Lag(w.partition, max(0, end-w.offset), oldest)
}

// Stalled returns an error that names a partition of this process without progress for
// [Timing].Stall or longer although records wait, or nil if there is none. Records of an open
// transaction do not count.
func (c *Consumer) Stalled() error {
	waited, partition, offset := c.waited()
	if waited < c.client.conf.Timing.Stall {
		return nil
	}
	return fmt.Errorf("partition %d of %s has not moved for %v: the record at offset %d waits",
		partition, c.conf.Topic, waited.Round(time.Second), offset)
}

// Waited returns the longest time for which a partition of this process has made no progress
// although records wait, by the clock of this process. It is 0 if no records wait. Records of an
// open transaction do not count.
func (c *Consumer) Waited() time.Duration {
	waited, _, _ := c.waited()
	return waited
}

func (c *Consumer) waited() (longest time.Duration, partition int, offset int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, p := range c.progress {
		if p.since.IsZero() || p.held {
			continue
		}
		if d := c.client.conf.Now().Sub(p.since); d > longest {
			longest, partition, offset = d, number, p.offset
		}
	}
	return longest, partition, offset
}

var errNoMember = errors.New("not a member of the consumer group")

// Member returns nil while the consumer is a member of its group. During a rebalance no consumer is
// a member for a moment; Member then returns nil for up to the time limits of session and
// rebalance.
func (c *Consumer) Member() error {
	if c.joined.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.client.conf.Timing
	if !c.left.IsZero() && c.client.conf.Now().Sub(c.left) < t.Session+t.Rebalance {
		return nil
	}
	return errNoMember
}
