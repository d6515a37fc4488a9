package changefeed_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/changefeed"
)

// holding is a listener that takes nothing for a while. Meanwhile its key is revoked.
type holding struct {
	lagging
	mu      sync.Mutex
	revoked bool
	after   int           // changes that it was sent after the revocation
	told    chan struct{} // has an element when a change was flushed
	hold    chan struct{}
	pending bool
}

func (h *holding) Send(event, _ string, _ []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if event == changefeed.EventChange {
		h.pending = true
		if h.revoked {
			h.after++
		}
	}
	return nil
}

func (h *holding) Flush() {
	h.mu.Lock()
	pending := h.pending
	h.pending = false
	h.mu.Unlock()
	if pending {
		h.told <- struct{}{}
		<-h.hold
	}
}

// The beat that finds the revocation is due. Nothing more may be told before it.
func TestAStreamTellsNothingOnceTheBeatThatEndsItIsDue(t *testing.T) {
	w := newWorld(t)
	for i := range 12 {
		r := w.reader(key("*", "*"), changefeed.Filter{})
		l := &holding{told: make(chan struct{}, 9), hold: make(chan struct{})}
		beats, ended := make(chan time.Time, 1), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(ended); w.feed.Stream(ctx, r.asker, r.cursor, l, beats, nil) }()
		w.send(bsm(fmt.Sprintf("07241%05d", i), "LX100", "MUELLER", "ABC123"))
		<-l.told
		l.mu.Lock()
		l.revoked = true
		l.mu.Unlock()
		beats <- time.Time{} // as a time.Ticker: one beat waits
		published := w.feed.Follow(r.asker)
		w.send(bsm(fmt.Sprintf("07242%05d", i), "LX100", "MUELLER", "ABC123"))
		<-published.Changed()
		published.Leave()
		close(l.hold) // the caller reads again
		ends(t, ended)
		cancel()
		if l.after > 0 {
			t.Errorf("stream %d: %d changes were told after a beat was due, to a key that was revoked", i, l.after)
		}
	}
}

// reading is a listener whose key is revoked during a read. A check of the key is due when it ends.
type reading struct {
	lagging
	revoked atomic.Bool
	after   int // changes that it was sent after the revocation
	told    chan struct{}
	checks  chan time.Time
}

func (r *reading) Send(event, _ string, _ []byte) error {
	if event == changefeed.EventChange && r.revoked.Load() {
		r.after++
	} else if event == changefeed.EventChange {
		r.told <- struct{}{}
	}
	return nil
}

func (r *reading) Ask(ctx context.Context) (context.Context, func()) {
	return ctx, func() {
		if r.revoked.Load() {
			r.checks <- time.Time{}
		}
	}
}

// What was read before the check is not told, neither of the index nor of a published change.
func TestAStreamTellsNothingThatWasReadBeforeTheCheckThatEndsIt(t *testing.T) {
	for _, published := range []bool{false, true} {
		w := newWorld(t)
		r := w.reader(key("*", "*"), changefeed.Filter{})
		w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
		l := &reading{told: make(chan struct{}, 9), checks: make(chan time.Time, 9)}
		l.revoked.Store(!published)
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(ended); w.feed.Stream(ctx, r.asker, r.cursor, l, nil, l.checks) }()
		if published {
			<-l.told
			l.revoked.Store(true)
			w.send(bsm("0724100002", "LX100", "MUELLER", "ABC123"))
		}
		ends(t, ended)
		cancel()
		if l.after > 0 {
			t.Errorf("published %t: %d changes were told after the check was due", published, l.after)
		}
	}
}

// narrowing is a listener whose key sees less from a read on. A check of the key is due when it ends.
type narrowing struct {
	listener
	narrow atomic.Bool
}

func (n *narrowing) Renew(context.Context) (*apikey.Key, bool) { return n.key.Load(), true }

func (n *narrowing) Ask(ctx context.Context) (context.Context, func()) {
	return ctx, func() {
		if n.narrow.CompareAndSwap(true, false) {
			n.key.Store(key("BA", "*"))
			n.checks <- time.Time{}
		}
	}
}

// What was read with the old key is not told, neither of the index nor of a published change.
func TestAStreamTellsNothingThatWasReadForAKeyThatSeesLessSince(t *testing.T) {
	for _, published := range []bool{false, true} {
		w := newWorld(t)
		w.tail()
		r := w.reader(key("LX", "*"), changefeed.Filter{})
		l := &narrowing{listener: listener{world: w, events: make(chan event, 9), checks: make(chan time.Time, 1)}}
		l.key.Store(r.asker.Key)
		if !published {
			w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
			l.narrow.Store(true)
		}
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(ended); w.feed.Stream(ctx, r.asker, r.cursor, l, nil, l.checks) }()
		l.next() // the heartbeat
		if published {
			w.send(bsm("0724100002", "LX100", "MUELLER", "ABC123"))
			l.change(l.next())
			l.narrow.Store(true)
			w.send(bsm("0724100001", "LX100", "MUELLER", "ABC123"))
		}
		if e := l.next(); e.name != changefeed.EventReset {
			t.Errorf("published %t: event %s %s", published, e.name, e.data)
		}
		cancel()
		ends(t, ended)
	}
}
