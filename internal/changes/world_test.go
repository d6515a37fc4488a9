package changes_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/changestore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

const partitions = 3

// world is a broker, a Redis, and bags whose state a test sets.
type world struct {
	t       *testing.T
	cluster *kfake.Cluster
	kafka   *kafka.Client
	redis   *redis.Client
	index   *changestore.Store
	bags    *bags
	marker  changes.Marker
	now     time.Time
	marks   string
	changes string
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, cluster: kafkatest.Start(t), now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), bags: newBags(),
		marks: "bag.dirty", changes: "bag.changes",
	}
	w.kafka = kafkatest.Open(t, w.cluster, kafka.Config{
		Topics: []string{w.marks, w.changes},
		Timing: kafka.Timing{Wait: 50 * time.Millisecond, RetryMin: 4 * time.Millisecond, RetryMax: 20 * time.Millisecond, Stall: 200 * time.Millisecond},
		Logger: zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel)),
	})
	err := w.kafka.EnsureTopics(t.Context(),
		kafka.Topic{Name: w.marks, Partitions: partitions}, kafka.Topic{Name: w.changes, Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	w.redis = redistest.Open(t, "")
	w.index = changestore.New(w.redis, 72*time.Hour, time.Now)
	w.marker = changes.Marker{Kafka: w.kafka, Topic: w.marks}
	return w
}

// stage returns a stage over the world, with another index, flight reference or broker if a test wants that.
func (w *world) stage(change ...func(*changes.Config)) *changes.Stage {
	conf := changes.Config{
		Kafka: w.kafka, Group: "owners", Marks: w.marks, Changes: w.changes,
		Index: w.index, Bags: w.bags, Departures: new(reference), Reloads: new(changes.Reloads), Append: appendBag,
		Behind: func() bool { return false }, Metrics: kafka.NoMetrics{},
		Logger: zaptest.NewLogger(w.t, zaptest.Level(zap.ErrorLevel)), Now: func() time.Time { return w.now },
	}
	for _, c := range change {
		c(&conf)
	}
	return changes.New(conf)
}

// owner is an owner of the partition of a plate, as one process has it.
type owner struct {
	w       *world
	handler kafka.Handler
	at      int // the partition
	offset  int64
}

// owner lets another process take over a partition, whose group has committed an offset.
func (w *world) owner(partition int, committed int64, change ...func(*changes.Config)) *owner {
	w.t.Helper()
	return w.ownerOf(w.stage(change...), partition, committed)
}

// ownerOf is owner for a process that may own other partitions too.
func (w *world) ownerOf(stage *changes.Stage, partition int, committed int64) *owner {
	w.t.Helper()
	o := &owner{w: w, handler: stage.NewOwner(partition), at: partition, offset: committed}
	if err := o.handler.TakeOver(w.t.Context(), committed); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(o.handler.Release)
	return o
}

// ready is owner once the takeover is over: what is marked from here on is remembered.
func (w *world) ready(partition int, committed int64, change ...func(*changes.Config)) *owner {
	w.t.Helper()
	o := w.owner(partition, committed, change...)
	w.eventuallyTold(partition, -1)
	return o
}

// run handles what is marked, and returns the first error.
func (o *owner) run() error {
	o.w.t.Helper()
	return o.runIn(o.w.t.Context())
}

// runIn is run within a context.
func (o *owner) runIn(ctx context.Context) error {
	o.w.t.Helper()
	there, err := o.w.kafka.Span(ctx, o.w.marks, o.at, kafka.Start{})
	if err != nil {
		return err
	}
	r := o.w.kafka.Reader(o.w.marks, o.at, o.offset)
	for o.offset < there.To {
		batch, err := r.Fetch(ctx, 100*time.Millisecond)
		if err != nil {
			return err
		}
		for records := batch.Records; len(records) > 0; {
			n, err := o.handler.Handle(ctx, records)
			if err != nil {
				return err
			}
			o.offset, records = records[n-1].Offset+1, records[n:]
		}
	}
	return nil
}

// mustRun is run for a test in which nothing fails.
func (o *owner) mustRun() {
	o.w.t.Helper()
	if err := o.run(); err != nil {
		o.w.t.Fatal(err)
	}
}

// mustLook lets the owner look once, as it does every second.
func (o *owner) mustLook() {
	o.w.t.Helper()
	if err := changes.Look(o.w.t.Context(), o.handler); err != nil {
		o.w.t.Fatal(err)
	}
}

func (w *world) mark(marks ...changes.Mark) {
	w.t.Helper()
	if err := w.marker.Write(w.t.Context(), marks); err != nil {
		w.t.Fatal(err)
	}
}

// set sets the state of a plate and marks it.
func (w *world) set(plate bag.Plate, state string) {
	w.t.Helper()
	w.bags.set(plate, state)
	w.mark(changes.Mark{Plate: plate})
}

// published returns the records of the topic of changes, partition by partition.
func (w *world) published() (all []*changes.Record) {
	w.t.Helper()
	var mu sync.Mutex
	spans, err := w.kafka.Spans(w.t.Context(), w.changes, kafka.Start{})
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.kafka.ReadSpans(w.t.Context(), w.changes, spans, func(_ context.Context, _ int, records []kafka.Record, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range records {
			record, err := changes.ParseRecord(r.Value)
			if err != nil {
				return err
			}
			if string(r.Key) != string(record.Plate) || len(r.Headers) != 1 || r.Header("content-type") != changes.ContentType {
				return fmt.Errorf("record %s with headers %v", r.Key, r.Headers)
			}
			all = append(all, record)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b *changes.Record) int { return cmp.Compare(a.Plate, b.Plate) })
	return all
}

// told returns what a reader of the topic knows who keeps the rule: of each plate the state with the highest position.
func (w *world) told() map[bag.Plate]string {
	w.t.Helper()
	last := make(map[bag.Plate]*changes.Record)
	for _, r := range w.published() {
		if before, have := last[r.Plate]; !have || cmp.Or(cmp.Compare(r.Epoch, before.Epoch), cmp.Compare(r.Sequence, before.Sequence)) > 0 {
			last[r.Plate] = r
		}
	}
	states := make(map[bag.Plate]string)
	for plate, r := range last {
		states[plate] = string(r.Bags)
	}
	return states
}

// wantTold fails unless a reader of the topic knows these states.
func (w *world) wantTold(want map[bag.Plate]string) {
	w.t.Helper()
	got := w.told()
	for plate, state := range want {
		if got[plate] != document(state) {
			w.t.Errorf("%s: told %s, want %s", plate, got[plate], document(state))
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("told of %d plates, want %d", len(got), len(want))
	}
}

// wantLast fails unless a reader of the topic knows this state of a plate.
func (w *world) wantLast(plate bag.Plate, state string) {
	w.t.Helper()
	if got := w.told()[plate]; got != document(state) {
		w.t.Errorf("%s: told %s last, want %s", plate, got, document(state))
	}
}

// progress returns how far the index is told of a partition.
func (w *world) progress(partition int) (changes.Progress, bool) {
	w.t.Helper()
	p, err := w.index.Progress(w.t.Context(), w.currentEpoch(), partition)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, !p.None()
}

// raiseFloor raises the floor of a partition.
func (w *world) raiseFloor(partition int, floor int64) {
	w.t.Helper()
	_, err := w.index.Tell(w.t.Context(), w.currentEpoch(), partition, changes.IndexWrite{After: -1, Told: -1, Floor: floor})
	if err != nil {
		w.t.Fatal(err)
	}
}

// bags is an index of bags in memory, whose states are texts.
type bags struct {
	mu        sync.Mutex
	states    map[bag.Plate]string
	originals map[bag.Plate][]bag.Plate
	contents  map[bag.Container][]bag.Plate
	flights   map[bag.Flight][]bag.Plate
	folds     int
	err       error
}

func newBags() *bags {
	return &bags{
		states: make(map[bag.Plate]string), originals: make(map[bag.Plate][]bag.Plate),
		contents: make(map[bag.Container][]bag.Plate), flights: make(map[bag.Flight][]bag.Plate),
	}
}

func (b *bags) set(plate bag.Plate, state string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states[plate] = state
}

// Trace implements changes.Bags: a bag whose PNR is the state, on LX14 from ZRH to JFK.
func (b *bags) Trace(_ context.Context, plates []bag.Plate, _ time.Time) (all []trail.Traced, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	for _, p := range plates {
		b.folds++
		state, have := b.states[p]
		if !have {
			continue
		}
		made := &bag.Bag{Plate: p, Description: bag.Description{PNR: state}, Legs: []bag.Leg{{Flight: lx14, From: "ZRH", To: "JFK"}}}
		for _, o := range b.originals[p] {
			made.Reflighted = append(made.Reflighted, bag.Reflighted{Plate: o, Bag: &bag.Bag{Plate: o}})
		}
		all = append(all, trail.Traced{Bag: made})
	}
	return all, nil
}

func (b *bags) Lengths(_ context.Context, plates []bag.Plate) ([]int, error) {
	return slices.Repeat([]int{1}, len(plates)), nil
}

func (b *bags) InContainers(_ context.Context, containers []bag.Container) (all [][]bag.Plate, err error) {
	for _, c := range containers {
		all = append(all, b.contents[c])
	}
	return all, b.err
}

func (b *bags) OnFlights(_ context.Context, flights []bag.Flight) (all [][]bag.Plate, err error) {
	for _, f := range flights {
		all = append(all, b.flights[f])
	}
	return all, b.err
}

// altered are bags whose lengths a test sets. It calls before first if bags are traced.
type altered struct {
	changes.Bags
	length func() int             // of each plate; nil: that of Bags
	before func(plates int) error // nil: nothing
}

func (b altered) Lengths(ctx context.Context, plates []bag.Plate) ([]int, error) {
	if b.length == nil {
		return b.Bags.Lengths(ctx, plates)
	}
	return slices.Repeat([]int{b.length()}, len(plates)), nil
}

func (b altered) Trace(ctx context.Context, plates []bag.Plate, now time.Time) ([]trail.Traced, error) {
	if b.before != nil {
		if err := b.before(len(plates)); err != nil {
			return nil, err
		}
	}
	return b.Bags.Trace(ctx, plates, now)
}

var lx14 = bag.Flight{Airline: "LX", Number: "14", Day: 20526}

// appendBag appends what document returns.
func appendBag(dst []byte, t trail.Traced) []byte { return fmt.Appendf(dst, `{"pnr":%q}`, t.Bag.PNR) }

// document returns the bags of a plate in that state.
func document(state string) string { return fmt.Sprintf(`[{"pnr":%q}]`, state) }

// errKilled is what ends an owner that a test stops.
var errKilled = errors.New("killed")

// partitionOf returns the partition of a plate, which a record of it has.
func (w *world) partitionOf(plate bag.Plate) int {
	w.t.Helper()
	records := []kafka.Record{{Key: []byte(plate), Value: []byte("ordinary")}}
	if err := w.kafka.Produce(w.t.Context(), w.marks, records); err != nil {
		w.t.Fatal(err)
	}
	return records[0].Partition
}

// sequence returns the sequence that the index has of the plate.
func (w *world) sequence() int64 {
	w.t.Helper()
	nothing := make([]int64, partitions)
	got, err := w.index.Sequences(w.t.Context(), w.currentEpoch(), []bag.Plate{plate}, nothing, nothing)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[0]
}

// key returns a key of the index.
func (w *world) key(e changes.Epoch, partition int, rest string) string {
	return fmt.Sprintf("%sd:{%d.%d}:%s", w.redis.Prefix(), e.Begun, partition, rest)
}

func (w *world) delete(keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		if err := w.redis.WriteClient().Del(w.t.Context(), key).Err(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// eventuallyTold waits until a partition is told up to a sequence.
func (w *world) eventuallyTold(partition int, want int64) {
	w.t.Helper()
	redistest.Eventually(w.t, 10*time.Second, "the index is not built again", func() bool {
		p, known := w.progress(partition)
		return known && p.Told >= want
	})
}

// currentEpoch returns the epoch that the index has.
func (w *world) currentEpoch() changes.Epoch {
	w.t.Helper()
	e, err := w.index.Epoch(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// remakeMarks makes the topic of marks anew: it is empty.
func (w *world) remakeMarks() {
	w.t.Helper()
	client := &kafkago.Client{Addr: kafkago.TCP(w.cluster.ListenAddrs()...)}
	if _, err := client.DeleteTopics(w.t.Context(), &kafkago.DeleteTopicsRequest{Topics: []string{w.marks}}); err != nil {
		w.t.Fatal(err)
	}
	topic := kafkago.TopicConfig{Topic: w.marks, NumPartitions: partitions, ReplicationFactor: 1}
	if _, err := client.CreateTopics(w.t.Context(), &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{topic}}); err != nil {
		w.t.Fatal(err)
	}
}

// grow gives topics more partitions.
func (w *world) grow(count int, topics ...string) {
	w.t.Helper()
	client := &kafkago.Client{Addr: kafkago.TCP(w.cluster.ListenAddrs()...)}
	for _, topic := range topics {
		answer, err := client.CreatePartitions(w.t.Context(), &kafkago.CreatePartitionsRequest{
			Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: int32(count)}},
		})
		if err != nil || answer.Errors[topic] != nil {
			w.t.Fatal(err, answer)
		}
		redistest.Eventually(w.t, 20*time.Second, "no new partitions", func() bool {
			found, err := w.kafka.Partitions(w.t.Context(), topic)
			return err == nil && len(found) == count
		})
	}
}

// toldFive returns an owner of the partition of a plate, which has told five changes of it, and the
// partition.
func (w *world) toldFive(plate bag.Plate) (o *owner, partition int) {
	w.t.Helper()
	partition = kafka.PartitionOf([]byte(plate), partitions)
	o = w.ready(partition, 0)
	for range 5 {
		w.set(plate, "ONE")
		o.mustRun()
	}
	return o, partition
}

// toldOne returns an owner of the partition of a plate, which has told one change of it, the
// partition, and the epoch.
func (w *world) toldOne(plate bag.Plate) (o *owner, partition int, e changes.Epoch) {
	w.t.Helper()
	partition = w.partitionOf(plate)
	w.bags.set(plate, "ONE")
	o = w.owner(partition, 0)
	o.mustRun()
	return o, partition, w.currentEpoch()
}

// toldAndReleased is toldOne, after which the owner leaves its partition.
func (w *world) toldAndReleased(plate bag.Plate) (partition int, e changes.Epoch) {
	w.t.Helper()
	o, partition, e := w.toldOne(plate)
	o.handler.Release()
	return partition, e
}
