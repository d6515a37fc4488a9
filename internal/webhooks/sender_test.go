package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/webhooks"
)

// simulate runs a test with a clock of its own, and a sender for the webhook of the world.
func simulate(t *testing.T, prepare, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		prepare(t, w)
		w.send(t)
		test(t, w)
	})
}

// telling prepares a world in which some changes are told. The receiver answers with the statuses, or
// always with 200 if there are none.
func telling(changes int, list ...int) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) {
		w.feed.tell(changes)
		if len(list) > 0 {
			w.receiver.statuses(list...)
		}
	}
}

// statuses lets the receiver answer with one status after the other. The last one stays.
func (r *receiver) statuses(list ...int) {
	r.answer = func(n int, _ []string) *http.Response { return answer(list[min(n, len(list)-1)]) }
}

// send starts a sender, and returns a function that kills it: nothing that it does afterwards counts.
func (w *world) send(t *testing.T) (kill func()) {
	t.Helper()
	return w.sendFor(t, w.store)
}

// sendFor is send for the webhook of a store.
func (w *world) sendFor(t *testing.T, store *webhooks.MapStore) (kill func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Send(ctx, store)
	}()
	kill = func() { cancel(); <-done }
	t.Cleanup(kill)
	return kill
}

// sleep lets simulated time pass.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// taken returns the plates that the receiver has answered with 200, in order.
func taken(attempts []attempt, statuses map[int]int) (plates []string) {
	for i, a := range attempts {
		if statuses[i] == 0 {
			plates = append(plates, a.plates...)
		}
	}
	return plates
}

func ascending(n int) (plates []string) {
	for i := range n {
		plates = append(plates, fmt.Sprintf("%010d", i))
	}
	return plates
}

func TestAReceiverThatIsDeadForAnHourMissesNothingAndGetsItInOrder(t *testing.T) {
	failed := map[int]int{}
	simulate(t, func(_ *testing.T, w *world) {
		began := time.Now()
		w.feed.tell(30)
		w.receiver.answer = func(n int, _ []string) *http.Response {
			if d := time.Since(began); d > time.Minute && d < 61*time.Minute {
				failed[n] = 503
				return answer([]int{0, 503, 302}[n%3])
			}
			return nil
		}
	}, func(t *testing.T, w *world) {
		told := 30
		for range 7 * 60 / 5 {
			sleep(5 * time.Minute / 7)
			w.feed.tell(3)
			told += 3
		}
		sleep(2 * time.Hour)
		attempts := w.receiver.attempts()
		if got := taken(attempts, failed); !slices.Equal(got, ascending(told)) {
			t.Errorf("%d changes were told, %d taken: %q", told, len(got), got)
		}
		if len(failed) < 5 || len(failed) > 8 {
			t.Errorf("%d attempts failed", len(failed))
		}
		if w.store.Position().Failing != nil || w.store.Position().Pause != nil {
			t.Errorf("position %+v", w.store.Position())
		}
	})
}

func TestAttemptsFollowTheSchedule(t *testing.T) {
	simulate(t, telling(1, 500), func(t *testing.T, w *world) {
		sleep(71 * time.Hour)
		var got []time.Duration
		came := w.receiver.attempts()
		for i := 1; i < 9; i++ {
			got = append(got, came[i].at.Sub(came[i-1].at).Round(time.Second))
		}
		want := []time.Duration{
			5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, time.Hour, time.Hour,
		}
		if !slices.Equal(got, want) {
			t.Errorf("attempts are %v apart", got)
		}
		f := w.store.Position().Failing
		if f == nil || f.Reason != "the receiver answered 500" || !f.Since.Equal(came[0].at) || w.store.Position().Pause != nil {
			t.Fatalf("after 71 hours: %+v", w.store.Position())
		}
		sleep(3 * time.Hour)
		attempts := len(w.receiver.attempts())
		if p := w.store.Position().Pause; p == nil || p.Reason != "72 hours without success: the receiver answered 500" {
			t.Errorf("after 74 hours: %+v", w.store.Position())
		}
		sleep(10 * time.Hour)
		if len(w.receiver.attempts()) != attempts {
			t.Error("a paused webhook is posted")
		}
		w.receiver.recover()
		w.store.Change(func(d *webhooks.Definition) { d.Resume() })
		sleep(time.Second)
		if got := w.receiver.attempts(); len(got) != attempts+1 || w.store.Position().Pause != nil || w.store.Position().Failing != nil {
			t.Errorf("after it was resumed: %d attempts, %+v", len(got), w.store.Position())
		}
	})
}

