package chaos_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// world is what a test runs its services on: topics and a group of its own in a Kafka, and a Redis.
type world struct {
	t      *testing.T
	broker string
	redis  string // as BAGTRAIL_REDIS_URL
	name   string // of the raw topic and the group; the others' begin with it
	client *kafka.Client
	stream *stream
	posts  *posts
}

func newWorld(t *testing.T, broker, redis string) *world {
	w := &world{t: t, broker: broker, redis: redis, name: servers.Unique(t, "chaos")}
	transport := &kafka.Transport{MetadataTTL: time.Second, DialTimeout: 2 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	w.client = &kafka.Client{Addr: kafka.TCP(broker), Transport: transport, Timeout: 5 * time.Second}
	return w
}

// durable are the settings of a Redis that has again what it has acknowledged, when it was killed.
var durable = []string{"appendonly yes", "appendfsync everysec", "maxmemory-policy noeviction", "hash-max-listpack-value 1024"}

// redis starts a Redis that the test may do anything to.
func redis(t *testing.T) *program.Process {
	t.Helper()
	return servers.PrivateRedis(t, durable...)
}

func (w *world) rejects() string { return w.name + ".rejected" }
func (w *world) events() string  { return w.name + ".events" }

// settings point a process to the world.
func (w *world) settings() []string {
	return []string{
		"BAGTRAIL_REDIS_URL=" + w.redis,
		"BAGTRAIL_KAFKA_BROKERS=" + w.broker,
		"BAGTRAIL_KAFKA_TOPIC=" + w.name,
		"BAGTRAIL_KAFKA_REJECTS_TOPIC=" + w.rejects(),
		"BAGTRAIL_KAFKA_EVENTS_TOPIC=" + w.events(),
		"BAGTRAIL_KAFKA_GROUP=" + w.name,
		"BAGTRAIL_RETENTION=" + fmt.Sprint(kept), // fixed dates never grow too old
		"BAGTRAIL_LOG_LEVEL=warn",
	}
}

// kept is the retention.
const kept = 100 * 365 * 24 * time.Hour

// process prepares a process of the program without starting it; more are settings.
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

// createTopic makes the raw topic with so many partitions, before a process does.
func (w *world) createTopic(partitions int) {
	w.t.Helper()
	res, err := w.client.CreateTopics(servers.Context(w.t), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: w.name, NumPartitions: partitions, ReplicationFactor: 1,
		ConfigEntries: []kafka.ConfigEntry{{ConfigName: "retention.ms", ConfigValue: "-1"}}, // records carry old times
	}}})
	if err == nil {
		err = res.Errors[w.name]
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// caughtUp waits until the group has committed everything that the raw topic holds.
func (w *world) caughtUp(patience time.Duration) {
	w.t.Helper()
	var left int64
	var last error
	if !until(w.t.Context(), patience, 100*time.Millisecond, func(ctx context.Context) bool {
		left, last = w.lag(ctx)
		return last == nil && left == 0
	}) {
		w.t.Fatalf("%d records are not committed after %v: %v", left, patience, last)
	}
}

// lag is how many records of the raw topic the group has not committed.
func (w *world) lag(ctx context.Context) (int64, error) {
	ends, err := w.ends(ctx, w.name)
	if err != nil {
		return 0, err
	}
	committed, err := w.committed(ctx, len(ends))
	if err != nil {
		return 0, err
	}
	var lag int64
	for p, end := range ends {
		lag += end - max(0, committed[p])
	}
	return lag, nil
}

// ready reads /readyz: its status, and its text.
func ready(s *service.Service) (int, string) { return s.TryGet(s.Ops + "/readyz") }

// until asks again and again until the condition holds; false when patience or ctx is over.
func until(ctx context.Context, patience, pause time.Duration, condition func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if condition(ctx) {
			return true
		}
		if !rest(ctx, pause) {
			return false
		}
	}
}

// rest waits; false where ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
