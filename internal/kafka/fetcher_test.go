package kafka_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
)

const (
	topic      = "topic"
	partitions = 12
	idle       = 30 * time.Second // how long a broker holds a fetch if nothing comes
	soon       = 5 * time.Second  // within which a record comes that waits for none of these fetches
)

// cluster starts brokers that share the partitions of a topic, and returns a client of them.
func cluster(t *testing.T, brokers int) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	c := kafkatest.Start(t, kfake.NumBrokers(brokers), kfake.SeedTopics(partitions, topic))
	return c, kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Wait: idle}})
}

// keyOf returns a key that is written to a partition.
func keyOf(partition int) []byte {
	for i := 0; ; i++ {
		if key := fmt.Append(nil, i); kafka.PartitionOf(key, partitions) == partition {
			return key
		}
	}
}

// log is what was read of each partition.
type log struct {
	mu     sync.Mutex
	read   [partitions][]string
	next   [partitions]int64
	faults []string
}

// take notes a batch. Each partition must come in order, without gaps and repetitions.
func (l *log) take(partition int, records []kafka.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range records {
		if r.Offset != l.next[partition] || r.Partition != partition {
			l.faults = append(l.faults, fmt.Sprintf("partition %d: record %d of partition %d, want %d", partition, r.Offset, r.Partition, l.next[partition]))
		}
		l.next[partition] = r.Offset + 1
		l.read[partition] = append(l.read[partition], string(r.Value))
	}
}

func (l *log) count(partition int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.read[partition])
}

// await waits until so many records of a partition were read.
func (l *log) await(t *testing.T, partition, count int, within time.Duration) {
	t.Helper()
	eventually(t, within, fmt.Sprintf("%d records of partition %d", count, partition), func() bool { return l.count(partition) >= count })
}

// eventually waits until something holds.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if pause.Until(ctx, time.Millisecond, holds) != nil {
		t.Fatalf("not within %v: %s", within, what)
	}
}

// observe counts the requests of a kind.
func observe(c *kfake.Cluster, kind kmsg.Key) *kfake.FaultHandle {
	return c.Fault(kfake.Fault{Keys: []kmsg.Key{kind}, Observe: true, Count: -1})
}

// follow follows the topic until the test ends.
func (l *log) follow(t *testing.T, client *kafka.Client) {
	follow(t, client, func(partition int, b kafka.Batch) { l.take(partition, b.Records) }, func(err error) { t.Log(err) })
}

// follow follows the topic until the test ends.
func follow(t *testing.T, client *kafka.Client, take func(partition int, b kafka.Batch), fail func(error)) {
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		client.Follow(ctx, topic, kafka.Follower{
			Begin: func(at, first, _ int64) int64 { return max(at, first) }, Take: take, Fail: fail,
		})
	})
	t.Cleanup(func() { cancel(); following.Wait() })
}

// want reports what came otherwise than in order.
func (l *log) want(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, fault := range l.faults {
		t.Error(fault)
	}
}

func produce(t *testing.T, client *kafka.Client, partition int, values ...string) {
	t.Helper()
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{Key: keyOf(partition), Value: []byte(v)}
	}
	if err := client.Produce(t.Context(), topic, records); err != nil {
		t.Fatal(err)
	}
}

func TestATrickleInAllPartitionsTakesFewRequests(t *testing.T) {
	c, client := cluster(t, 1)
	requests := observe(c, kmsg.Fetch)
	var l log
	l.follow(t, client)
	const rounds = 50
	for i := range rounds {
		for p := range partitions {
			produce(t, client, p, fmt.Sprint(i))
		}
	}
	for p := range partitions {
		l.await(t, p, rounds, 10*time.Second)
	}
	// Without the others, each partition would take a request for nearly each of its records.
	if n := requests.Hits(); n > partitions*rounds/4 {
		t.Errorf("%d requests for %d records", n, partitions*rounds)
	}
	l.want(t)
}

func TestLeadersThatMoveWhileTheirPartitionsAreReadLoseNothing(t *testing.T) {
	c, client := cluster(t, 3)
	var l log
	l.follow(t, client)
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 200
	for i := range rounds {
		p := random.IntN(partitions)
		if i%20 == 10 {
			if err := c.MoveTopicPartition(topic, int32(random.IntN(partitions)), int32(random.IntN(3))); err != nil {
				t.Fatal(err)
			}
		}
		produce(t, client, p, fmt.Sprint(i))
	}
	want := 0
	for p := range partitions {
		for want < rounds {
			there, err := client.Span(t.Context(), topic, p, kafka.Start{})
			if err != nil {
				continue // the leader has moved
			}
			l.await(t, p, int(there.To), 20*time.Second)
			want += int(there.To)
			break
		}
	}
	if want != rounds {
		t.Errorf("%d records are there, want %d", want, rounds)
	}
	l.want(t)
}

