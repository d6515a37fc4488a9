package kafkadoor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/redis/redistest"
)

// brokersVariable names brokers of a real Kafka (comma list), on which the tests then run instead
// of the one inside.
const brokersVariable = "BAGTRAIL_TEST_KAFKA"

var received = time.Date(2026, 3, 12, 6, 0, 0, 123e6, time.UTC)

// world is a broker with topics of its own, an index, and what the consumer counted.
type world struct {
	t       *testing.T
	cluster *kfake.Cluster // nil on a real Kafka
	kafka   kafka.Config
	conf    kafkadoor.Config
	own     *kafka.Client // that the door uses
	door    *kafkadoor.Door
	client  *kafkago.Client
	index   *index
	metrics *metrics
}

// newWorld has a raw topic of so many partitions.
func newWorld(t *testing.T, partitions int, opts ...kfake.Opt) *world {
	w := newBroker(t, opts...)
	w.conf.Partitions = partitions
	w.open()
	if err := w.door.EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// newBroker is a world without topics, and without a door.
func newBroker(t *testing.T, opts ...kfake.Opt) *world {
	w := &world{t: t, index: newIndex(), metrics: &metrics{}}
	w.conf = kafkadoor.Config{Group: "group", Topics: kafkadoor.Topics{Raw: "bim.raw", Rejects: "bim.rejected"}}
	w.kafka = kafka.Config{
		Timing: kafka.Timing{
			Heartbeat: 50 * time.Millisecond, JoinBackoff: 20 * time.Millisecond, Watch: 100 * time.Millisecond,
			Wait: 50 * time.Millisecond, RetryMin: 4 * time.Millisecond, RetryMax: 20 * time.Millisecond,
			Request: 2 * time.Second,
		},
		Logger: zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel)),
	}
	if brokers := os.Getenv(brokersVariable); brokers != "" && len(opts) == 0 {
		w.kafka.Brokers = strings.Split(brokers, ",")
		own := fmt.Sprintf("-%d", time.Now().UnixNano())
		w.conf.Group += own
		w.conf.Topics.Raw += own
		w.conf.Topics.Rejects += own
		defer t.Cleanup(w.deleteTopics) // before the client is closed
	} else {
		w.cluster = kafkatest.Start(t, opts...)
		w.kafka.Brokers = w.cluster.ListenAddrs()
	}
	transport := &kafkago.Transport{MetadataTTL: 100 * time.Millisecond}
	t.Cleanup(transport.CloseIdleConnections)
	w.client = &kafkago.Client{Addr: kafkago.TCP(w.kafka.Brokers...), Transport: transport, Timeout: 10 * time.Second}
	return w
}

func (w *world) deleteTopics() {
	if _, err := w.client.DeleteTopics(context.Background(), &kafkago.DeleteTopicsRequest{Topics: w.conf.Topics.Names()}); err != nil {
		w.t.Log(err)
	}
}

// open opens a client and a door that uses it.
func open(cluster kafka.Config, conf kafkadoor.Config) (*kafka.Client, *kafkadoor.Door, error) {
	cluster.Topics = conf.Topics.Names()
	client, err := kafka.Open(cluster)
	if err != nil {
		return nil, nil, err
	}
	conf.Logger = cluster.Logger
	return client, kafkadoor.New(client, conf), nil
}

func (w *world) open() {
	w.t.Helper()
	client, door, err := open(w.kafka, w.conf)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(client.Close)
	w.own, w.door = client, door
}

// needsFaults skips a test that has to break the broker on purpose.
func (w *world) needsFaults() {
	if w.cluster == nil {
		w.t.Skip("needs a broker that can be told to fail")
	}
}

// acceptorConf returns what the Acceptors of the world have in common.
func (w *world) acceptorConf() ingestor.Config {
	airports := airport.New()
	return ingestor.Config{
		Judge: ingestor.NewJudge(airports, enricher.New(airports)), Index: w.index, Patience: time.Minute, Observe: w.metrics.observe,
	}
}

