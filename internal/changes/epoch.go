package changes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"bagtrail/internal/kafka"
)

// currentEpoch returns the epoch. It begins a new one at the first start, and if the topic of marks
// has another number of partitions. If Redis has gone back to an earlier epoch, and an owner of
// this stage has used a later one or found it published, currentEpoch puts the later one back. It
// fails with ErrNoEpoch if there is no epoch although changes were published.
func (s *Stage) currentEpoch(ctx context.Context) (Epoch, error) {
	e, err := s.conf.Index.Epoch(ctx)
	if used := s.used.Load(); err == nil && e != (Epoch{}) && used != nil && e.Begun < used.Begun {
		e, err = s.conf.Index.Begin(ctx, e, *used) // Redis has lost the beginning of the epoch
	}
	if err != nil {
		return Epoch{}, err
	}
	partitions, err := s.conf.Kafka.Partitions(ctx, s.conf.Marks)
	switch {
	case err != nil:
		return Epoch{}, err
	case e.Partitions == len(partitions):
		return e, nil
	case e == Epoch{}:
		spans, err := s.conf.Kafka.Spans(ctx, s.conf.Changes, kafka.Start{})
		if err != nil {
			return Epoch{}, err
		}
		if hasRecords(spans) { // another owner may have begun the epoch meanwhile
			if e, err = s.conf.Index.Epoch(ctx); err == nil && e == (Epoch{}) {
				err = ErrNoEpoch
			}
			return e, err
		}
	}
	return s.newEpoch(ctx, e, len(partitions))
}

func hasRecords(spans []kafka.Span) bool {
	return slices.ContainsFunc(spans, func(s kafka.Span) bool { return s.From < s.To })
}

// use records that an owner uses an epoch, or has found published changes of it.
func (s *Stage) use(e Epoch) {
	for used := s.used.Load(); used == nil || used.Begun < e.Begun; used = s.used.Load() {
		if s.used.CompareAndSwap(used, &e) {
			return
		}
	}
}

// newEpoch begins a new epoch after last, unless another owner has begun one already. It returns
// the current epoch.
func (s *Stage) newEpoch(ctx context.Context, last Epoch, partitions int) (Epoch, error) {
	next, err := s.conf.Index.Begin(ctx, last, Epoch{max(s.conf.Now().Unix(), last.Begun+1), partitions})
	if err != nil {
		return Epoch{}, fmt.Errorf("begin an epoch: %w", err)
	}
	return next, nil
}

// Begun reports whether there is an epoch.
func (s *Stage) Begun(ctx context.Context) (bool, error) {
	e, err := s.conf.Index.Epoch(ctx)
	return e != Epoch{}, err
}

// Restore sets the epoch again after Redis has lost everything and the log was replayed. It takes
// the epoch of the newest published change. If no change was published, it does nothing: the first
// owner begins an epoch.
func (s *Stage) Restore(ctx context.Context) error {
	spans, err := s.conf.Kafka.Spans(ctx, s.conf.Changes, kafka.Start{})
	if err != nil {
		return err
	}
	if !hasRecords(spans) {
		return nil
	}
	newest := Epoch{Partitions: len(spans)}
	if err := s.lastChanges(ctx, spans, func(r *Record) { newest.Begun = max(newest.Begun, r.Epoch) }); err != nil {
		return err
	}
	if newest.Begun == 0 {
		return fmt.Errorf("%s: the last records are not changes", s.conf.Changes)
	}
	_, err = s.conf.Index.Begin(ctx, Epoch{}, newest)
	return err
}

// lastRecords is how many records at the end of a partition lastChanges reads. An owner publishes
// at most platesAtOnce changes at a time. An owner that stood still may have published some once
// more, after those of its successor; and another program may have written the last record.
const lastRecords = 2 * platesAtOnce

// lastChanges calls take with the last changes that were published in spans, one at a time.
func (s *Stage) lastChanges(ctx context.Context, spans []kafka.Span, take func(*Record)) error {
	for i := range spans {
		spans[i].From = max(spans[i].From, spans[i].To-lastRecords)
	}
	var mu sync.Mutex
	return s.conf.Kafka.ReadSpans(ctx, s.conf.Changes, spans, func(_ context.Context, _ int, records []kafka.Record, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range records {
			if r, err := ParseRecord(records[i].Value); err == nil {
				take(r)
			}
		}
		return nil
	})
}

// lastPublished reads the changes that were published last in the partition. It returns the highest
// sequence among those of the epoch, or -1 if there are none, and the time of the newest one of any
// epoch. It fails with ErrIndexLost if one is of a later epoch.
func (o *owner) lastPublished(ctx context.Context) (sequence int64, newest time.Time, err error) {
	sequence = -1
	span, err := o.conf.Kafka.Span(ctx, o.conf.Changes, o.partition, kafka.Start{})
	if err != nil {
		return -1, time.Time{}, err
	}
	err = o.lastChanges(ctx, []kafka.Span{span}, func(r *Record) {
		switch {
		case r.Epoch == o.epoch.Begun:
			sequence = max(sequence, r.Sequence)
		case r.Epoch > o.epoch.Begun:
			o.use(Epoch{r.Epoch, o.epoch.Partitions})
		}
		if r.Time.After(newest) {
			newest = r.Time
		}
	})
	if used := o.used.Load(); err == nil && used != nil && used.Begun > o.epoch.Begun {
		err = ErrIndexLost // the next attempt puts the later epoch back
	}
	return sequence, newest, err
}

// rebuild writes the entries of a partition to the index again, from the published changes of the
// epoch. It does not write the progress, but sets Told and Floor of p if there are changes. built is
// the offset in the topic of changes up to which the index is built.
func (o *owner) rebuild(ctx context.Context, p *Progress) (built int64, err error) {
	span, err := o.conf.Kafka.Span(ctx, o.conf.Changes, o.partition, kafka.Start{})
	if err != nil {
		return 0, err
	}
	var entries []Entry
	take := func(ctx context.Context, _ int, records []kafka.Record, next int64) error {
		entries = entries[:0]
		for i := range records {
			r, err := ParseRecord(records[i].Value)
			if err != nil || r.Epoch != o.epoch.Begun {
				continue
			}
			if p.Floor < 0 || r.Sequence < p.Floor {
				p.Floor = r.Sequence
			}
			p.Told = max(p.Told, r.Sequence)
			for i, code := range r.Airlines { // the change may be older than a pair of codes
				r.Airlines[i] = o.conf.Airlines.Code(code)
			}
			entries = append(entries, r.Entry)
		}
		if len(entries) == 0 {
			return nil
		}
		_, err := o.conf.Index.Tell(ctx, o.epoch, o.partition, IndexWrite{
			After: AfterAny, AfterBuilt: built, Built: next, Told: -1, Floor: -1, Entries: entries,
		})
		built = next
		return err // ErrIndexLost if Redis has lost the entries that were just written
	}
	err = o.conf.Kafka.ReadSpans(ctx, o.conf.Changes, []kafka.Span{span}, take)
	return built, err
}