// A client of Kafka reads all records of a response before it returns any.
func TestABatchThatCannotBeReadHoldsUpNoOtherPartition(t *testing.T) {
	c, client := cluster(t, 1)
	produceGarbage(t, c.ListenAddrs(), 0)
	var l log
	l.follow(t, client)
	for i := range 5 {
		for p := 1; p < partitions; p++ {
			produce(t, client, p, fmt.Sprint(i))
		}
		for p := 1; p < partitions; p++ {
			l.await(t, p, i+1, soon)
		}
	}
	if n := l.count(0); n > 0 {
		t.Errorf("%d records of garbage", n)
	}
	l.want(t)
}

// produceGarbage writes a batch that says it is packed, and is not.
func produceGarbage(t *testing.T, brokers []string, partition int) {
	t.Helper()
	produceRaw(t, brokers, partition, 1, []byte("this is not gzip"))
}

// produceRaw writes a batch of one record, which is packed as the attributes say.
func produceRaw(t *testing.T, brokers []string, partition int, attributes int16, record []byte) {
	t.Helper()
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: attributes, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: 1, Records: record,
	}
	const lengthEnds, crcEnds = 12, 21
	batch.Length = int32(len(batch.AppendTo(nil)) - lengthEnds)
	batch.CRC = int32(crc32.Checksum(batch.AppendTo(nil)[crcEnds:], crc32.MakeTable(crc32.Castagnoli)))
	raw := batch.AppendTo(nil)
	raw = append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
	client := &kafkago.Client{Addr: kafkago.TCP(brokers...)}
	answer, err := client.RawProduce(t.Context(), &kafkago.RawProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafkago.RequireAll,
		RawRecords: protocol.RawRecordSet{Reader: bytes.NewReader(raw)},
	})
	if err != nil || answer.Error != nil {
		t.Fatal(err, answer)
	}
}

// A broker gives a batch that is larger than the fetch only to the first partition that has one.
func TestLargeBatchesOfOnePartitionComeBetweenThoseOfOthers(t *testing.T) {
	_, client := cluster(t, 1)
	const batches = 30
	large := strings.Repeat("x", 300<<10)
	for range batches {
		for p := range 2 {
			produce(t, client, p, large)
		}
	}
	produce(t, client, 2, large)
	var l log
	l.follow(t, client)
	l.await(t, 2, 1, 10*time.Second)
	if n := l.count(0) + l.count(1); n > batches {
		t.Errorf("%d batches of other partitions came before", n)
	}
	for p := range 2 {
		l.await(t, p, batches, 20*time.Second)
	}
	l.want(t)
}

func TestWhatIsThereAtFirstDoesNotWaitForAPartitionWithoutRecords(t *testing.T) {
	for range 3 {
		_, client := cluster(t, 1)
		for p := 1; p < partitions; p++ {
			produce(t, client, p, "there")
		}
		var l log
		l.follow(t, client)
		for p := 1; p < partitions; p++ {
			l.await(t, p, 1, soon)
		}
	}
}

func TestABacklogIsReadWithoutPauses(t *testing.T) {
	c, client := cluster(t, 1)
	large := strings.Repeat("x", 60<<10)
	const records = 300 // five in a fetch
	for range records {
		produce(t, client, 0, large)
	}
	var mu sync.Mutex
	var asked []time.Time
	c.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, time.Now())
		return nil, nil, false
	})
	var l log
	l.follow(t, client)
	l.await(t, 0, records, 20*time.Second)
	mu.Lock()
	defer mu.Unlock()
	short := 0 // times between two fetches that have no pause of 20 ms
	for i := 1; i < len(asked); i++ {
		if asked[i].Sub(asked[i-1]) < 15*time.Millisecond {
			short++
		}
	}
	if short < len(asked)/4 { // on a busy machine the others may be long too
		t.Errorf("%d of %d fetches came without a pause", short, len(asked))
	}
	l.want(t)
}