// acceptor returns the Acceptor of a consumer.
func (w *world) acceptor() *ingestor.Acceptor {
	conf := w.acceptorConf()
	conf.Rejects = w.door
	return ingestor.NewAcceptor(conf)
}

// rebuilder returns the Acceptor of a rebuild.
func (w *world) rebuilder() *ingestor.Acceptor { return uncounted(w.acceptorConf()) }

// uncounted returns an Acceptor of messages that do not come by a consumer.
func uncounted(conf ingestor.Config) *ingestor.Acceptor {
	conf.Observe = nil
	return ingestor.NewAcceptor(conf)
}

// poster returns the Acceptor of messages that are not in the log yet.
func (w *world) poster() *ingestor.Acceptor {
	conf := w.acceptorConf()
	conf.Log, conf.Rejects = w.door, w.door
	return uncounted(conf)
}

// consume runs a consumer until stop is called, which waits for it.
func (w *world) consume(marks ...ingestor.Marks) (stop func()) {
	conf := w.acceptorConf()
	conf.Rejects = w.door
	for _, m := range marks {
		conf.Marks = m
	}
	return w.run(w.door.NewConsumer(ingestor.NewAcceptor(conf), w.metrics))
}

func (w *world) run(c *kafkadoor.Consumer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				w.t.Error(err)
			}
		case <-time.After(30 * time.Second):
			w.t.Error("the consumer did not stop")
		}
	})
	w.t.Cleanup(stop)
	return stop
}

// produce writes records to a partition of the raw topic.
func (w *world) produce(partition int, records ...kafkago.Record) {
	w.t.Helper()
	w.produceTo(w.conf.Topics.Raw, partition, 0, records...)
}

func (w *world) produceTo(topic string, partition int, codec kafkago.Compression, records ...kafkago.Record) {
	w.t.Helper()
	w.eventually("a new partition takes records", func() bool {
		for i := range records { // what was sent must be read again from its beginning
			records[i].Key, records[i].Value = again(w.t, records[i].Key), again(w.t, records[i].Value)
		}
		answer, err := w.client.Produce(w.t.Context(), &kafkago.ProduceRequest{
			Topic: topic, Partition: partition, RequiredAcks: kafkago.RequireAll, Compression: codec,
			Records: kafkago.NewRecordReader(records...),
		})
		if err == nil {
			err = answer.Error
		}
		return err == nil
	})
}

// again returns the same bytes, to be read from their beginning.
func again(t *testing.T, b kafkago.Bytes) kafkago.Bytes {
	t.Helper()
	if b == nil {
		return nil
	}
	seeker, ok := b.(io.Seeker)
	if !ok {
		t.Fatalf("%T cannot be read twice", b)
	}
	if _, err := seeker.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return b
}

// record is a record of the raw topic. A header is written as name and value.
func record(value string, headers ...string) kafkago.Record {
	r := kafkago.Record{Time: received, Value: kafkago.NewBytes([]byte(value))}
	for i := 0; i < len(headers); i += 2 {
		r.Headers = append(r.Headers, kafkago.Header{Key: headers[i], Value: []byte(headers[i+1])})
	}
	return r
}

// records are so many different messages, from the number first on.
func records(first, n int) []kafkago.Record {
	list := make([]kafkago.Record, n)
	for i := range list {
		list[i] = record(message(first + i))
	}
	return list
}

func message(i int) string {
	return fmt.Sprintf("BSM\n.V/1LZRH\n.F/LX14/12MAR/JFK\n.N/0724%06d001\nENDBSM\n", i)
}

func plate(i int) bag.Plate { return bag.Plate(fmt.Sprintf("0724%06d", i)) }