func TestRetryAfterCountsUpToAnHour(t *testing.T) {
	for value, want := range map[string]time.Duration{"7": 7 * time.Second, "0": 5 * time.Second, "86400": time.Hour, "99999999999999": time.Hour, "-1": 5 * time.Second, "": 5 * time.Second, "soon": 5 * time.Second, "date": 40 * time.Second} {
		simulate(t, func(_ *testing.T, w *world) {
			w.feed.tell(1)
			w.receiver.answer = func(n int, _ []string) *http.Response {
				if value == "date" {
					value = time.Now().Add(40 * time.Second).UTC().Format(http.TimeFormat)
				}
				if n == 0 {
					return answer(503, "Retry-After", value)
				}
				return nil
			}
		}, func(t *testing.T, w *world) {
			sleep(2 * time.Hour)
			got := w.receiver.attempts()
			if len(got) != 2 || got[1].at.Sub(got[0].at).Round(time.Second) != want {
				t.Errorf("Retry-After %q: %d attempts, the second after %v", value, len(got), got[len(got)-1].at.Sub(got[0].at))
			}
		})
	}
}

func TestAnAttemptThatTellsTheSameHasTheSameID(t *testing.T) {
	simulate(t, telling(2, 500, 500, 200), func(t *testing.T, w *world) {
		sleep(time.Second)
		sleep(5 * time.Second)
		w.feed.tell(1) // the third attempt reads the states anew
		sleep(time.Minute)
		ids := map[string]int{}
		for _, a := range w.receiver.attempts() {
			ids[a.header.Get("webhook-id")] = len(a.plates)
		}
		if got := w.receiver.attempts(); len(got) != 3 || len(ids) != 2 || got[0].header.Get("webhook-id") != got[1].header.Get("webhook-id") {
			t.Errorf("%d attempts, ids %v", len(got), ids)
		}
	})
}

func TestABodyThatIsTooLargeForItsReceiverIsHalved(t *testing.T) {
	var sizes []int
	refused := map[int]int{}
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(130)
		w.receiver.answer = func(n int, plates []string) *http.Response {
			if sizes = append(sizes, len(plates)); len(plates) > 30 {
				refused[n] = 413
				return answer(413)
			}
			return nil
		}
	}, func(t *testing.T, w *world) {
		sleep(time.Second)
		if !slices.Equal(sizes[:4], []int{100, 50, 25, 26}) {
			t.Errorf("batches of %v changes", sizes)
		}
		if got := taken(w.receiver.attempts(), refused); !slices.Equal(got, ascending(130)) {
			t.Errorf("taken: %q", got)
		}
	})
}

func TestABodyHasAtMost96KiBUnlessItHasOnlyOneChange(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.size = 2<<10 - len(`{"plate":"0000000000","pad":""}`) // 48 changes have 96 KiB; a body is larger
		w.feed.tell(100)
	}, func(t *testing.T, w *world) {
		sleep(time.Second)
		w.feed.size = 200 << 10
		w.feed.tell(1)
		sleep(time.Second)
		var got []int
		for _, a := range w.receiver.attempts() {
			if got = append(got, len(a.plates)); len(a.plates) > 1 && len(a.body) > 96<<10 {
				t.Errorf("a body of %d changes has %d bytes", len(a.plates), len(a.body))
			}
		}
		if !slices.Equal(got, []int{47, 47, 6, 1}) {
			t.Errorf("bodies of %v changes", got)
		}
	})
}

