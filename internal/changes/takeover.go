package changes

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/kafka"
	"bagtrail/internal/smallmap"
)

const (
	markAgainWait  = 500 * time.Millisecond // how long a fetch of markAgain waits for records
	maxMarkedAgain = 100_000                // how many marks markAgain reads at most
)

// prepare makes the owner ready for the next mark from the consumer. If Redis has lost changes that
// were told, prepare marks their plates again.
func (o *owner) prepare(ctx context.Context) error {
	if o.ready {
		return nil
	}
	lostEnd, err := o.begin(ctx)
	if err != nil {
		return err
	}
	if err := o.markAgain(ctx, lostEnd); err != nil {
		return err
	}
	o.ready = true
	return nil
}

// begin takes over the partition from the previous owner. It sets next to the offset after the last
// mark that is told according to the index, but at most to consumed. The marks from next up to, but
// not including, lostEnd were told too, but the index has lost them.
func (o *owner) begin(ctx context.Context) (lostEnd int64, err error) {
	if o.epoch, err = o.currentEpoch(ctx); err != nil {
		return 0, err
	}
	p, err := o.predecessor(ctx)
	if err != nil {
		return 0, err
	}
	// The bounds are read last, since the previous owner may still tell changes.
	marks, err := o.conf.Kafka.Span(ctx, o.conf.Marks, o.partition, kafka.Start{})
	if err != nil {
		return 0, err
	}
	first, end := marks.From, marks.To
	if why := o.whyNewEpoch(p, end); why != "" {
		o.log.Error(why+": a new epoch begins, and every cursor is reset",
			zap.Int64("told", p.Told), zap.Int64("published", p.published), zap.Int64("consumed", o.consumed), zap.Int64("end", end))
		if o.epoch, err = o.newEpoch(ctx, o.epoch, o.epoch.Partitions); err != nil {
			return 0, err
		}
		p = predecessor{Progress: Progress{Told: -1, Departed: p.Departed}, published: -1}
	}
	o.truncated = false
	o.use(o.epoch)
	if o.consumed > end { // the consumer will find later that the topic has lost its end, and will begin again
		o.consumed = first
	}
	if o.departures == nil { // otherwise the owner continues with its own
		now := o.conf.Now()
		o.departures = newDepartures(p.Departed, time.Unix(o.epoch.Begun, 0), now.Add(-o.conf.Retention), now)
	}
	if err := o.continueAfter(ctx, &p, first); err != nil {
		return 0, err
	}
	o.rememberFrom, o.raised = 0, time.Time{}
	o.forgetDigests(end)
	if lostEnd = o.toldEnd(p); lostEnd <= p.Told+1 {
		lostEnd = o.next
	}
	return lostEnd, nil
}

// continueAfter sets next to the offset after the last mark that the previous owner has told, and
// writes that to the index. If the index has lost the progress, continueAfter sets p.Told anew.
// first is the first offset that the topic of marks still has: marks that it has deleted count as
// told.
func (o *owner) continueAfter(ctx context.Context, p *predecessor, first int64) (err error) {
	floor := int64(-1)
	if !p.known {
		if p.Told, floor, err = o.toldWithoutIndex(ctx, p.Progress); err != nil {
			return err
		}
	}
	o.next = max(first, min(o.consumed, p.Told+1))
	told := max(p.Told, o.next-1)
	if p.known && told == p.Told {
		return nil
	}
	// Departed is written with the progress: if this owner is killed now, the next one begins with
	// both.
	_, err = o.conf.Index.Tell(ctx, o.epoch, o.partition, IndexWrite{
		After: AfterAny, AfterBuilt: p.built, Floor: floor, Told: told, Departed: o.departures.until,
	})
	return err
}

// predecessor says what previous owners have told in the epoch.
type predecessor struct {
	Progress        // from the index, or from the changes from which the index was built again
	known     bool  // the index has the progress
	built     int64 // the offset in the topic of changes up to which the index was built again
	published int64 // the highest sequence at the end of the topic of changes; -1 if there is none
}

