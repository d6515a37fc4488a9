package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
)

// collecting is a handler that notes the values.
type collecting struct {
	mu     sync.Mutex
	values []string
}

func (h *collecting) TakeOver(context.Context, int64) error { return nil }
func (h *collecting) Release()                              {}
func (h *collecting) Handle(_ context.Context, records []kafka.Record) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range records {
		h.values = append(h.values, string(r.Value))
	}
	return len(records), nil
}
func (h *collecting) has(value string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.values, value)
}

// A partition has lost its end. The broker says so, and while the worker waits to ask again, the
// partition grows beyond the offset.
func TestAPartitionThatLostItsEndAndGrewAgainIsReadFromItsBeginning(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(1, topic))
	logged, entries := observer.New(zap.WarnLevel)
	client := kafkatest.Open(t, c, kafka.Config{
		Topics: []string{topic}, Logger: zap.New(logged),
		Timing: kafka.Timing{Wait: 50 * time.Millisecond, RetryMin: time.Second, RetryMax: time.Second, Watch: time.Minute},
	})
	h := &collecting{}
	run(t, client.NewConsumer(kafka.ConsumerConfig{Group: "g", Topic: topic, Handler: func(int) kafka.Handler { return h }}))

	admin := &kafkago.Client{Addr: kafkago.TCP(c.ListenAddrs()...)}
	write := func(prefix string, n int) {
		t.Helper()
		var records []kafkago.Record
		for i := range n {
			records = append(records, kafkago.Record{Value: kafkago.NewBytes(fmt.Append(nil, prefix, i))})
		}
		answer, err := admin.Produce(t.Context(), &kafkago.ProduceRequest{
			Topic: topic, Partition: 0, RequiredAcks: kafkago.RequireAll, Records: kafkago.NewRecordReader(records...),
		})
		if err != nil || answer.Error != nil {
			t.Fatal(err, answer)
		}
	}
	outOfRange := func() (n int) {
		for _, e := range entries.All() {
			if strings.Contains(fmt.Sprint(e.ContextMap()["error"]), "Offset Out Of Range") {
				n++
			}
		}
		return n
	}
	write("old", 10)
	eventually(t, 20*time.Second, "old", func() bool { return h.has("old9") })
	if err := errors.Join(c.DeleteTopic(topic), c.CreateTopic(topic, 1, nil)); err != nil {
		t.Fatal(err)
	}
	write("new", 5)
	eventually(t, 20*time.Second, "out of range", func() bool { return outOfRange() > 0 })
	write("more", 10)
	eventually(t, 20*time.Second, "what is written last", func() bool { return h.has("more9") })
	for _, want := range []string{"new0", "new4", "more0", "more4"} {
		if !h.has(want) {
			t.Errorf("%s is never handled", want)
		}
	}
}

// fewAtOnce is a handler that handles two records of a batch at a time.
type fewAtOnce struct{ collecting }

func (h *fewAtOnce) Handle(ctx context.Context, records []kafka.Record) (int, error) {
	return h.collecting.Handle(ctx, records[:min(2, len(records))])
}

// released counts the partitions whose lag has ended.
type released struct {
	kafka.NoMetrics
	n atomic.Int64
}

func (r *released) Released(int) { r.n.Add(1) }

func TestAHandlerThatHandlesAFewRecordsOfABatchGetsAll(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(1, topic))
	client := kafkatest.Open(t, c, kafka.Config{Topics: []string{topic}, Timing: kafka.Timing{Wait: 50 * time.Millisecond}})
	var want []string
	for i := range 9 {
		want = append(want, fmt.Sprint(i))
	}
	produce(t, client, 0, want...)
	h, metrics := &fewAtOnce{}, &released{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	consumer := client.NewConsumer(kafka.ConsumerConfig{Group: "g", Topic: topic, Handler: func(int) kafka.Handler { return h }, Metrics: metrics})
	go func() { ended <- consumer.Run(ctx) }()
	eventually(t, 20*time.Second, "the last", func() bool { return h.has("8") })
	cancel()
	if err := <-ended; err != nil || !slices.Equal(h.values, want) {
		t.Errorf("%v are handled, want %v (%v)", h.values, want, err)
	}
	if n := metrics.n.Load(); n != 1 {
		t.Errorf("%d partitions are released", n)
	}
}

// The store of results may lose what it was given after the time that is safe.
func TestAWorkerGoesBackToTheFirstRecordThatIsNotSafe(t *testing.T) {
	c := kafkatest.Start(t, kfake.SeedTopics(1, topic))
	client := kafkatest.Open(t, c, kafka.Config{
		Topics: []string{topic}, Timing: kafka.Timing{Wait: 20 * time.Millisecond, RetryMin: time.Millisecond, RetryMax: 5 * time.Millisecond},
	})
	var mu sync.Mutex
	identity, safe := "A", time.Time{}
	store := func(i string, s time.Time) {
		mu.Lock()
		defer mu.Unlock()
		identity, safe = i, s
	}
	h := &collecting{}
	run(t, client.NewConsumer(kafka.ConsumerConfig{
		Group: "g", Topic: topic, Handler: func(int) kafka.Handler { return h },
		ResultStore: func() (string, time.Time) {
			mu.Lock()
			defer mu.Unlock()
			return identity, safe
		},
	}))
	count := func(n int) {
		t.Helper()
		eventually(t, 20*time.Second, fmt.Sprint(n, " records are handled"), func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.values) >= n
		})
	}
	apart := func() time.Time { // points to go back to are a tenth of a second apart
		if err := pause.For(t.Context(), 250*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	for n, values := range [][]string{{"a", "b"}, {"c", "d"}, {"e", "f"}} {
		produce(t, client, 0, values...)
		count(2 * (n + 1))
		if now := apart(); n == 0 {
			store("A", now)
		}
	}
	store("B", time.Time{})
	count(10)
	h.mu.Lock()
	defer h.mu.Unlock()
	if want := []string{"a", "b", "c", "d", "e", "f", "c", "d", "e", "f"}; !slices.Equal(h.values, want) {
		t.Errorf("%v are handled, want %v", h.values, want)
	}
}