// A change that is too large by itself cannot be halved. It is tried again as after any failure.
func TestAChangeThatAloneIsTooLargeForItsReceiverIsRetriedBySchedule(t *testing.T) {
	simulate(t, telling(1, 413, 413, 200), func(t *testing.T, w *world) {
		sleep(time.Second)
		if f := w.store.Position().Failing; f == nil || f.Attempts != 1 || f.Reason != "the receiver answered 413" {
			t.Errorf("after an answer 413: %+v", f)
		}
		sleep(time.Minute)
		got := w.receiver.attempts()
		if len(got) != 3 {
			t.Fatalf("%d attempts", len(got))
		}
		if first, second := got[1].at.Sub(got[0].at), got[2].at.Sub(got[1].at); first < 5*time.Second || second < 30*time.Second {
			t.Errorf("attempts after %v and %v", first, second)
		}
		if !slices.Equal(got[2].plates, ascending(1)) {
			t.Errorf("told: %q", got[2].plates)
		}
	})
}

func TestEveryAnswerThatBeginsWith2TakesAMessage(t *testing.T) {
	list := []int{201, 202, 204, 299}
	simulate(t, telling(0, list...), func(t *testing.T, w *world) {
		for i, status := range list {
			w.feed.tell(1)
			sleep(time.Second)
			if n := len(w.receiver.attempts()); n != i+1 || w.store.Position().Failing != nil {
				t.Errorf("after an answer %d: %d attempts, %+v", status, n, w.store.Position())
			}
		}
	})
}

// The next batch waits until the position behind the one before is written.
func TestAPositionThatIsNotWrittenIsWrittenBeforeTheNextBatch(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(150)
		w.store.Refuse = 3
	}, func(t *testing.T, w *world) {
		sleep(2500 * time.Millisecond)
		if n := len(w.receiver.attempts()); n != 1 || w.store.Position().Cursor != "" {
			t.Errorf("while no position can be written: %d attempts, %+v", n, w.store.Position())
		}
		sleep(time.Minute)
		if got := taken(w.receiver.attempts(), nil); !slices.Equal(got, ascending(150)) {
			t.Errorf("told: %q", got)
		}
		if want := w.feed.cursor(changefeed.Asker{}, 150).String(); w.store.Position().Cursor != want {
			t.Errorf("position %+v, want the cursor %s", w.store.Position(), want)
		}
	})
}

func TestASenderEndsThoughItsPositionIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.feed.tell(1)
		w.store.Refuse = 1000
		kill := w.send(t)
		sleep(10 * time.Second)
		kill()
		if w.store.Refuse < 900 {
			t.Errorf("%d attempts to write the position", 1000-w.store.Refuse)
		}
	})
}

// A webhook that is told nothing goes on after a restart near where it was: its cursor is written
// although nothing was posted, and does not get older than changes are kept.
func TestThePositionOfAWebhookThatIsToldNothingIsWritten(t *testing.T) {
	simulate(t, telling(1), func(t *testing.T, w *world) {
		sleep(time.Second)
		w.feed.passOver(4)
		sleep(11 * time.Minute)
		if want := w.feed.cursor(changefeed.Asker{}, 5).String(); w.store.Position().Cursor != want {
			t.Errorf("cursor %s, want %s", w.store.Position().Cursor, want)
		}
		if n := len(w.receiver.attempts()); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestAKilledOwnerRepeatsAtMostTheBatchUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.feed.tell(250)
		w.receiver.statuses(200, 0, 200) // it has the second batch, and its owner is killed before the answer
		kill := w.send(t)
		sleep(time.Second)
		kill()
		if f := w.store.Position().Failing; f != nil {
			t.Errorf("an attempt that was given up counts as failed: %+v", f)
		}
		if n := len(w.deliveries.list); n != 1 {
			t.Errorf("%d deliveries are recorded, though one of two was given up: %q", n, w.deliveries.list)
		}
		w.send(t)
		sleep(time.Second)
		var got []string
		for _, a := range w.receiver.attempts() {
			got = append(got, a.plates...)
		}
		all := ascending(250)
		if want := slices.Concat(all[:200], all[100:]); !slices.Equal(got, want) {
			t.Errorf("%d plates came: %q", len(got), got)
		}
	})
}