// all returns what is on a topic, by partition and offset.
func (w *world) all(topic string) []kafkago.Message {
	w.t.Helper()
	var list []kafkago.Message
	for _, p := range w.partitions(topic) {
		conn, err := kafkago.DialLeader(w.t.Context(), "tcp", w.kafka.Brokers[0], topic, p)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			w.t.Fatal(err)
		}
		first, end, err := conn.ReadOffsets()
		if err != nil {
			w.t.Fatal(err)
		}
		for first < end {
			if _, err := conn.Seek(first, kafkago.SeekAbsolute|kafkago.SeekDontCheck); err != nil {
				w.t.Fatal(err)
			}
			m, err := conn.ReadMessage(4 << 20)
			if err != nil {
				w.t.Fatal(err)
			}
			list, first = append(list, m), m.Offset+1
		}
		closed(w.t, conn)
	}
	return list
}

func (w *world) partitions(topic string) []int {
	w.t.Helper()
	conn, err := kafkago.DialContext(w.t.Context(), "tcp", w.kafka.Brokers[0])
	if err != nil {
		w.t.Fatal(err)
	}
	defer closed(w.t, conn)
	list, err := conn.ReadPartitions(topic)
	if err != nil {
		w.t.Fatal(err)
	}
	var numbers []int
	for _, p := range list {
		numbers = append(numbers, p.ID)
	}
	slices.Sort(numbers)
	return numbers
}

// committed returns the offsets of the group on the raw topic; -1 where there is none.
func (w *world) committed() map[int]int64 {
	w.t.Helper()
	answer, err := w.client.OffsetFetch(w.t.Context(), &kafkago.OffsetFetchRequest{
		GroupID: w.conf.Group, Topics: map[string][]int{w.conf.Topics.Raw: w.partitions(w.conf.Topics.Raw)},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	offsets := make(map[int]int64)
	for _, p := range answer.Topics[w.conf.Topics.Raw] {
		offsets[p.Partition] = p.CommittedOffset
	}
	return offsets
}

// consumed produces the first n messages, and runs a consumer until it has committed them.
func (w *world) consumed(n int) {
	w.t.Helper()
	w.produce(0, records(0, n)...)
	stop := w.consume()
	w.waitCommitted(int64(n))
	stop()
}

// waitCommitted waits until so many records in all are committed.
func (w *world) waitCommitted(want int64) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d records are committed", want), func() bool {
		sum := int64(0)
		for _, offset := range w.committed() {
			sum += max(0, offset)
		}
		return sum == want
	})
}

// set changes a setting of a topic.
func (w *world) set(topic, name, value string) {
	w.t.Helper()
	answer, err := w.client.IncrementalAlterConfigs(w.t.Context(), &kafkago.IncrementalAlterConfigsRequest{
		Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafkago.IncrementalAlterConfigsRequestConfig{{Name: name, Value: value, ConfigOperation: kafkago.ConfigOperationSet}},
		}},
	})
	if err != nil {
		w.t.Fatal(answer, err)
	}
}

// grow gives the raw topic more partitions, up to a number in all.
func (w *world) grow(partitions int) {
	w.t.Helper()
	answer, err := w.client.CreatePartitions(w.t.Context(), &kafkago.CreatePartitionsRequest{
		Topics: []kafkago.TopicPartitionsConfig{{Name: w.conf.Topics.Raw, Count: int32(partitions)}},
	})
	if err != nil || answer.Errors[w.conf.Topics.Raw] != nil {
		w.t.Fatal(err, answer)
	}
	w.eventually("there are new partitions", func() bool { return len(w.partitions(w.conf.Topics.Raw)) == partitions })
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	redistest.Eventually(w.t, 30*time.Second, "it did not come about that "+what, holds)
}

// wantFiled fails unless exactly the messages 0 to n-1 are in the index.
func (w *world) wantFiled(n int) {
	w.t.Helper()
	for i := range n {
		if got := len(w.index.stored(plate(i))); got != 1 {
			w.t.Errorf("message %d is in the index %d times", i, got)
		}
	}
	if got := w.index.plates(); got != n {
		w.t.Errorf("%d plates in the index, want %d", got, n)
	}
}

