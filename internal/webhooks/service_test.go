package webhooks_test

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

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"bagtrail/internal/apikey"
	"bagtrail/internal/kafka"
	"bagtrail/internal/kafka/kafkatest"
	"bagtrail/internal/pause"
	"bagtrail/internal/webhooks"
)

// newClient returns a client of a broker, on which it makes the topic of webhooks.
func newClient(t *testing.T, cluster *kfake.Cluster) *kafka.Client {
	t.Helper()
	client := kafkatest.Open(t, cluster, kafka.Config{
		Topics: []string{topic},
		Timing: kafka.Timing{Wait: 50 * time.Millisecond, RetryMin: 4 * time.Millisecond, RetryMax: 20 * time.Millisecond, Stall: 300 * time.Millisecond},
	})
	if err := client.EnsureTopics(t.Context(), kafka.Topic{Name: topic, Partitions: 3, Compacted: true}); err != nil {
		t.Fatal(err)
	}
	return client
}

// serve returns a world whose service runs on a broker with an empty topic, and a client of that.
func serve(t *testing.T) (*world, *kafka.Client) {
	t.Helper()
	client := newClient(t, kafkatest.Start(t))
	w := newWorld(t, client)
	w.start(t)
	return w, client
}

// start runs the service of a world, and returns a function that stops it.
func (w *world) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		reading, stop := context.WithCancel(context.WithoutCancel(ctx))
		var table sync.WaitGroup
		table.Go(func() { _ = w.Read(reading) }) // returns nil
		err := w.Run(ctx)
		stop()
		table.Wait()
		done <- err
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// until waits until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if pause.Until(ctx, 5*time.Millisecond, holds) != nil {
		t.Fatalf("%s: not within 20 s", what)
	}
}

func (w *world) create(t *testing.T, key string) webhooks.Webhook {
	t.Helper()
	made, given, err := w.Create(t.Context(), w.asker(t, key), "https://receiver.example/", "")
	if err != nil || given != webhooks.DeriveSecret(installation, made.ID, 1) {
		t.Fatalf("%+v %s %v", made, given, err)
	}
	return made
}

