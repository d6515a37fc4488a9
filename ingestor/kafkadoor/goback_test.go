package kafkadoor_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/trail"
)

// naming is who an index is.
type naming struct {
	number atomic.Uint64
	away   atomic.Bool
	asked  atomic.Int64
}

func (n *naming) identity(context.Context) (string, error) {
	defer n.asked.Add(1)
	if n.away.Load() {
		return "", errAway
	}
	return fmt.Sprint("index-", n.number.Load()), nil
}

// forgetfulWorld is a world whose index may lose what it took within the window.
func forgetfulWorld(t *testing.T, window time.Duration) (*world, *naming) {
	w, n := newWorld(t, 2), &naming{}
	w.conf.Identity, w.conf.LossWindow = n.identity, window
	w.open()
	return w, n
}

// replaceIndex puts an empty index in the place of the index.
func (w *world) replaceIndex(n *naming) {
	w.index.lose()
	n.number.Add(1)
}

// waitAsked waits until the index has been asked twice more, so that one of the questions began
// after the call.
func (w *world) waitAsked(n *naming) {
	before := n.asked.Load()
	w.eventually("the index is asked", func() bool { return n.asked.Load() >= before+2 })
}

func TestWhatTheIndexMayHaveLostIsHandledAgainAndNoOffsetMovesBack(t *testing.T) {
	w, n := forgetfulWorld(t, time.Minute)
	w.produce(0, records(0, 20)...)
	w.produce(1, records(20, 20)...)
	w.consume()
	w.waitCommitted(40)
	again := w.metrics.redelivered.Load()
	w.replaceIndex(n)
	w.eventually("all is in the index again", func() bool { return w.index.plates() == 40 })
	w.wantFiled(40)
	w.eventually("all are counted", func() bool { return w.metrics.redelivered.Load()-again == 40 })
	if got := w.committed(); got[0] != 20 || got[1] != 20 {
		t.Errorf("committed %v", got)
	}
	w.produce(0, records(40, 1)...)
	w.waitCommitted(41)
}

func TestWhatTheIndexIsSureToKeepIsNotHandledAgain(t *testing.T) {
	const window = 20 * time.Millisecond
	w, n := forgetfulWorld(t, window)
	w.produce(0, records(0, 20)...)
	w.consume()
	w.waitCommitted(20)
	w.waitAsked(n) // a question is more than the window later
	w.waitAsked(n)
	n.number.Add(1)
	w.waitAsked(n)
	w.produce(0, records(20, 1)...)
	w.waitCommitted(21)
	if got := w.metrics.redelivered.Load(); got != 0 {
		t.Errorf("%d records were handled again", got)
	}
}

// The index answers as the same one, but it may still lose what it took within the window.
func TestNothingIsSafeBeforeTheLossWindowIsOver(t *testing.T) {
	w, n := forgetfulWorld(t, time.Minute)
	w.produce(0, records(0, 20)...)
	w.consume()
	w.waitCommitted(20)
	w.waitAsked(n)
	w.produce(0, records(20, 1)...)
	w.waitCommitted(21)
	w.replaceIndex(n)
	w.eventually("all is in the index again", func() bool { return w.index.plates() == 21 })
	w.wantFiled(21)
}

func TestWhileTheIndexDoesNotAnswerNothingMoreIsSafe(t *testing.T) {
	w, n := forgetfulWorld(t, 20*time.Millisecond)
	w.consume()
	w.waitAsked(n)
	n.away.Store(true)
	w.waitAsked(n)
	w.produce(0, records(0, 20)...)
	w.waitCommitted(20)
	w.waitAsked(n)
	w.replaceIndex(n)
	n.away.Store(false)
	w.eventually("all is in the index again", func() bool { return w.index.plates() == 20 })
}

// The index is replaced while no process reads the topic.
func TestTheNextOwnerHandlesAgainWhatTheIndexMayHaveLostBefore(t *testing.T) {
	w, n := forgetfulWorld(t, time.Minute)
	w.produce(0, records(0, 5)...)
	stop := w.consume()
	w.waitCommitted(5)
	stop()
	stop = w.consume() // a rebalance alone repeats nothing
	w.produce(0, records(5, 5)...)
	w.waitCommitted(10)
	stop()
	if got := w.metrics.accepted.Load(); got != 10 || w.metrics.duplicate.Load() != 0 {
		t.Errorf("%d accepted, %d duplicate, want 10 accepted", got, w.metrics.duplicate.Load())
	}
	w.replaceIndex(n)
	w.consume()
	w.eventually("all is in the index again", func() bool { return w.index.plates() == 10 })
	w.wantFiled(10)
}