// rejectsByOrigin returns the rejects, each once, and fails where two of one origin differ.
func (w *world) rejectsByOrigin() map[string]kafkago.Message {
	w.t.Helper()
	by := make(map[string]kafkago.Message)
	for _, m := range w.all(w.conf.Topics.Rejects) {
		o := header(m, "bagtrail-origin")
		if before, ok := by[o]; ok && (string(before.Value) != string(m.Value) || header(before, "bagtrail-diagnostics") != header(m, "bagtrail-diagnostics")) {
			w.t.Errorf("two rejects of %s differ", o)
		}
		by[o] = m
	}
	return by
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func header(m kafkago.Message, key string) string {
	for _, h := range m.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

var errAway = errors.New("the index is away")

// index is an index in memory that can be told to fail or to wait.
type index struct {
	mu      sync.Mutex
	fail    bool
	refused bag.Plate // where not "", what names a plate that begins so fails
	hangs   bool      // what is refused takes until nobody waits for it
	failed  int
	known   map[bag.Plate][]bag.Stored // each message once
	entered chan struct{}              // where not nil, File says that it has begun, and waits to be let through
	leave   chan struct{}
}

func newIndex() *index { return &index{known: make(map[bag.Plate][]bag.Stored)} }

func (x *index) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	x.mu.Lock()
	entered, leave := x.entered, x.leave
	x.mu.Unlock()
	if entered != nil {
		entered <- struct{}{}
		select {
		case <-leave:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	refused := x.refused != "" && strings.HasPrefix(string(filings[0].Entries[0].Plate), string(x.refused))
	if refused && x.hangs {
		x.failed++
		x.mu.Unlock()
		<-ctx.Done()
		x.mu.Lock()
		return nil, ctx.Err()
	}
	if x.fail || refused {
		x.failed++
		return nil, errAway
	}
	fresh := make([]bool, len(filings))
	for i, f := range filings {
		stored := bag.Stored{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}
		for _, e := range f.Entries {
			if !slices.Contains(x.known[e.Plate], stored) {
				x.known[e.Plate] = append(x.known[e.Plate], stored)
				fresh[i] = true
			}
		}
	}
	return fresh, nil
}

// lose forgets everything.
func (x *index) lose() {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.known)
}

func (x *index) setFail(fail bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fail = fail
}

func (x *index) refuse(plates bag.Plate, hang bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refused, x.hangs = plates, hang
}

func (x *index) failures() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failed
}

func (x *index) gate() (entered, leave chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entered, x.leave = make(chan struct{}, 100), make(chan struct{})
	return x.entered, x.leave
}

func (x *index) plates() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.known)
}

// stored returns what the index holds of a plate.
func (x *index) stored(p bag.Plate) []bag.Stored {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.known[p])
}

// metrics adds up what the consumer says, and what its acceptor does.
type metrics struct {
	accepted, duplicate, rejected, redelivered, lost atomic.Int64

	mu      sync.Mutex
	retries map[string]int
	lag     map[int]int64
	oldest  map[int]time.Time
}

func (m *metrics) observe(b *ingestor.Batch) {
	for i := range b.Outcomes {
		switch b.Outcomes[i].Verdict {
		case ingestor.Accepted:
			m.accepted.Add(1)
		case ingestor.Duplicate:
			m.duplicate.Add(1)
		case ingestor.Rejected:
			m.rejected.Add(1)
		}
	}
}

func (m *metrics) Redelivered(n int) { m.redelivered.Add(int64(n)) }

func (m *metrics) Lost(n int64) { m.lost.Add(n) }

func (m *metrics) Retry(operation string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.retries == nil {
		m.retries = make(map[string]int)
	}
	m.retries[operation]++
}

func (m *metrics) Lag(partition int, n int64, oldest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lag == nil {
		m.lag, m.oldest = make(map[int]int64), make(map[int]time.Time)
	}
	m.lag[partition], m.oldest[partition] = n, oldest
}

func (m *metrics) Released(partition int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.lag, partition)
	delete(m.oldest, partition)
}

func (m *metrics) retried(operation string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.retries[operation]
}

// waits returns how many records of a partition wait, and the time of the oldest.
func (m *metrics) waits(partition int) (int64, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lag[partition], m.oldest[partition]
}