func TestAnotherProcessGoesOnWhereTheOneBeforeStopped(t *testing.T) {
	client := newClient(t, kafkatest.Start(t))
	w := newWorld(t, client)
	stop := w.start(t)
	w.feed.tell(7) // before it was made
	made := w.create(t, "demo")
	w.feed.tell(5)
	until(t, "the position is written", func() bool {
		got, ok, err := w.Get(t.Context(), "DEMO", made.ID)
		return err == nil && ok && got.At.Cursor != ""
	})
	stop()
	w.feed.tell(14)
	w.Service = w.service(client)
	w.start(t)
	until(t, "posted by the other process", func() bool { return len(w.receiver.attempts()) > 1 })
	var got []string
	for _, a := range w.receiver.attempts() {
		got = append(got, a.plates...)
	}
	if want := ascending(26)[7:]; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Otherwise it would post again what the owner before has posted. The alert on retries needs an error
// every ten seconds.
func TestAnOwnerPostsNothingBeforeItHasReadTheTopic(t *testing.T) {
	t.Parallel()
	w, client := serve(t)
	w.create(t, "demo")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := w.service(client).TakeOver(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil { // it does not run
		t.Errorf("error %v", err)
	}
}

func TestACustomerSeesOnlyItsOwnWebhooks(t *testing.T) {
	w, _ := serve(t)
	ctx, mine := t.Context(), w.create(t, "demo")
	if list, err := w.List(ctx, "DEMO"); err != nil || len(list) != 1 || list[0].ID != mine.ID {
		t.Errorf("own: %+v %v", list, err)
	}
	if list, err := w.List(ctx, "OTHER"); err != nil || len(list) != 0 {
		t.Errorf("of another: %+v %v", list, err)
	}
	_, found, err := w.Get(ctx, "OTHER", mine.ID)
	_, changed, err2 := w.Change(ctx, "OTHER", mine.ID, func(d *webhooks.Definition) { d.Paused = true })
	_, rotated, err3 := w.Rotate(ctx, "OTHER", mine.ID)
	deleted, err4 := w.Delete(ctx, "OTHER", mine.ID)
	if err := errors.Join(err, err2, err3, err4); err != nil || found || changed || rotated || deleted {
		t.Errorf("found %t, changed %t, rotated %t, deleted %t, %v", found, changed, rotated, deleted, err)
	}
	if deleted, err := w.Delete(ctx, "DEMO", mine.ID); err != nil || !deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	if _, found, err := w.Get(ctx, "DEMO", mine.ID); err != nil || found {
		t.Errorf("after it was deleted: %t %v", found, err)
	}
	w.feed.tell(1)
	again := w.create(t, "demo")
	w.feed.tell(1)
	until(t, "posted", func() bool { return len(w.receiver.attempts()) > 0 })
	if got := w.receiver.attempts()[0].plates; again.ID == mine.ID || !slices.Equal(got, []string{"0000000001"}) {
		t.Errorf("a deleted webhook was posted: %q", got)
	}
}

// The time of a change lets its owner try a failing webhook at once.
func TestAChangeOfAWebhookHasItsTime(t *testing.T) {
	w, _ := serve(t)
	made := w.create(t, "demo")
	changed, ok, err := w.Change(t.Context(), "DEMO", made.ID, func(d *webhooks.Definition) { d.Changed = time.Time{} })
	if err != nil || !ok || changed.Changed.Before(made.Created) {
		t.Errorf("changed at %v, %t, %v", changed.Changed, ok, err)
	}
	if kept, _, err := w.Get(t.Context(), "DEMO", made.ID); err != nil || !kept.Changed.Equal(changed.Changed) {
		t.Errorf("kept: changed at %v, want %v, %v", kept.Changed, changed.Changed, err)
	}
}

// Otherwise a customer may be given a secret that never signs.
func TestChangesByTwoProcessesAtTheSameMomentBothCount(t *testing.T) {
	w, client := serve(t)
	ctx, other, made := t.Context(), otherProcess(t, client), w.create(t, "demo")
	calls := 0
	changed, ok, err := other.Change(ctx, "DEMO", made.ID, func(d *webhooks.Definition) {
		if calls++; calls == 1 {
			if _, ok, err := w.Rotate(ctx, "DEMO", made.ID); err != nil || !ok {
				t.Errorf("rotated %t, %v", ok, err)
			}
		}
		d.Description = "changed"
	})
	if err != nil || !ok || calls != 2 || changed.Secret != 2 || changed.Description != "changed" {
		t.Errorf("%d calls, %+v, %t, %v", calls, changed.Definition, ok, err)
	}
	if kept, _, err := w.Get(ctx, "DEMO", made.ID); err != nil || kept.Secret != 2 || kept.Description != "changed" {
		t.Errorf("kept %+v, %v", kept.Definition, err)
	}
}

// The process stops: it posts no more, but still serves requests.
func TestAWebhookIsChangedThoughTheProcessPostsNoMore(t *testing.T) {
	w := newWorld(t, newClient(t, kafkatest.Start(t)))
	reading, stop := context.WithCancel(t.Context())
	var table sync.WaitGroup
	table.Go(func() { _ = w.Read(reading) }) // returns nil
	t.Cleanup(func() { stop(); table.Wait() })
	made := w.create(t, "demo")
	if _, ok, err := w.Change(t.Context(), "DEMO", made.ID, func(d *webhooks.Definition) { d.Paused = true }); err != nil || !ok {
		t.Errorf("changed: %t, %v", ok, err)
	}
}

func TestACallWaitsForAnotherNoLongerThanItsContext(t *testing.T) {
	w, _ := serve(t)
	var err error
	w.feed.meanwhile = func() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err = w.Delete(ctx, "DEMO", "wh_1")
	}
	w.create(t, "demo")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call beside one that takes long: %v", err)
	}
}