func TestTwoSecretsSignForADayAfterAChangeOfSecret(t *testing.T) {
	simulate(t, telling(1), func(t *testing.T, w *world) {
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.Secret, d.Replaced = 2, []time.Time{time.Now()} })
		w.feed.tell(1)
		sleep(23 * time.Hour)
		w.feed.tell(1)
		sleep(2 * time.Hour)
		w.feed.tell(1)
		sleep(time.Hour)
		got := w.receiver.attempts()
		if len(got) != 4 {
			t.Fatalf("%d attempts", len(got))
		}
		for i, want := range []string{"1", "12", "12", "2"} {
			verified := ""
			for number := 1; number < 4; number++ {
				if webhooks.Verify(webhooks.DeriveSecret(installation, "wh_1", number), got[i].header.Get, got[i].body, got[i].at) == nil {
					verified += fmt.Sprint(number)
				}
			}
			if verified != want || len(strings.Split(got[i].header.Get("webhook-signature"), " ")) != len(want) {
				t.Errorf("attempt %d is verified with the secrets %q, want %q", i, verified, want)
			}
		}
	})
}

func TestACursorThatCannotBeFollowedIsToldAndTheWebhookGoesOn(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(5)
		w.feed.useless = "the numbering of changes has begun anew"
	}, func(t *testing.T, w *world) {
		sleep(time.Second)
		w.feed.tell(1)
		sleep(time.Minute)
		got := w.receiver.attempts()
		if len(got) != 2 || got[0].kind != "bags.reset" || got[0].reason != "the numbering of changes has begun anew" ||
			got[1].kind != "bags.changed" || !slices.Equal(got[1].plates, []string{"0000000005"}) {
			t.Errorf("%d attempts: %+v", len(got), got)
		}
	})
}

func TestAWebhookIsPausedIfItsKeyIsRevoked(t *testing.T) {
	simulate(t, telling(1), func(t *testing.T, w *world) {
		sleep(time.Second)
		for _, change := range []func(k *apikey.Key){
			func(k *apikey.Key) { k.Revoked = true },
			func(k *apikey.Key) { k.Expires = time.Now().Add(-time.Second) },
			func(k *apikey.Key) { k.Operations = apikey.Scope{Codes: []string{"bags"}} },
			func(k *apikey.Key) { k.Customer = "OTHER" },
		} {
			before := *w.asker(t, "demo").Key
			after := before
			change(&after)
			w.keys.set(after)
			w.feed.tell(1)
			sleep(3 * time.Minute) // its webhook has just been changed, and keys may differ for two
			if p := w.store.Position().Pause; p == nil || !strings.HasPrefix(p.Reason, "the key ") || len(w.receiver.attempts()) != 1 {
				t.Errorf("key %+v: position %+v after %d attempts", after, w.store.Position(), len(w.receiver.attempts()))
			}
			w.keys.set(before)
			w.feed.reset(1)
			w.store.Change(func(d *webhooks.Definition) { d.Resume() })
			sleep(time.Minute)
		}
		w.feed.tell(1)
		if sleep(time.Minute); len(w.receiver.attempts()) != 2 {
			t.Errorf("%d attempts", len(w.receiver.attempts()))
		}
	})
}

// Each process reads the key file for itself.
func TestAKeyThatThisProcessDoesNotKnowYetIsWaitedFor(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(1)
		w.store.Definition.Key = "new"
	}, func(t *testing.T, w *world) {
		sleep(time.Minute)
		if w.store.Position().Pause != nil {
			t.Fatalf("%+v", w.store.Position())
		}
		key := *w.asker(t, "demo").Key
		key.Name = "new"
		w.keys.set(key)
		if sleep(10 * time.Second); len(w.receiver.attempts()) != 1 {
			t.Errorf("%d attempts", len(w.receiver.attempts()))
		}
		w.store.Change(func(d *webhooks.Definition) { d.Key = "unknown" })
		if sleep(3 * time.Minute); w.store.Position().Pause == nil {
			t.Error("a webhook of an unknown key is not paused")
		}
	})
}

