package changes

import (
	"context"
	"fmt"

	"bagtrail/internal/kafka"
)

// currentEpoch returns the epoch. It begins a new one at the first start, and if the topic of marks
// has another number of partitions.
func (s *Stage) currentEpoch(ctx context.Context) (Epoch, error) {
	e, err := s.conf.Index.Epoch(ctx)
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
		for _, span := range spans {
			if span.From < span.To {
				return Epoch{}, ErrNoEpoch
			}
		}
	}
	return s.newEpoch(ctx, e)
}

// newEpoch begins a new epoch, unless somebody else has begun one since the last.
func (s *Stage) newEpoch(ctx context.Context, last Epoch) (Epoch, error) {
	partitions, err := s.conf.Kafka.Partitions(ctx, s.conf.Marks)
	if err != nil {
		return Epoch{}, err
	}
	next := Epoch{Begun: max(s.conf.Now().Unix(), last.Begun+1), Partitions: len(partitions)}
	if next, err = s.conf.Index.Begin(ctx, last, next); err != nil {
		return Epoch{}, fmt.Errorf("begin an epoch: %w", err)
	}
	return next, nil
}

// Begun reports whether there is an epoch.
func (s *Stage) Begun(ctx context.Context) (bool, error) {
	e, err := s.conf.Index.Epoch(ctx)
	return e != Epoch{}, err
}

// Restore sets the epoch again after Redis has lost everything and the log was replayed: it is that
// of the newest published change. Without any change it does nothing, since the first owner begins
// an epoch.
func (s *Stage) Restore(ctx context.Context) error {
	var newest Epoch
	partitions, err := s.conf.Kafka.Partitions(ctx, s.conf.Changes)
	if err != nil {
		return err
	}
	for _, p := range partitions {
		begun, err := s.lastEpoch(ctx, p)
		if err != nil {
			return err
		}
		newest.Begun = max(newest.Begun, begun)
	}
	if newest.Begun == 0 {
		return nil
	}
	newest.Partitions = len(partitions)
	_, err = s.conf.Index.Begin(ctx, Epoch{}, newest)
	return err
}

// lastEpoch returns when the epoch of the last change in a partition began, 0 if there is none.
func (s *Stage) lastEpoch(ctx context.Context, partition int) (int64, error) {
	first, end, err := s.conf.Kafka.Reader(s.conf.Changes, partition, 0).Bounds(ctx)
	if err != nil || first == end {
		return 0, err
	}
	batch, err := s.conf.Kafka.Reader(s.conf.Changes, partition, end-1).Fetch(ctx, readAgainWait)
	if err != nil {
		return 0, err
	}
	for i := range batch.Records {
		if r, err := ParseRecord(batch.Records[i].Value); err == nil {
			return r.Epoch, nil
		}
	}
	return 0, fmt.Errorf("%s/%d: the last record, at offset %d, is no change", s.conf.Changes, partition, end-1)
}

// rebuild writes the index of a partition again from the changes of the epoch that are published.
// It returns the sequence up to which everything is told, which is before offset if there are none.
func (o *owner) rebuild(ctx context.Context, offset int64) (told int64, err error) {
	first, end, err := o.conf.Kafka.Reader(o.conf.Changes, o.partition, 0).Bounds(ctx)
	if err != nil {
		return 0, err
	}
	told, floor := int64(-1), int64(-1)
	var entries []Entry
	write := func(t Telling) error {
		t.After, t.Entries = -1, entries
		entries = entries[:0]
		_, err := o.conf.Index.Tell(ctx, o.epoch, o.partition, t)
		return err
	}
	take := func(ctx context.Context, _ int, records []kafka.Record, _ int64) error {
		for i := range records {
			r, err := ParseRecord(records[i].Value)
			if err != nil || r.Epoch != o.epoch.Begun {
				continue
			}
			if floor < 0 || r.Sequence < floor {
				floor = r.Sequence
			}
			told = max(told, r.Sequence)
			entries = append(entries, Entry{r.Plate, r.Sequence, r.Airlines, r.Airports})
		}
		return write(Telling{Told: -1, Floor: -1})
	}
	err = o.conf.Kafka.ReadSpans(ctx, o.conf.Changes, []kafka.Span{{Partition: o.partition, From: first, To: end}}, take)
	if err != nil {
		return 0, err
	}
	if told < 0 {
		told, floor = offset-1, offset
	}
	return told, write(Telling{Told: told, Floor: floor})
}