func TestACustomerHasAtMostTwentyWebhooks(t *testing.T) {
	w, _ := serve(t)
	for range webhooks.MaxOfCustomer {
		w.create(t, "demo")
	}
	if _, _, err := w.Create(t.Context(), w.asker(t, "demo"), "https://receiver.example/", ""); !errors.Is(err, webhooks.ErrTooMany) {
		t.Errorf("the one behind the last: %v", err)
	}
	w.create(t, "other")
}

// createUnread begins to create a webhook, and returns once its definition is written. Nobody reads it
// back until the service is started. made has the result.
func (w *world) createUnread(ctx context.Context, t *testing.T, client *kafka.Client) (made <-chan error) {
	t.Helper()
	asker, done := w.asker(t, "demo"), make(chan error, 1)
	go func() {
		_, _, err := w.Create(ctx, asker, "https://receiver.example/", "")
		done <- err
	}()
	until(t, "the definition is written", func() bool {
		spans, _ := client.Bounds(ctx, topic)
		return slices.ContainsFunc(spans, func(s kafka.Span) bool { return s.To > 0 })
	})
	return done
}

// untilNoneIsLeft waits until demo has no webhook.
func (w *world) untilNoneIsLeft(t *testing.T) {
	t.Helper()
	until(t, "no webhook is left", func() bool {
		list, err := w.List(t.Context(), "DEMO")
		return err == nil && len(list) == 0
	})
}

// The definition is written, but nobody reads it back in time.
func TestAWebhookWhoseCreationFailsIsDeleted(t *testing.T) {
	client := newClient(t, kafkatest.Start(t))
	w := newWorld(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	made := w.createUnread(ctx, t, client)
	cancel()
	if err := <-made; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	w.start(t)
	w.untilNoneIsLeft(t)
}

func TestAWebhookWhoseCreationFailsIsDeletedOnceKafkaTakesWritesAgain(t *testing.T) {
	cluster := kafkatest.Start(t)
	client := newClient(t, cluster)
	w := newWorld(t, kafkatest.Open(t, cluster, kafka.Config{
		Topics: []string{topic},
		Timing: kafka.Timing{Wait: 50 * time.Millisecond, RetryMin: 4 * time.Millisecond, RetryMax: 20 * time.Millisecond, Produce: 200 * time.Millisecond},
	}))
	var away atomic.Bool
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if away.Load() {
			return nil, errors.New("closes the connection"), true
		}
		return nil, nil, false
	})
	ctx, cancel := context.WithCancel(t.Context())
	made := w.createUnread(ctx, t, client)
	away.Store(true)
	cancel()
	if err := <-made; err == nil {
		t.Fatal("no error")
	}
	if err := pause.For(t.Context(), time.Second); err != nil { // longer than one write is tried
		t.Fatal(err)
	}
	away.Store(false)
	w.start(t)
	w.untilNoneIsLeft(t)
}

// otherProcess runs the service of a process whose webhooks have the id wh_other.
func otherProcess(t *testing.T, client *kafka.Client) *world {
	t.Helper()
	other := newWorld(t, client, func(_ *world, conf *webhooks.Config) { conf.NewID = func() string { return "wh_other" } })
	other.start(t)
	return other
}

// The last room is taken by another process after this one has found it.
func TestACustomerHasAtMostTwentyWebhooksThoughTwoProcessesMakeThem(t *testing.T) {
	w, client := serve(t)
	for range webhooks.MaxOfCustomer - 1 {
		w.create(t, "demo")
	}
	other := otherProcess(t, client)
	w.feed.meanwhile = func() { other.create(t, "demo") }
	if _, _, err := w.Create(t.Context(), w.asker(t, "demo"), "https://receiver.example/", ""); !errors.Is(err, webhooks.ErrTooMany) {
		t.Errorf("error %v", err)
	}
	list, err := other.List(t.Context(), "DEMO")
	if err != nil || len(list) != webhooks.MaxOfCustomer || list[webhooks.MaxOfCustomer-1].ID != "wh_other" {
		t.Errorf("%d webhooks, %v", len(list), err)
	}
}

