package chaos_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/internal/pause"
	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// world holds the servers of a test: a Redis, and topics and a group of its own in a Kafka.
type world struct {
	t      *testing.T
	broker string
	redis  string // as BAGTRAIL_REDIS_URL
	name   string // of the raw topic and the group; prefix of the names of the other topics
	client *kafka.Client
	stream *stream
	posts  *posts
	keys   string // as BAGTRAIL_KEYS_FILE=…

	followers *followers
}

func newWorld(t *testing.T, broker, redis string) *world {
	w := &world{t: t, broker: broker, redis: redis, name: servers.Unique(t, "chaos"), keys: keys(t)}
	transport := &kafka.Transport{MetadataTTL: time.Second, DialTimeout: 2 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	w.client = &kafka.Client{Addr: kafka.TCP(broker), Transport: transport, Timeout: 5 * time.Second}
	return w
}

// durable are the settings of a Redis that keeps acknowledged writes when it is killed.
var durable = []string{"appendonly yes", "appendfsync everysec", "maxmemory-policy noeviction", "hash-max-listpack-value 1024"}

// redis starts a Redis for this test alone.
func redis(t *testing.T) *program.Process {
	t.Helper()
	return servers.PrivateRedis(t, durable...)
}

func (w *world) rejects() string { return w.name + ".rejected" }
func (w *world) changes() string { return w.name + ".changes" }
func (w *world) marks() string   { return w.name + ".marks" }

// settings returns the settings for a process on these servers.
func (w *world) settings() []string {
	return []string{
		"BAGTRAIL_REDIS_URL=" + w.redis,
		"BAGTRAIL_KAFKA_BROKERS=" + w.broker,
		"BAGTRAIL_KAFKA_TOPIC=" + w.name,
		"BAGTRAIL_KAFKA_REJECTS_TOPIC=" + w.rejects(),
		"BAGTRAIL_KAFKA_CHANGES_TOPIC=" + w.changes(), "BAGTRAIL_KAFKA_DIRTY_TOPIC=" + w.marks(),
		"BAGTRAIL_KAFKA_GROUP=" + w.name,
		"BAGTRAIL_RETENTION=" + fmt.Sprint(kept), // so that fixed dates are never too old
		"BAGTRAIL_KAFKA_WEBHOOKS_TOPIC=" + w.name + ".webhooks", "BAGTRAIL_WEBHOOK_NETWORKS=127.0.0.0/8",
		"BAGTRAIL_SECRET=" + strings.Repeat("secret", 6),
		"BAGTRAIL_LOG_LEVEL=warn", w.keys,
	}
}

// kept is the retention.
const kept = 100 * 365 * 24 * time.Hour

// process prepares a process of the program without starting it. more are additional settings.
func (w *world) process(command string, more ...string) *service.Service {
	w.t.Helper()
	return service.New(w.t, []string{command}, append(w.settings(), more...)...)
}

// start starts a process and waits until it is ready.
func (w *world) start(command string, more ...string) *service.Service {
	w.t.Helper()
	s := w.process(command, more...)
	s.Up()
	return s
}

// create creates a topic with one setting, before a process does.
func (w *world) create(topic string, partitions int, setting, value string) {
	w.t.Helper()
	res, err := w.client.CreateTopics(servers.Context(w.t), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: topic, NumPartitions: partitions, ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{{ConfigName: setting, ConfigValue: value}},
	}}})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// stillFor is after what time something stands still that is to catch up. How long it takes as a whole
// depends on the load before, and on what the processes share the cores with.
const stillFor = time.Minute

// caughtUp waits until everything is committed that the raw topic holds, and then that the topic of
// marks holds. It fails if a group stands still.
func (w *world) caughtUp() {
	w.t.Helper()
	w.committedAll(w.name, w.name)
	w.committedAll(w.name+"-changes", w.marks())
}

func (w *world) committedAll(group, topic string) {
	w.t.Helper()
	began, first, left := time.Now(), int64(-1), int64(0)
	var last error
	if !whileItMoves(w.t.Context(), 100*time.Millisecond, func(ctx context.Context) (bool, int64) {
		if left, last = w.lag(ctx, group, topic); first < 0 && last == nil {
			first = left
		}
		return last == nil && left == 0, left
	}) {
		w.t.Fatalf("%d records of %s are not committed, and for %v none was: %v", left, topic, stillFor, last)
	}
	w.t.Logf("caught up with %d records of %s in %v", first, topic, time.Since(began).Round(time.Second))
}

// lag returns the number of records of a topic that a group has not committed.
func (w *world) lag(ctx context.Context, group, topic string) (int64, error) {
	ends, err := w.ends(ctx, topic)
	if err != nil {
		return 0, err
	}
	committed, err := w.committed(ctx, group, topic, len(ends))
	if err != nil {
		return 0, err
	}
	var lag int64
	for p, end := range ends {
		lag += end - max(0, committed[p])
	}
	return lag, nil
}

// ready returns status and text of /readyz.
func ready(s *service.Service) (int, string) { return s.TryGet(s.Ops + "/readyz") }

// whileItMoves repeats the condition until it is true. It returns false when what the condition
// counts has not changed for stillFor, or when ctx is over.
func whileItMoves(ctx context.Context, every time.Duration, condition func(context.Context) (done bool, count int64)) bool {
	for last, moved := int64(-1), time.Now(); time.Since(moved) < stillFor; {
		done, count := condition(ctx)
		if done {
			return true
		}
		if count != last {
			last, moved = count, time.Now()
		}
		if !rest(ctx, every) {
			return false
		}
	}
	return false
}

// until repeats the condition until it is true. It returns false when patience or ctx is over.
func until(ctx context.Context, patience, every time.Duration, condition func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return pause.Until(ctx, every, func() bool { return condition(ctx) }) == nil
}

// rest waits. It returns false if ctx ends first.
func rest(ctx context.Context, d time.Duration) bool { return pause.For(ctx, d) == nil }
