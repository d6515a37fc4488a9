package webhooks_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/webhooks"
)

// A webhook was made by http while BAGTRAIL_WEBHOOK_NETWORKS was set, for a trial. The setting is gone.
func TestAWebhookThatWasMadeByHTTPIsNotPostedWithoutTheSetting(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(1)
		w.store.Definition.URL = "http://receiver.example/" // the guard of the world allows no networks
	}, func(t *testing.T, w *world) {
		sleep(time.Minute)
		if err := w.CheckURL(w.store.Definition.URL); err == nil {
			t.Fatal("the URL is allowed")
		}
		for _, a := range w.receiver.attempts() {
			t.Errorf("bags are posted in clear: %s", a.body)
		}
	})
}

// slowFeed is a feed whose reading takes a while.
type slowFeed struct {
	*feed
	reading func()
}

func (f *slowFeed) Next(ctx context.Context, a changefeed.Asker, c changes.Cursor, l changefeed.Limits) (changefeed.Batch, error) {
	b, err := f.feed.Next(ctx, a, c, l)
	f.reading()
	return b, err
}

// What the customer or the operator does while a batch is read counts for it: nothing of it was posted yet.
func TestNothingIsPostedAfterADeletionOrAPauseThatCameWhileTheBatchWasRead(t *testing.T) {
	for what, do := range map[string]func(w *world){
		"a deletion": func(w *world) { w.store.Change(func(d *webhooks.Definition) { d.ID = "deleted" }) },
		"a pause":    func(w *world) { w.store.Change(func(d *webhooks.Definition) { d.Paused = true }) },
		"another URL": func(w *world) {
			w.store.Change(func(d *webhooks.Definition) { d.URL = "https://other.example/"; d.Paused = true })
		},
		"a revocation of the key": func(w *world) {
			key, _ := w.keys.Named("demo", time.Now())
			revoked := *key
			revoked.Revoked = true
			w.keys.set(revoked)
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil, func(w *world, conf *webhooks.Config) {
					conf.Feed = &slowFeed{w.feed, func() { <-time.After(2 * time.Second) }} // as long as changefeed reads
				})
				w.feed.tell(1)
				w.send(t)
				sleep(time.Second)
				do(w)
				sleep(time.Minute)
				if n := len(w.receiver.attempts()); n != 0 {
					t.Errorf("%d posts, the first %v after %s was answered", n, w.receiver.attempts()[0].at.Sub(w.store.Definition.Created)-time.Second, what)
				}
			})
		})
	}
}

// The receiver at the old URL of a webhook that has moved says that it is gone.
func TestAnAnswer410OfAURLThatWasReplacedMeanwhilePausesNothing(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(1)
		w.receiver.answer = func(n int, _ []string) *http.Response {
			if n > 0 {
				return nil
			}
			<-time.After(time.Second)
			w.store.Change(func(d *webhooks.Definition) { d.URL = "https://other.example/" })
			return answer(410)
		}
	}, func(t *testing.T, w *world) {
		sleep(time.Minute)
		if n, p := len(w.receiver.attempts()), w.store.Position(); n != 2 || p.Pause != nil || p.Failing != nil {
			t.Errorf("%d attempts, %+v", n, p)
		}
	})
}

// One customer has its webhooks begin 72 hours ago, with filters that select little. Each batch then reads
// for two seconds and may tell nothing. The webhook of another customer must not wait for that.
func TestWebhooksThatReadMuchHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, func(w *world, conf *webhooks.Config) { conf.Feed = &busyFeed{w.feed} })
		for i := range webhooks.MaxOfCustomer {
			d := w.store.Definition
			d.ID, d.Customer = fmt.Sprintf("wh_busy%d", i), "DEMO"
			d.Filter = changefeed.Filter{Plates: []bag.Plate{"0220000001"}}
			w.sendFor(t, &webhooks.MapStore{Changed: make(chan struct{}), Definition: d})
		}
		w.store.Definition.Customer, w.store.Definition.Key = "OTHER", "other"
		w.send(t)
		sleep(time.Minute)
		var longest time.Duration
		for range 20 {
			before, began := len(w.receiver.attempts()), time.Now()
			w.feed.tell(1)
			for len(w.receiver.attempts()) == before {
				sleep(10 * time.Millisecond)
			}
			longest = max(longest, time.Since(began))
			sleep(time.Second)
		}
		if longest > time.Second {
			t.Errorf("a change is posted after %v", longest)
		}
	})
}

// busyFeed tells a filter of plates nothing, reads for two seconds, and always has more.
type busyFeed struct{ *feed }

func (f *busyFeed) Next(ctx context.Context, a changefeed.Asker, c changes.Cursor, l changefeed.Limits) (changefeed.Batch, error) {
	if len(a.Filter.Plates) == 0 {
		return f.feed.Next(ctx, a, c, l)
	}
	<-time.After(2 * time.Second) // changefeed.maxTime
	return changefeed.Batch{Cursor: c, More: true}, nil
}

// One process answers a deletion while another changes the webhook. The deletion must not be undone: the
// customer was told that the webhook is gone.
func TestADeletedWebhookDoesNotComeBackByAChangeAtAnotherProcess(t *testing.T) {
	w, client := serve(t)
	made := w.create(t, "demo")
	w.feed.tell(3)
	until(t, "posted", func() bool { return len(w.receiver.attempts()) == 1 })
	until(t, "the position is written", func() bool {
		got, _, err := w.Get(t.Context(), "DEMO", made.ID)
		return err == nil && got.At.Cursor != ""
	})
	other := newWorld(t, client)
	other.start(t)
	_, ok, err := w.Change(t.Context(), "DEMO", made.ID, func(d *webhooks.Definition) {
		d.Description = "new"
		if deleted, err := other.Delete(t.Context(), "DEMO", made.ID); err != nil || !deleted {
			t.Errorf("deleted: %t, %v", deleted, err)
		}
	})
	if ok || err != nil {
		t.Errorf("the change of a deleted webhook: %t, %v", ok, err)
	}
	list, err := other.List(t.Context(), "DEMO")
	if err != nil || len(list) != 0 {
		t.Errorf("after the deletion was answered: %d webhooks, %v", len(list), err)
	}
	fresh := newWorld(t, client) // a process that has seen nothing of it
	fresh.start(t)
	if list, err := fresh.List(t.Context(), "DEMO"); err != nil || len(list) != 0 {
		t.Errorf("for a process that starts later: %d webhooks, %v", len(list), err)
	}
	if got := append(w.receiver.attempts()[1:], other.receiver.attempts()...); len(got) != 0 {
		t.Errorf("posted after the deletion, again from its beginning: %q", got[0].plates)
	}
}