// Kafka does not take the deletion of the webhook that is one too many.
func TestAWebhookThatIsOneTooManyIsDeletedThoughTheFirstTryFails(t *testing.T) {
	cluster := kafkatest.Start(t)
	client := newClient(t, cluster)
	w := newWorld(t, client)
	w.start(t)
	for range webhooks.MaxOfCustomer - 1 {
		w.create(t, "demo")
	}
	other := otherProcess(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	writes := 0
	w.feed.meanwhile = func() {
		other.create(t, "demo")
		cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			if writes++; writes == 2 { // the first one is the definition
				cancel()
				return nil, errors.New("closes the connection"), true
			}
			return nil, nil, false
		})
	}
	if _, _, err := w.Create(ctx, w.asker(t, "demo"), "https://receiver.example/", ""); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	until(t, "the customer has as many as allowed", func() bool {
		list, err := w.List(t.Context(), "DEMO")
		return err == nil && len(list) == webhooks.MaxOfCustomer && list[webhooks.MaxOfCustomer-1].ID == "wh_other"
	})
}

func TestAReceiverThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	w := newWorld(t, newClient(t, kafkatest.Start(t)))
	w.receiver.statuses(0, 200)
	w.start(t)
	for range 5 {
		w.create(t, "demo")
	}
	w.feed.tell(1)
	until(t, "posted to the others", func() bool { return len(w.receiver.attempts()) == 5 })
}

func TestATestMessageIsPostedOnceAndSigned(t *testing.T) {
	w, _ := serve(t)
	w.receiver.statuses(500)
	made := w.create(t, "demo")
	result := w.Test(t.Context(), &made.Definition)
	got := w.receiver.attempts()
	if result.Status != 500 || result.Type != "bags.test" || len(got) != 1 || got[0].kind != "bags.test" {
		t.Fatalf("%+v %+v", result, got)
	}
	if err := webhooks.Verify(webhooks.DeriveSecret(installation, made.ID, 1), got[0].header.Get, got[0].body, time.Now()); err != nil {
		t.Error(err)
	}
	kept, err := w.Deliveries(t.Context(), made.ID)
	if err != nil || len(kept) != 1 || !strings.Contains(kept[0], `"bags.test"`) {
		t.Errorf("%s %v", kept, err)
	}
}

// The feed is asked with the key of the webhook, so that it tells what that key sees.
func TestAWebhookIsToldWhatItsKeySees(t *testing.T) {
	w, _ := serve(t)
	all := apikey.Scope{All: true}
	w.keys.set(apikey.Key{Name: "lx", Customer: "DEMO", Airlines: apikey.Scope{Codes: []string{"LX"}}, Airports: all, Operations: all})
	made := w.create(t, "lx")
	w.feed.tell(1)
	until(t, "posted", func() bool { return len(w.receiver.attempts()) > 0 })
	if _, _, err := w.Change(t.Context(), "DEMO", made.ID, func(d *webhooks.Definition) { d.Key = "demo" }); err != nil {
		t.Fatal(err)
	}
	w.feed.tell(1)
	until(t, "posted again", func() bool { return len(w.receiver.attempts()) > 1 })
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	if keys := slices.Compact(slices.Clone(w.feed.keys)); fmt.Sprint(keys) != "[lx demo]" {
		t.Errorf("asked by %q", keys)
	}
}

func TestAPartitionOfWebhooksThatCannotBeReadIsStalled(t *testing.T) {
	cluster := kafkatest.Start(t)
	w := newWorld(t, newClient(t, cluster))
	w.start(t)
	w.create(t, "demo")
	until(t, "nothing waits", func() bool { return w.Stalled() == nil })
	refusal := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1})
	w.feed.tell(5) // its position is written, and cannot be read
	until(t, "the partition stalls", func() bool { return w.Stalled() != nil })
	refusal.Remove()
	until(t, "it moves again", func() bool { return w.Stalled() == nil })
}