// No record comes after those that became safe, so no later offset says that they are.
func TestTheNextOwnerHandlesNothingAgainThatWasSafeBefore(t *testing.T) {
	w, n := forgetfulWorld(t, 20*time.Millisecond)
	w.produce(0, records(0, 20)...)
	stop := w.consume()
	w.waitCommitted(20)
	w.waitAsked(n) // a question is more than the window later
	w.waitAsked(n)
	_ = pause.For(t.Context(), 500*time.Millisecond) // the worker is idle, and says that all is safe
	stop()
	n.number.Add(1)
	stop = w.consume()
	w.waitAsked(n)
	w.produce(0, records(20, 1)...)
	w.waitCommitted(21)
	stop()
	if got := w.metrics.duplicate.Load(); got != 0 {
		t.Errorf("%d records were handled again", got)
	}
}

func TestARebuildBeginsAgainIfTheIndexMayHaveLostWrites(t *testing.T) {
	const window = 200 * time.Millisecond
	w, n := forgetfulWorld(t, window)
	w.produce(0, records(0, 300)...)
	for i, after := range []time.Duration{0, window / 4} { // also after everything was filed
		lose := sync.OnceFunc(func() {
			if after == 0 {
				w.replaceIndex(n)
			} else {
				time.AfterFunc(after, func() { w.replaceIndex(n) })
			}
		})
		progress, err := w.door.Rebuild(t.Context(), watched{w.rebuilder(), func(*ingestor.Batch) { lose() }}, kafka.Start{}, nil)
		if losses := n.number.Load(); err != nil || progress.Messages != 300 || losses != uint64(i+1) {
			t.Errorf("progress %+v, error %v, after %d losses", progress, err, losses)
		}
		w.wantFiled(300)
	}

	w.index.setFail(true)
	ctx, cancel := context.WithCancel(t.Context())
	lose := sync.OnceFunc(func() { n.number.Add(1); cancel() })
	if progress, err := w.door.Rebuild(ctx, watched{w.rebuilder(), func(*ingestor.Batch) { lose() }}, kafka.Start{}, nil); err == nil || progress.Offsets != nil {
		t.Errorf("offsets to go on with after a loss: %v, error %v", progress.Offsets, err)
	}
}

// A Redis is killed and comes back without what it took last.
func TestWhatAKilledRedisHadTakenLastIsFiledAgain(t *testing.T) {
	server := redistest.StartServer(t)
	client := redistest.Open(t, server.URL(""))
	store, err := bagstore.Open(client, bagstore.Config{Retention: 20 * 365 * 24 * time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	w := newWorld(t, 2)
	w.conf.Identity = client.Identity
	w.open()
	conf := w.acceptorConf()
	conf.Index = store.Writer()
	w.run(w.door.NewConsumer(ingestor.NewAcceptor(conf), w.metrics))
	filed := func() int64 {
		return w.metrics.accepted.Load() + w.metrics.duplicate.Load() - w.metrics.redelivered.Load()
	}
	const n = 100
	for i := range n {
		w.produce(i%2, records(i, 1)...)
		if i != n/2 {
			continue
		}
		w.eventually("half is filed", func() bool { return filed() == n/2+1 })
		if err := server.Client(t).Save(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually("all is filed", func() bool { return filed() == n })
	server.Kill(t)
	server.Start(t)
	var plates []bag.Plate
	for i := range n {
		plates = append(plates, plate(i))
	}
	w.eventually("every message is in the index once", func() bool {
		now, err := store.Reader().Read(t.Context(), trail.Wanted{PlateMessages: plates})
		return err == nil && !slices.ContainsFunc(now.PlateMessages, func(h trail.Held) bool {
			messages, _ := h.Messages()
			return len(messages) != 1
		})
	})
}
