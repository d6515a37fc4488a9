package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/changestore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/telemetry"
	"bagtrail/internal/trail"
)

// changePartitions is the number of partitions of the topics of marks and of changes. A new number
// begins a new epoch, so it is not a setting.
const changePartitions = 12

// mostPartitions is the largest number of partitions with which every cursor has at most 400
// characters, see changes.Cursor.
const mostPartitions = 47

// changeTopics returns the topics of marks and of changes, or none if changes are off.
func (s *service) changeTopics() []kafka.Topic {
	c := s.conf.Kafka
	if c.ChangesTopic == "" {
		return nil
	}
	retention := s.conf.Rules.ChangesRetention + changestore.Reserve
	return []kafka.Topic{
		{Name: c.MarksTopic, Partitions: changePartitions, Retention: retention, Log: true, Fixed: true, Most: mostPartitions},
		{Name: c.ChangesTopic, Partitions: changePartitions, Retention: retention, Log: true, Fixed: true, Most: mostPartitions},
	}
}

func (s *service) marker() changes.Marker {
	return changes.Marker{Kafka: s.client, Topic: s.conf.Kafka.MarksTopic}
}

func (s *service) changeIndex() *changestore.Store {
	return changestore.New(s.redis, s.conf.Rules.ChangesRetention, s.clock)
}

// openChanges opens the stage that detects and publishes changes.
func (s *service) openChanges(context.Context) error {
	c := s.conf.Kafka
	if s.client == nil || c.ChangesTopic == "" {
		return nil
	}
	w := bagdoc.Writer{Airports: s.library, References: s.flights, Fields: bagdoc.Brief, MaxEvents: changefeed.MaxEvents}
	s.changed = telemetry.NewConsumer(s.registry, "changes", []string{"tell"}, s.clock)
	s.changes = changes.New(changes.Config{
		Kafka: s.client, Group: c.Group + "-changes", Marks: c.MarksTopic, Changes: c.ChangesTopic,
		Index: s.changeIndex(), Retention: s.conf.Rules.ChangesRetention, Bags: s.trails.Uncached().Over(s.store.PatientReader()),
		Departures: s.flights, Reloads: &s.reloads, Airlines: s.airlines,
		Append: func(dst []byte, t trail.Traced) []byte {
			dst, _ = w.Append(dst, t) // always true: the writer has no Viewer, so it sees everything
			return dst
		},
		Behind:  s.doorIsBehind,
		Metrics: s.changed, Logger: s.log, Now: s.clock,
	})
	if s.opens(kafkaDoor) {
		s.ready.Add("changes", false, // messages can be filed without it
			func(context.Context) error { return cmp.Or(s.changes.Member(), s.changes.Stalled()) })
	}
	return nil
}

// The Kafka door is behind if more than maxWaiting records wait, which take about 0.1 s to file, or
// if a partition has made no progress for more than maxWaited, since some messages take long to
// file.
const (
	maxWaiting = 1000
	maxWaited  = 100 * time.Millisecond
)

// doorIsBehind reports whether the Kafka door of this process is behind; a process without that
// door owns no changes, and does not ask. It does not use the times of records, since these come
// from the clocks of the airports, or are old if somebody copies old messages into the topic.
func (s *service) doorIsBehind() bool {
	records, _, _ := s.consumer.Backlog()
	return records > maxWaiting || s.waited() > maxWaited
}

func (s *service) changeReader() *changes.Reader {
	return &changes.Reader{Index: s.changeIndex(), Kafka: s.client, Marks: s.conf.Kafka.MarksTopic}
}

// openFeed opens the feed of changes for the operations of /v1, or returns nil if changes are off.
// It reads the topic of changes until the doors are closed.
func (s *service) openFeed() *changefeed.Feed {
	if s.changes == nil {
		return nil
	}
	c := s.conf.Kafka
	tail := changes.NewTail(s.client, c.ChangesTopic, s.log)
	s.readers.start("tail of changes", tail.Run)
	return changefeed.New(changefeed.Config{
		Changes: s.changeReader(),
		Tail:    tail, Trails: s.trails, Patient: s.trails.Over(s.store.PatientReader()),
		Airports: s.library, References: s.flights, Clock: s.clock,
	})
}

// noChanges says why there are no changes.
func (s *service) noChanges() string {
	if s.client == nil {
		return "There are no changes without Kafka, which is off"
	}
	return "Changes are off: BAGTRAIL_KAFKA_CHANGES_TOPIC is empty"
}

// restoreChanges sets the epoch of changes again after the index was rebuilt, so that cursors stay
// valid. After a rebuild that began at a time it sets no epoch: if Redis has none, it had lost
// everything, and still lacks the messages from before that time. Without an epoch, no reader
// mistakes the partial index for a complete one.
func (s *service) restoreChanges(ctx context.Context, start kafka.Start) error {
	if s.changes == nil {
		return nil
	}
	if !start.Time.IsZero() {
		begun, err := s.changes.Begun(ctx)
		if err != nil {
			return err
		}
		if !begun {
			s.log.Warn("Redis had lost everything, and lacks what is older than this replay: replay from the beginning too (--from earliest)")
		}
		return nil
	}
	if err := s.changes.Restore(ctx); err != nil {
		return fmt.Errorf("restore the epoch of changes: %w", err)
	}
	return nil
}