func TestAKeyThatIsMissingForAMomentPausesNothing(t *testing.T) {
	simulate(t, telling(1), func(t *testing.T, w *world) {
		sleep(time.Hour)
		key := *w.asker(t, "demo").Key
		w.keys.remove("demo")
		sleep(30 * time.Second)
		w.keys.set(key)
		w.feed.tell(1)
		sleep(time.Minute)
		if p := w.store.Position().Pause; p != nil || len(w.receiver.attempts()) != 2 {
			t.Errorf("%d attempts, pause %+v", len(w.receiver.attempts()), p)
		}
		w.keys.remove("demo")
		sleep(3 * time.Minute)
		if w.store.Position().Pause == nil {
			t.Error("not paused after three minutes")
		}
	})
}

func TestAWebhookGoesOnWithANewFilterAndBeginsAgainAfterARewind(t *testing.T) {
	simulate(t, telling(2), func(t *testing.T, w *world) {
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.Filter = changefeed.Filter{Airline: "LX"} })
		w.feed.tell(1)
		sleep(time.Minute)
		w.store.Change(func(d *webhooks.Definition) { d.Paused = true })
		w.feed.tell(1)
		sleep(time.Minute)
		if n := len(w.receiver.attempts()); n != 2 {
			t.Errorf("%d attempts before it was resumed", n)
		}
		w.store.Change(func(d *webhooks.Definition) { d.Resume() })
		sleep(time.Minute)
		w.store.Change(func(d *webhooks.Definition) { d.Rewind(d.Created) })
		sleep(time.Minute)
		var got []int
		for _, a := range w.receiver.attempts() {
			got = append(got, len(a.plates))
		}
		if !slices.Equal(got, []int{2, 1, 1, 4}) {
			t.Errorf("attempts of %v changes", got)
		}
	})
}

func TestARewindForwardPassesAChangeThatItsReceiverCannotTake(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(1)
		w.receiver.answer = func(_ int, plates []string) *http.Response {
			if slices.Contains(plates, "0000000000") {
				return answer(500)
			}
			return nil
		}
	}, func(t *testing.T, w *world) {
		sleep(time.Minute)
		w.feed.tell(1)
		w.store.Change(func(d *webhooks.Definition) { d.Rewind(time.Now()) })
		sleep(time.Second)
		got := w.receiver.attempts()
		if last := got[len(got)-1]; !slices.Equal(last.plates, []string{"0000000001"}) || w.store.Position().Failing != nil {
			t.Errorf("told: %q, position %+v", last.plates, w.store.Position())
		}
	})
}

func TestDeliveriesTellStatusAndDurationAndTheBeginningOfTheAnswer(t *testing.T) {
	simulate(t, func(_ *testing.T, w *world) {
		w.feed.tell(1)
		w.receiver.answer = func(n int, _ []string) *http.Response {
			switch n {
			case 0:
				return answer(0)
			case 1:
				return answer(500)
			}
			<-time.After(2 * time.Second)
			return nil
		}
	}, func(t *testing.T, w *world) {
		sleep(time.Hour)
		var got []webhooks.Delivery
		for _, text := range w.deliveries.list {
			var d webhooks.Delivery
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				t.Fatal(err)
			}
			got = append(got, d)
		}
		if len(got) != 3 || got[0].Status != 200 || got[0].Duration != 2000 || got[0].Answer != "as you say" || got[0].Changes != 1 ||
			got[1].Status != 500 || got[2].Status != 0 || got[2].Duration != 15000 || got[2].Error != "no answer in time" {
			t.Errorf("%+v", got)
		}
	})
}

// halting is the body of an answer that never ends.
type halting struct {
	begun  *strings.Reader
	cancel context.Context
}

func (h halting) Read(p []byte) (int, error) {
	if n, err := h.begun.Read(p); err == nil {
		return n, nil
	}
	<-h.cancel.Done()
	return 0, h.cancel.Err()
}

