package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// Redis is emptied, and bagtrail replay fills it again. The replay is interrupted (SIGINT), and
// goes on from the positions that it printed.
func TestEverythingIsRebuiltFromTheLog(t *testing.T) {
	needsReal(t)
	n := size()
	index := redis(t)
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+index.Addr)
	s := w.start("serve")
	w.follow(s)
	stream := w.startStream(n.replayed) // in one second, if possible
	stream.allow(n.replayed)
	w.startPosts(n.postRate, s)
	stream.finish(w)
	w.endLoad()

	began := time.Now()
	inside := w.replayInterrupted(dial(t, index.Addr), rand.New(rand.NewPCG(*seed, 4)))
	t.Logf("emptied Redis, and replayed %d messages in %v, with %d interruptions before the end", stream.sent.Load(), time.Since(began).Round(10*time.Millisecond), inside)
	if inside == 0 {
		t.Error("no replay was interrupted before it came to the end of the log")
	}
	w.verify(s)
}

// A master of the cluster dies, and takes with it what it acknowledged in its last second. The doors
// file it again, and the owners tell it again, without an operator. Every second time an owner stands
// still meanwhile (SIGSTOP), and goes on after the failover with what it knew before.
func TestAMasterThatTakesItsLastSecondWithItLosesNothing(t *testing.T) {
	needsReal(t)
	n := size()
	cluster := servers.PrivateCluster(t, durable...)
	w := newWorld(t, servers.Kafka(t).URL, cluster.URL())
	api, still, watch := w.startTwoOwners()
	random := rand.New(rand.NewPCG(*seed, 6))
	for i := range max(2, n.deaths/2) {
		w.aMoment(random, watch)
		if i%2 == 1 {
			still.Signal(syscall.SIGSTOP)
			rest(t.Context(), time.Duration(random.Int64N(int64(time.Second))))
		}
		w.killMaster(cluster, watch, time.Second)
		still.Signal(syscall.SIGCONT)
	}
	w.endLoad()
	t.Logf("cluster: %d messages by Kafka", w.stream.sent.Load())
	w.check(watch)
	w.verify(api)
}

// A master of the cluster dies, and takes with it more than the doors file again. The log is replayed
// from an earlier time.
func TestReplayRestoresWhatAKilledMasterLost(t *testing.T) {
	needsReal(t)
	n := size()
	cluster := servers.PrivateCluster(t, durable...)
	w := newWorld(t, servers.Kafka(t).URL, cluster.URL())
	s := w.start("serve")
	watch := w.load(s)
	random := rand.New(rand.NewPCG(*seed, 5))
	for range max(1, n.deaths/2) {
		w.aMoment(random, watch)
		before := time.Now().Add(-10 * time.Second)
		w.killMaster(cluster, watch, 8*time.Second)
		w.replay("--from", before.UTC().Format(time.RFC3339)) // the time of POSTs
	}
	w.endLoad()
	// The records of the stream have the times of its journeys: only the beginning is certainly
	// before the kill.
	began := time.Now()
	w.replay()
	t.Logf("cluster: %d messages by Kafka, replayed in %v", w.stream.sent.Load(), time.Since(began).Round(10*time.Millisecond))
	w.check(watch)
	w.verify(s)
}

// killMaster kills a master under load, with all that it acknowledged in the time before: its replica
// is killed so much earlier, and started again when the master is dead. When the replica has taken
// over, the master is started.
func (w *world) killMaster(cluster *program.Cluster, watch *watch, lost time.Duration) {
	w.t.Helper()
	ctx := servers.Context(w.t)
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	master, err := cluster.Master(ctx)
	must(err)
	replica, err := cluster.Replica(ctx, master)
	must(err)
	must(replica.Kill())
	rest(ctx, lost)
	must(master.Kill())
	died := time.Now()
	must(replica.Start(ctx))
	must(cluster.AwaitFailover(ctx, master))
	w.t.Logf("a master was killed with its last %v; its replica took over %v later", lost, time.Since(died).Round(10*time.Millisecond))
	w.goesOn(watch)
	if since := time.Since(died); since > 20*time.Second {
		w.t.Errorf("commits again %v after the master died", since)
	}
	must(master.Start(ctx))
	must(cluster.AwaitWhole(ctx))
}

// replays is the timeout of a replay of the whole log, at full size on a slow machine.
const replays = 10 * time.Minute

// replay runs bagtrail replay to its end.
func (w *world) replay(args ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), replays)
	defer cancel()
	out, errs, code := service.Run(ctx, w.t, "", append([]string{"replay"}, args...), w.settings()...)
	if code != 0 && code != 1 { // 1: the log holds malformed messages
		w.t.Fatalf("replay %v: exit code %d\n%s%s", args, code, out, errs)
	}
}

// positions matches the positions that an interrupted replay prints.
var positions = regexp.MustCompile(`--from ([0-9:,]+)`)

// replayInterrupted empties Redis and runs bagtrail replay. It stops it three times by SIGINT, each
// time when it has filed a random part of the keys that Redis had, continues from its positions,
// and at last lets it finish. It returns how many interruptions came before the end of the log.
func (w *world) replayInterrupted(index *goredis.Client, random *rand.Rand) (inside int) {
	w.t.Helper()
	ctx := w.t.Context()
	held := index.DBSize(ctx).Val()
	if err := index.FlushAll(ctx).Err(); err != nil {
		w.t.Fatal(err)
	}
	var ends []string
	for p, end := range w.endsNow(w.name) {
		ends = append(ends, fmt.Sprintf("%d:%d", p, end))
	}
	from := "earliest"
	for i := range 4 {
		s := service.New(w.t, []string{"replay", "--from", from}, w.settings()...)
		enough := index.DBSize(ctx).Val() + held*(10+random.Int64N(15))/100
		s.Launch()
		if i < 3 {
			s.Until(replays, func() bool { return index.DBSize(ctx).Val() >= enough })
			s.Signal(syscall.SIGINT)
		}
		code := s.Wait(replays)
		found := positions.FindStringSubmatch(s.Log())
		switch {
		case found == nil && (code == 0 || code == 1):
			return inside
		case found == nil && (code == 3 || code == -1):
			continue // it was stopped before it began
		case found == nil:
			w.t.Fatalf("replay --from %s: exit code %d, and no positions:\n%s", from, code, s.Log())
		case found[1] != strings.Join(ends, ","):
			inside++
		}
		w.t.Logf("interrupted: %s", strings.TrimSpace(s.Log()))
		from = found[1]
	}
	w.t.Fatal("replay does not come to its end")
	return 0
}

// dial connects to a Redis until the test ends.
func dial(t *testing.T, addr string) *goredis.Client {
	t.Helper()
	c, err := program.DialRedis(servers.Context(t), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
