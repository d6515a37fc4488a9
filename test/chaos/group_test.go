package chaos_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"bagtrail/test/servers"
	"bagtrail/test/service"
)

// Two to four ingest processes share sixteen partitions. Every two seconds one comes or goes.
func TestProcessesMayJoinAndLeaveAtAnyTime(t *testing.T) {
	needsReal(t)
	n := size()
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+redis(t).Addr)
	w.create(w.name, 16, "retention.ms", "-1") // records have old timestamps
	api := w.start("api")
	crew := &crew{w: w}
	crew.join()
	crew.join()
	watch := w.load(api)
	w.goesOn(watch)
	random := rand.New(rand.NewPCG(*seed, 3))
	changes := 0
	for began := time.Now(); time.Since(began) < n.shuffle; changes++ {
		if len(crew.at) < 3 || len(crew.at) < 4 && random.IntN(2) == 0 {
			crew.join()
		} else {
			crew.leave(random.IntN(len(crew.at)))
		}
		rest(t.Context(), 2*time.Second)
	}
	w.endLoad()
	crew.wg.Wait()
	for len(crew.at) > 0 {
		crew.leave(0)
	}
	crew.wg.Wait()
	t.Logf("%d times a process joined or left in %v: %d messages by Kafka; at least %.0f records were decided on, %.0f of them by a process that had handled them before",
		changes, n.shuffle, w.stream.sent.Load(), crew.decided, crew.again)
	w.check(watch)
	w.verify(api)
}

// crew holds the running ingest processes.
type crew struct {
	w       *world
	at      []*service.Service
	wg      sync.WaitGroup
	mu      sync.Mutex
	decided float64
	again   float64
}

// join starts a process, without waiting.
func (c *crew) join() {
	s := c.w.process("ingest")
	s.Launch()
	c.at = append(c.at, s)
}

// leave ends a process with a drain, while the others go on.
func (c *crew) leave(i int) {
	s := c.at[i]
	c.at = append(c.at[:i], c.at[i+1:]...)
	decided, again := s.Metric("bagtrail_messages_total"), s.Metric("bagtrail_kafka_redelivered_records_total")
	c.wg.Go(func() {
		if code := s.Stop(); code != 0 {
			c.w.t.Errorf("an ingest process ended with exit code %d", code)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decided += decided
	c.again += again
}