func (halting) Close() error { return nil }

func TestTheStatusCountsIfTheBodyOfAnAnswerDoesNotEnd(t *testing.T) {
	for status, want := range map[int]string{200: "", 410: "the receiver answered 410 Gone"} {
		simulate(t, func(t *testing.T, w *world) {
			w.feed.tell(1)
			w.receiver.answer = func(int, []string) *http.Response {
				end, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				t.Cleanup(cancel)
				return &http.Response{StatusCode: status, Body: halting{strings.NewReader("so far"), end}}
			}
		}, func(t *testing.T, w *world) {
			sleep(time.Hour)
			at := w.store.Position()
			if n := len(w.receiver.attempts()); n != 1 || at.Failing != nil || (at.Pause == nil) != (want == "") || at.Pause != nil && at.Pause.Reason != want {
				t.Errorf("%d: %d attempts, %+v", status, n, at)
			}
			var d webhooks.Delivery
			if err := json.Unmarshal([]byte(w.deliveries.list[0]), &d); err != nil || d.Status != status || d.Answer != "so far" || d.Error != "" {
				t.Errorf("%d: %+v, %v", status, d, err)
			}
		})
	}
}

// The name of a receiver may resolve to an address that its customer should not learn.
func TestDeliveriesNameNoAddress(t *testing.T) {
	w := newWorld(t, nil)
	for url, want := range map[string]string{
		"https://localhost:1/":        "the address is not public",
		"https://10.1.2.3/":           "the address is not public",
		"https://name.invalid:1/hook": "the name of the receiver cannot be resolved",
		"http://name.invalid:1/hook":  "the scheme is not https",
	} {
		s := w.service(kafkaOfNobody(t), guarded())
		d := w.store.Definition
		d.URL = url
		result := s.Test(t.Context(), &d)
		if result.Error != want || result.Status != 0 {
			t.Errorf("%s: %+v", url, result)
		}
	}
	s := w.service(kafkaOfNobody(t), guarded("127.0.0.0/8", "::1/128"))
	d := w.store.Definition
	d.URL = "http://localhost:1/"
	if result := s.Test(t.Context(), &d); result.Error != "no connection, or no whole answer" {
		t.Errorf("%+v", result)
	}
}

func TestAChangeOfAFailingWebhookIsTriedAtOnce(t *testing.T) {
	simulate(t, telling(1, 500, 500, 500, 500, 200), func(t *testing.T, w *world) {
		sleep(time.Minute) // after three attempts the next is due in a minute
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.URL = "https://other.example/" })
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.Rewind(d.Created) })
		sleep(time.Second)
		if got := w.receiver.attempts(); len(got) != 5 || w.store.Position().Failing != nil {
			t.Errorf("%d attempts, %+v", len(got), w.store.Position())
		}
	})
}

func TestAChangeOfAFailingWebhookWhileNobodyOwnsItIsTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.feed.tell(1)
		w.receiver.statuses(500, 500, 500, 200)
		kill := w.send(t)
		sleep(time.Minute) // after three attempts the next is due in two minutes
		kill()
		kill = w.send(t)
		sleep(time.Second)
		if n := len(w.receiver.attempts()); n != 3 {
			t.Errorf("%d attempts, want that a new owner waits too", n)
		}
		kill()
		w.store.Change(func(d *webhooks.Definition) { d.URL = "https://other.example/" })
		w.send(t)
		sleep(time.Second)
		if n := len(w.receiver.attempts()); n != 4 || w.store.Position().Failing != nil {
			t.Errorf("%d attempts, %+v", n, w.store.Position())
		}
	})
}

func TestADeletedWebhookLeavesNoPosition(t *testing.T) {
	simulate(t, telling(1), func(t *testing.T, w *world) {
		sleep(time.Second)
		if w.store.Position().Cursor == "" {
			t.Fatal("there is no position")
		}
		w.store.Change(func(d *webhooks.Definition) { d.ID = "deleted" })
		if sleep(time.Second); w.store.Position().Cursor != "" {
			t.Errorf("%+v", w.store.Position())
		}
	})
}