// The reader of a partition that has moved still asks for it where it was. In between nothing comes.
func TestALeaderThatMovesWhileItsPartitionIsInHandCostsFewRequests(t *testing.T) {
	c, client := cluster(t, 2)
	for p := range int32(partitions) {
		if err := c.MoveTopicPartition(topic, p, 0); err != nil {
			t.Fatal(err)
		}
	}
	var failures atomic.Int64
	var once sync.Once
	held, release := make(chan struct{}), make(chan struct{})
	var l log
	produce(t, client, 0, "held")
	if err := pause.For(t.Context(), 2*time.Second); err != nil { // until the metadata knows the leaders
		t.Fatal(err)
	}
	follow(t, client, func(p int, b kafka.Batch) {
		if p == 0 && len(b.Records) > 0 {
			once.Do(func() { close(held); <-release })
		}
		l.take(p, b.Records)
	}, func(err error) { failures.Add(1); t.Log(err) })
	<-held
	if err := c.MoveTopicPartition(topic, 0, 1); err != nil {
		t.Fatal(err)
	}
	if err := pause.For(t.Context(), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	requests := observe(c, kmsg.Fetch)
	close(release)
	l.await(t, 0, 1, soon)
	if err := pause.For(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if n := requests.Hits(); n > 200 { // one each 20 ms for both leaders is 100
		t.Errorf("%d requests", n)
	}
	for i := range 2 { // and all partitions are read
		for p := range partitions {
			produce(t, client, p, fmt.Sprint(i))
		}
	}
	for p := range partitions {
		l.await(t, p, 2, soon)
	}
	if n := failures.Load(); n > 0 {
		t.Errorf("%d failures", n)
	}
	l.want(t)
}

// slow is a handler whose partition 0 waits for a signal.
type slow struct {
	*log
	partition int
	go0       chan struct{}
}

func (s slow) TakeOver(context.Context, int64) error { return nil }
func (s slow) Release()                              {}
func (s slow) Handle(_ context.Context, records []kafka.Record) (int, error) {
	if s.partition == 0 {
		<-s.go0
	}
	s.take(s.partition, records)
	return len(records), nil
}

// run runs a consumer until the test ends.
func run(t *testing.T, consumer *kafka.Consumer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := consumer.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
}

func TestAPartitionInHandHoldsUpNoOther(t *testing.T) {
	_, client := cluster(t, 1)
	l, go0 := new(log), make(chan struct{})
	run(t, client.NewConsumer(kafka.ConsumerConfig{
		Group: "group", Topic: topic, AtOnce: 2,
		Handler: func(p int) kafka.Handler { return slow{l, p, go0} },
	}))
	produce(t, client, 1, "begun")
	l.await(t, 1, 1, 20*time.Second)
	produce(t, client, 0, "held", "behind")
	// Others are read at once, and not when the wait of an empty fetch is over.
	for i := range 5 {
		produce(t, client, 2, fmt.Sprint(i))
		l.await(t, 2, i+1, soon)
	}
	if n := l.count(0); n > 0 {
		t.Errorf("%d records of the partition in hand", n)
	}
	close(go0)
	l.await(t, 0, 2, soon)
	produce(t, client, 0, "free")
	l.await(t, 0, 3, soon)
	l.want(t)
}

// counting is a handler that notes the most bytes that it is given at once.
type counting struct {
	*log
	partition int
	most      *atomic.Int64
}

func (c counting) TakeOver(context.Context, int64) error { return nil }
func (c counting) Release()                              {}
func (c counting) Handle(_ context.Context, records []kafka.Record) (int, error) {
	size := 0
	for _, r := range records {
		size += len(r.Value)
	}
	c.most.Store(max(c.most.Load(), int64(size)))
	c.take(c.partition, records)
	return len(records), nil
}

func TestAConsumerFetchesOnlySoManyBytesAtOnce(t *testing.T) {
	_, client := cluster(t, 1)
	const records, size = 100, 10_000
	for range records {
		produce(t, client, 0, strings.Repeat("x", size))
	}
	for _, test := range []struct {
		fetch       int
		atLeast     int64 // bytes, of values
		atMost      int64
		description string
	}{
		{64 << 10, 3 * size, 64 << 10, "64 KiB"},
		{0, 100 << 10, 256 << 10, "the default"},
		{1, size, size, "less than a record"}, // a record comes all the same
	} {
		l, most := new(log), new(atomic.Int64)
		run(t, client.NewConsumer(kafka.ConsumerConfig{
			Group: test.description, Topic: topic, Fetch: test.fetch,
			Handler: func(p int) kafka.Handler { return counting{l, p, most} },
		}))
		l.await(t, 0, records, 20*time.Second)
		if n := most.Load(); n < test.atLeast || n > test.atMost {
			t.Errorf("%s: %d bytes came at once, want %d to %d", test.description, n, test.atLeast, test.atMost)
		}
		l.want(t)
	}
}