// predecessor returns what previous owners have told. If the index has lost the progress,
// predecessor builds the index again.
func (o *owner) predecessor(ctx context.Context) (p predecessor, err error) {
	if p.Progress, err = o.conf.Index.Progress(ctx, o.epoch, o.partition); err != nil {
		return p, err
	}
	p.known = !p.None()
	var newest time.Time
	if p.published, newest, err = o.lastPublished(ctx); err != nil || p.known {
		return p, err
	}
	p.Departed = newest
	if p.published >= 0 {
		p.built, err = o.rebuild(ctx, &p.Progress)
	}
	return p, err
}

// toldEnd returns the offset up to which marks were told, according to the committed offset and to
// the topic of changes.
func (o *owner) toldEnd(p predecessor) int64 { return max(o.consumed, p.published+1) }

// whyNewEpoch returns why the epoch cannot go on, or "" if it can. end is the end of the topic of
// marks.
func (o *owner) whyNewEpoch(p predecessor, end int64) string {
	told := max(p.Told, p.published)
	switch {
	case told >= end || o.truncated && told >= o.consumed:
		return "the topic of marks is shorter than what was told"
	case p.known && min(o.toldEnd(p), end)-(p.Told+1) > maxMarkedAgain:
		return "the index of changes has lost more than can be told again soon"
	}
	return ""
}

// toldWithoutIndex returns the sequence up to which the partition is told, and the floor of its
// index, after rebuild has built a lost index again. p is the progress that rebuild has found.
func (o *owner) toldWithoutIndex(ctx context.Context, p Progress) (told, floor int64, err error) {
	told, floor = p.Told, p.Floor
	now := o.conf.Now()
	age := now.Sub(time.Unix(o.epoch.Begun, 0)) // of the epoch
	if told < 0 {
		told, floor = o.consumed-1, o.consumed
		if age < clockSkew {
			return told, floor, nil // consumed marks were told in the previous epoch, if at all
		}
	}
	// The topic of changes is kept for longer than the index. So the index that was built from it
	// is complete for all marks within the retention and the epoch. Marks without a change there,
	// such as marks of containers, had none to tell. Marks of the first minute may be from before
	// the epoch, by another clock: those were told in the previous epoch, if at all.
	kept, err := o.conf.Kafka.Span(ctx, o.conf.Marks, o.partition, kafka.Start{Time: now.Add(-min(o.conf.Retention, age-clockSkew))})
	return told, min(floor, kept.From), err
}

// markAgain writes the marks from next up to lostEnd again, and moves next there. Redis has lost
// their changes after they were told. They are told again with new sequences, since a reader may
// have passed the old sequences without seeing the changes: it may have read the topic of changes
// before the loss, and the index after it. The marks need not be certain: the owner has forgotten
// its digests.
func (o *owner) markAgain(ctx context.Context, lostEnd int64) error {
	if o.next < lostEnd {
		// Nothing is marked while Redis refuses writes, or each attempt would mark it once more.
		if _, err := o.write(ctx, nil, o.next-1, -1, o.conf.Now()); err != nil {
			return err
		}
	}
	r := o.conf.Kafka.Reader(o.conf.Marks, o.partition, o.next)
	for o.next < lostEnd {
		batch, err := r.Fetch(ctx, markAgainWait)
		if err != nil {
			return err
		}
		if batch.Next == o.next {
			return fmt.Errorf("%s/%d: nothing comes at offset %d, before %d", o.conf.Marks, o.partition, o.next, lostEnd)
		}
		var marks []Mark
		for i := range batch.Records {
			r := &batch.Records[i]
			m, err := parseMark(string(r.Key), string(r.Value))
			if err == nil && r.Offset < lostEnd { // method read logs records that are not marks
				marks = append(marks, m)
			}
		}
		if err := o.marker().Write(ctx, smallmap.Distinct(marks)); err != nil {
			return err
		}
		if _, err := o.write(ctx, nil, min(batch.Next, lostEnd)-1, -1, o.conf.Now()); err != nil {
			return err
		}
		o.next = min(batch.Next, lostEnd)
	}
	return nil
}
