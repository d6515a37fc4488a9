package changes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"bagtrail/enricher/airline"
	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/trail"
)

// Index is the index of changes. After an error of a method that writes, it may have written.
type Index interface {
	// Epoch returns the epoch, or the zero Epoch if there is none.
	Epoch(ctx context.Context) (Epoch, error)
	// Begin makes next the epoch if the epoch is still last, and returns the current epoch.
	Begin(ctx context.Context, last, next Epoch) (Epoch, error)
	// Progress returns the progress of a partition. There is none if e is not the current epoch.
	Progress(ctx context.Context, e Epoch, partition int) (Progress, error)
	// Tell writes entries, floor and times, and after them the sequence up to which every change is
	// told. Sequences and times only rise. more reports whether more than After was told before, by
	// an earlier attempt or by another owner: readers may have read other states since. If less was
	// told, Tell writes nothing and fails with ErrIndexLost. It fails with ErrIndexLost too if the
	// epoch has ended, but then it may have written.
	Tell(ctx context.Context, e Epoch, partition int, t IndexWrite) (more bool, err error)
}

// IndexWrite is one write of the owner of a partition to the index.
type IndexWrite struct {
	After    int64     // the sequence up to which everything must be told already, or AfterAny
	Told     int64     // the sequence up to which everything is told. Not written if it is -1, unless Floor is written too
	Floor    int64     // the index need not keep sequences below it. Not written if it is -1
	Clock    time.Time // not written if it is zero
	Departed time.Time // not written if it is zero
	Entries  []Entry

	// While the index is built again, these take the place of Told and After. They are offsets in the
	// topic of changes, up to which the index is built. If Built is 0, it is not written. If
	// AfterBuilt is 0, After counts.
	Built, AfterBuilt int64
}

// AfterAny is the After of a write that is made whatever the index has told. It differs from -1: a
// write with the After -1 needs an index that has progress, but has told nothing yet.
const AfterAny = -2

// Bags reads bags and the plates of containers and flights.
type Bags interface {
	// Trace returns the bags of plates, as they are at a time, with their links to other plates.
	Trace(ctx context.Context, plates []bag.Plate, now time.Time) ([]trail.Traced, error)
	// Lengths returns how many messages and reports each plate has.
	Lengths(ctx context.Context, plates []bag.Plate) ([]int, error)
	// InContainers returns the plates that messages say are in each container.
	InContainers(ctx context.Context, containers []bag.Container) ([][]bag.Plate, error)
	// OnFlights returns the plates that messages name with each flight.
	OnFlights(ctx context.Context, flights []bag.Flight) ([][]bag.Plate, error)
}

// Departures is the part of the flight reference that knows departures.
type Departures interface {
	// Between returns the flights that depart after one time and up to another.
	Between(after, until time.Time) []bag.Flight
}

// Config is the configuration of a Stage.
type Config struct {
	Kafka      *kafka.Client
	Group      string // the consumer group of the owners
	Marks      string // the topic of marks
	Changes    string // the topic of changes
	Index      Index
	Bags       Bags
	Departures Departures
	Reloads    *Reloads         // of the flight reference
	Airlines   *airline.Library // its codes are those of the index
	// Append appends a bag as a JSON object, as a record of the topic of changes shows it.
	Append    func(dst []byte, t trail.Traced) []byte
	Retention time.Duration // how long a change stays in the index
	Behind    func() bool   // reports whether records wait for a door of this process: owners then fold more slowly
	Metrics   kafka.Metrics // Retry also counts the operation "tell"
	Logger    *zap.Logger
	Now       func() time.Time
}

// Stage owns partitions of the topic of marks while it runs, as a member of the group of owners.
type Stage struct {
	*kafka.Consumer
	conf Config
	room *semaphore.Weighted   // bounds the number of messages that all owners together fold at once
	used atomic.Pointer[Epoch] // the latest epoch that an owner has used, or found published; nil at first
}

// New returns a Stage. It connects to nothing yet.
func New(conf Config) *Stage {
	folds := foldsAtOnce * max(1, runtime.GOMAXPROCS(0)/2)
	s := &Stage{conf: conf, room: semaphore.NewWeighted(int64(folds) * messagesAtOnce)}
	s.Consumer = conf.Kafka.NewConsumer(kafka.ConsumerConfig{
		Group: conf.Group, Topic: conf.Marks, Metrics: conf.Metrics,
		AtOnce:  2 * folds, // while some fold, others wait for Redis and Kafka
		Fetch:   fetchBytes,
		Handler: func(partition int) kafka.Handler { return s.newOwner(partition) },
	})
	return s
}

// marker returns the writer of the marks that follow from others.
func (s *Stage) marker() Marker { return Marker{Kafka: s.conf.Kafka, Topic: s.conf.Marks} }

// Marker writes marks. It implements ingestor.Marks.
type Marker struct {
	Kafka *kafka.Client
	Topic string
	// Fresh makes Mark write marks only for messages that were new in the index, and makes the marks
	// Certain.
	Fresh bool
}

// Mark implements ingestor.Marks.
func (m Marker) Mark(ctx context.Context, b *ingestor.Batch) error {
	var marks []Mark
	at := make(map[string]int)
	for i, o := range b.Outcomes {
		env := &b.Envelopes[i]
		if o.Verdict != ingestor.Accepted && (o.Verdict != ingestor.Duplicate || m.Fresh && !b.Refiled) {
			continue
		}
		for mark := range named(&o.Filing) {
			// A message that another door has appended to the log was usually filed by that door
			// already. If the index did not hold it, Redis may have lost it after an owner had
			// folded it.
			mark.Certain = m.Fresh || b.Refiled || env.Again || env.Relayed && o.Verdict == ingestor.Accepted
			key := mark.Key()
			if j, have := at[key]; have {
				marks[j].Certain = marks[j].Certain || mark.Certain
				continue
			}
			at[key] = len(marks)
			marks = append(marks, mark)
		}
	}
	return m.Write(ctx, marks)
}

// Write writes marks, and returns when all in-sync replicas have them.
func (m Marker) Write(ctx context.Context, marks []Mark) error {
	if len(marks) == 0 {
		return nil
	}
	records := make([]kafka.Record, len(marks))
	for i, mark := range marks {
		records[i] = kafka.Record{Key: []byte(mark.Key()), Value: []byte(mark.Value())}
	}
	if err := m.Kafka.Produce(ctx, m.Topic, records); err != nil {
		return fmt.Errorf("mark what changed: %w", err)
	}
	return nil
}

// ErrIndexLost is returned if Redis has lost changes that were told. The owner then takes over
// again.
var ErrIndexLost = errors.New("the index of changes has lost what was told")

// ErrNoEpoch is returned while the index of changes has no epoch although changes were published:
// Redis has lost everything, and a replay of the log must build it again.
var ErrNoEpoch = errors.New("the index of changes is lost: bagtrail replay --from earliest builds it again")