func TestATimePausedByTheCustomerIsNoTimeWithoutSuccess(t *testing.T) {
	simulate(t, telling(1, 503, 503, 503, 503, 200), func(t *testing.T, w *world) {
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.Paused = true; d.Changed = time.Now() })
		sleep(73 * time.Hour)
		w.store.Change(func(d *webhooks.Definition) { d.Resume(); d.Changed = time.Now() })
		sleep(2 * time.Hour)
		if p := w.store.Position().Pause; p != nil {
			t.Errorf("paused: %s", p.Reason)
		}
	})
}

// An attempt fails right before the service stops for four days, and the next one after its start.
func TestATimeInWhichTheServiceIsStoppedIsNoTimeWithoutSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.feed.tell(1)
		w.receiver.statuses(500)
		kill := w.send(t)
		sleep(time.Second)
		kill()
		sleep(4 * 24 * time.Hour)
		w.send(t)
		sleep(time.Second)
		attempts := w.receiver.attempts()
		if f := w.store.Position().Failing; len(attempts) != 2 || f == nil || f.Attempts != 1 || !f.Since.Equal(attempts[1].at) {
			t.Errorf("%d attempts, %+v", len(attempts), w.store.Position())
		}
		sleep(73 * time.Hour)
		if w.store.Position().Pause == nil {
			t.Error("73 hours later it is not paused")
		}
	})
}

// If nothing is left to tell, a webhook does not fail any more: neither its state nor the 72 hours
// count from a batch that there is not any more.
func TestAWebhookWithNothingToTellIsNotFailing(t *testing.T) {
	simulate(t, telling(1, 500), func(t *testing.T, w *world) {
		sleep(time.Second)
		if w.store.Position().Failing == nil {
			t.Fatal("it does not fail")
		}
		w.feed.reset(0) // the change does not match any more
		w.store.Change(func(d *webhooks.Definition) { d.Filter = changefeed.Filter{Plates: []bag.Plate{"0220000001"}} })
		sleep(time.Minute)
		if f := w.store.Position().Failing; f != nil {
			t.Errorf("failing: %+v", f)
		}
		sleep(80 * time.Hour)
		w.feed.tell(3)
		sleep(time.Second)
		if p := w.store.Position().Pause; p != nil {
			t.Errorf("one failed attempt after 80 hours: paused: %s", p.Reason)
		}
	})
}

// A batch may end before the change that failed: the bag has changed again, behind many that the filter
// does not select.
func TestAWebhookIsFailingUntilAllChangesAreRead(t *testing.T) {
	simulate(t, telling(1, 500), func(t *testing.T, w *world) {
		sleep(time.Second)
		before := w.store.Position().Failing
		w.feed.stale = 150
		w.feed.tell(150)
		sleep(10 * time.Second)
		got := w.receiver.attempts()
		if len(got) != 2 || !slices.Equal(got[1].plates, []string{"0000000150"}) {
			t.Fatalf("%d attempts", len(got))
		}
		if f := w.store.Position().Failing; before == nil || f == nil || f.Attempts != 2 || !f.Since.Equal(before.Since) {
			t.Errorf("failing: %+v, then %+v", before, f)
		}
	})
}

// What failed before a pause by the customer is not shown any more after it.
func TestAWebhookThatIsResumedWithNothingToTellIsNotFailing(t *testing.T) {
	simulate(t, telling(1, 500), func(t *testing.T, w *world) {
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.Paused = true })
		sleep(time.Minute)
		w.feed.reset(0) // the change does not match any more
		w.store.Change(func(d *webhooks.Definition) {
			d.Filter = changefeed.Filter{Plates: []bag.Plate{"0220000001"}}
			d.Resume()
		})
		sleep(time.Minute)
		if f := w.store.Position().Failing; f != nil {
			t.Errorf("a minute after it was resumed: failing: %+v", f)
		}
	})
}

