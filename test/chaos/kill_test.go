package chaos_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

// The one process that does everything is killed again and again while messages stream in.
func TestAKilledServiceLosesNothing(t *testing.T) {
	killedInTurn(t, size().deaths, "serve")
}

// The process that files and the one that answers are killed in turn while messages stream in.
func TestAKilledIngestOrAPILosesNothing(t *testing.T) {
	killedInTurn(t, size().kills, "ingest", "api")
}

// killedInTurn starts a process for each command, and kills one after the other under load. The last
// one answers.
func killedInTurn(t *testing.T, kills int, commands ...string) {
	needsReal(t)
	n := size()
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+redis(t).Addr)
	processes := make([]*service.Service, len(commands))
	for i, command := range commands {
		processes[i] = w.start(command)
	}
	answers := processes[len(processes)-1]
	w.follow(answers)
	watch := w.watchGroup()
	each := n.messages / n.kills
	stream := w.startStream(max(each/4, 20)) // longer than a restart takes, so that the stream flows at any time of a kill
	w.startPosts(n.postRate, answers)
	random := rand.New(rand.NewPCG(*seed, 1))
	began := time.Now()
	for i := range kills {
		stream.allow(each)
		w.aMoment(random, watch)
		killed := processes[i%len(processes)]
		killed.Kill()
		killed.Up()
	}
	stream.finish(w)
	w.endLoad()
	t.Logf("kill -9 of %s: %d times in %v while %d messages came by Kafka (seed %d)",
		strings.Join(commands, " and "), kills, time.Since(began).Round(time.Second), stream.sent.Load(), *seed)
	w.check(watch)
	w.verify(answers)
}

// aMoment waits for a time to kill: in three of four cases while the group commits, else at any
// time of the start.
func (w *world) aMoment(random *rand.Rand, watch *watch) {
	if random.IntN(4) > 0 {
		was := watch.sum()
		until(w.t.Context(), 15*time.Second, 20*time.Millisecond, func(context.Context) bool { return watch.sum() > was })
	}
	rest(w.t.Context(), time.Duration(random.Int64N(int64(2*time.Second))))
}

// The only broker is killed and comes back.
func TestAKilledBrokerLosesNothing(t *testing.T) {
	needsReal(t)
	kafka := servers.PrivateKafka(t)
	w := newWorld(t, kafka.Addr, "redis://"+redis(t).Addr)
	w.serverKilled(kafka)
}

// A Redis with an append-only file, written to disk every second, is killed and comes back.
func TestAKilledRedisLosesNothing(t *testing.T) {
	needsReal(t)
	index := redis(t)
	w := newWorld(t, servers.Kafka(t).URL, "redis://"+index.Addr)
	w.serverKilled(index)
}

// serverKilled kills a server again and again under load, and restarts it.
func (w *world) serverKilled(server *program.Process) {
	w.t.Helper()
	n := size()
	s := w.start("serve")
	watch := w.load(s)
	random := rand.New(rand.NewPCG(*seed, 2))
	began := time.Now()
	for range n.deaths {
		w.aMoment(random, watch)
		if err := server.Kill(); err != nil {
			w.t.Fatal(err)
		}
		rest(w.t.Context(), time.Duration(random.Int64N(int64(2*time.Second))))
		if err := server.Start(servers.Context(w.t)); err != nil {
			w.t.Fatal(err)
		}
		w.goesOn(watch)
	}
	w.endLoad()
	w.t.Logf("kill -9 of %s: %d times in %v while %d messages came by Kafka (seed %d)",
		server.Name, n.deaths, time.Since(began).Round(time.Second), w.stream.sent.Load(), *seed)
	w.check(watch)
	w.verify(s)
}

// goesOn waits until the group commits again.
func (w *world) goesOn(watch *watch) {
	w.t.Helper()
	was, began := watch.sum(), time.Now()
	if !until(w.t.Context(), time.Minute, 20*time.Millisecond, func(context.Context) bool { return watch.sum() > was }) {
		w.t.Fatal("nothing is committed a minute after the server is back")
	}
	w.t.Logf("commits again %v after the server is back", time.Since(began).Round(10*time.Millisecond))
}