// A rewind of a webhook that is paused counts from its moment: what is resumed later than changes are
// kept must learn by a reset that it has missed some.
func TestARewindOfAPausedWebhookBeginsAtItsMoment(t *testing.T) {
	for _, known := range []bool{true, false} { // false: this process has not read the key yet
		simulate(t, telling(2), func(t *testing.T, w *world) {
			sleep(time.Second)
			key := *w.asker(t, "demo").Key
			if !known {
				w.keys.remove("demo")
			}
			w.store.Change(func(d *webhooks.Definition) { d.Paused = true })
			w.store.Change(func(d *webhooks.Definition) { d.Rewind(time.Now().Add(-60 * time.Hour)) })
			sleep(time.Second)
			if !known {
				w.keys.set(key)
				sleep(10 * time.Second)
			}
			if at := w.store.Position(); at.Started != w.store.Definition.Started {
				t.Errorf("the key known %t: the starting point is still a time: %+v", known, at)
			}
		})
	}
}

// Only a resumption ends a pause.
func TestARewindOfAWebhookThatTheServiceHasPausedDoesNotResumeIt(t *testing.T) {
	simulate(t, telling(2, 410, 200), func(t *testing.T, w *world) {
		sleep(time.Second)
		w.store.Change(func(d *webhooks.Definition) { d.Rewind(time.Now().Add(-time.Hour)) })
		sleep(2 * time.Hour)
		at := w.store.Position()
		if at.Pause == nil || at.Pause.Reason != "the receiver answered 410 Gone" || at.Started != 2 || len(w.receiver.attempts()) != 1 {
			t.Errorf("after a rewind: %d attempts, %+v", len(w.receiver.attempts()), at)
		}
		w.store.Change(func(d *webhooks.Definition) { d.Resume() })
		sleep(time.Second)
		if got := w.receiver.attempts(); len(got) != 2 || !slices.Equal(got[1].plates, ascending(2)) {
			t.Errorf("after it was resumed: %d attempts", len(got))
		}
	})
}

// Each process reads the key file for itself: another one may have read it before, and have let the key
// resume its webhook.
func TestAKeyWhoseNewRightsThisProcessHasNotReadYetIsWaitedFor(t *testing.T) {
	for _, change := range []func(k *apikey.Key){
		func(k *apikey.Key) { k.Expires = time.Now().Add(-time.Second) },
		func(k *apikey.Key) { k.Operations = apikey.Scope{Codes: []string{"bags"}} },
	} {
		simulate(t, telling(1), func(t *testing.T, w *world) {
			sleep(time.Minute)
			valid := *w.asker(t, "demo").Key
			old := valid
			change(&old)
			w.keys.set(old)
			sleep(time.Minute) // the webhook is paused
			w.feed.tell(1)
			w.store.Change(func(d *webhooks.Definition) { d.Resume() }) // by a process that has read the file
			sleep(2 * time.Second)
			w.keys.set(valid)
			sleep(time.Minute)
			if p := w.store.Position().Pause; p != nil && p.Resumed == w.store.Definition.Resumed || len(w.receiver.attempts()) != 2 {
				t.Errorf("%d attempts, %+v", len(w.receiver.attempts()), w.store.Position())
			}
		})
	}
}

// The clock of a process was thirty days ahead when an attempt failed. Another process goes on.
func TestAnAttemptIsNotPutOffByAClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		ahead.Store(int64(30 * 24 * time.Hour))
		w := newWorld(t, nil, func(_ *world, conf *webhooks.Config) {
			conf.Now = func() time.Time { return time.Now().Round(0).Add(time.Duration(ahead.Load())) }
		})
		w.feed.tell(1)
		w.receiver.statuses(500, 200)
		kill := w.send(t)
		sleep(time.Second)
		kill()
		ahead.Store(0)
		w.send(t)
		sleep(3 * time.Hour)
		if got := w.receiver.attempts(); len(got) != 2 || w.store.Position().Failing != nil {
			t.Errorf("%d attempts, %+v", len(got), w.store.Position().Failing)
		}
	})
}
