package requeststore_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"bagtrail/internal/pause"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/requeststore"
)

func TestARequestIsClaimedOnce(t *testing.T) {
	s, ctx := requeststore.New(redistest.Open(t, "")), context.Background()
	var claims atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			note, claim, err := s.Claim(ctx, "a")
			if err != nil || note != "" {
				t.Errorf("note %q, error %v", note, err)
			}
			if claim != "" {
				claims.Add(1)
			}
		})
	}
	group.Wait()
	if claims.Load() != 1 {
		t.Errorf("claimed %d times", claims.Load())
	}
	if _, claim, err := s.Claim(ctx, "b"); claim == "" || err != nil {
		t.Errorf("another request: claim %q, error %v", claim, err)
	}
}

func TestWhatWasNotedIsFoundAndWhatWasReleasedIsClaimedAgain(t *testing.T) {
	s, ctx := requeststore.New(redistest.Open(t, "")), context.Background()
	for range 2 {
		_, claim, err := s.Claim(ctx, "a")
		if claim == "" || err != nil {
			t.Fatalf("claim %q, error %v", claim, err)
		}
		if err := s.Release(ctx, "a", claim); err != nil {
			t.Fatal(err)
		}
	}
	_, claim, err := s.Claim(ctx, "a")
	if err := errors.Join(err, s.Note(ctx, "a", "done"), s.Release(ctx, "a", claim)); err != nil {
		t.Fatal(err)
	}
	if note, claim, err := s.Claim(ctx, "a"); note != "done" || claim != "" || err != nil {
		t.Errorf("note %q, claim %q, error %v", note, claim, err)
	}
}

// A report that was created is answered again for a day, and so long nobody else forwards it. A
// request with messages is known for ten minutes after its last attempt.
func TestClaimsAndNotesAreKeptForADayAndAttemptsForTenMinutes(t *testing.T) {
	server := miniredis.RunT(t)
	s, ctx := requeststore.New(redistest.Open(t, "redis://"+server.Addr())), context.Background()
	claimed := func() bool {
		t.Helper()
		_, claim, err := s.Claim(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		return claim != ""
	}
	claimed()
	if server.FastForward(24*time.Hour - time.Second); claimed() {
		t.Error("a claim is given up within a day")
	}
	if err := s.Note(ctx, "a", "done"); err != nil {
		t.Fatal(err)
	}
	if server.FastForward(24*time.Hour - time.Second); claimed() {
		t.Error("a note is forgotten within a day")
	}
	if server.FastForward(2 * time.Second); !claimed() {
		t.Error("a note is kept for more than a day")
	}
	if server.FastForward(24*time.Hour + time.Second); !claimed() {
		t.Error("a claim is kept for more than a day")
	}

	begin := func(attempt string) string {
		t.Helper()
		first, err := s.Begin(ctx, "a", attempt)
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	begin("1")
	for _, attempt := range []string{"2", "3"} {
		server.FastForward(10*time.Minute - time.Second)
		if first := begin(attempt); first != "1" {
			t.Errorf("attempt %s within ten minutes of the one before: the first is %s", attempt, first)
		}
	}
	server.FastForward(10*time.Minute + time.Second)
	if first := begin("4"); first != "4" {
		t.Errorf("after more than ten minutes the first attempt is %s", first)
	}
}

func TestAfterTheEndOfRedisNothingIsClaimed(t *testing.T) {
	s, ctx := requeststore.New(redistest.Open(t, "redis://127.0.0.1:1")), context.Background()
	if _, claim, err := s.Claim(ctx, "a"); claim != "" || err == nil {
		t.Errorf("claim %q, error %v", claim, err)
	}
	if s.Note(ctx, "a", "x") == nil || s.Release(ctx, "a", "own") == nil {
		t.Error("no error")
	}
}

func TestAClaimWhoseReplyIsLostIsGivenBack(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s, ctx := requeststore.New(redistest.Open(t, proxy.URL(""))), context.Background()
	if _, claim, err := s.Claim(ctx, "a"); claim == "" || err != nil {
		t.Fatalf("claim %q, error %v", claim, err)
	}
	proxy.CutAfter(0)
	if _, claim, err := s.Claim(ctx, "b"); claim != "" || err == nil {
		t.Fatalf("with a lost reply: claim %q, error %v", claim, err)
	}
	redistest.Eventually(t, 10*time.Second, "nobody can claim it", func() bool {
		_, claim, err := s.Claim(ctx, "b")
		return claim != "" && err == nil
	})
	for _, id := range []string{"a", "b"} {
		if note, claim, err := s.Claim(ctx, id); note != "" || claim != "" || err != nil {
			t.Errorf("%s again: note %q, claim %q, error %v", id, note, claim, err)
		}
	}
}

func TestAClaimThatReachesRedisLateIsGivenBack(t *testing.T) {
	server := miniredis.RunT(t)
	slow := redistest.StartProxy(t, server.Addr())
	proxy := redistest.StartProxy(t, strings.TrimPrefix(slow.URL(""), "redis://"))
	s, ctx := requeststore.New(redistest.Open(t, proxy.URL(""))), context.Background()
	if _, _, err := s.Claim(ctx, "a"); err != nil { // over a connection that is used again
		t.Fatal(err)
	}
	slow.Sent("") // forgets what was sent
	proxy.Lead(server.Addr())
	slow.Silence(true)
	limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, claim, err := s.Claim(limited, "b"); claim != "" || err == nil {
		t.Fatalf("claim %q, error %v", claim, err)
	}
	redistest.Eventually(t, 10*time.Second, "nobody looks for the claim", func() bool { return proxy.Sent("eval") > 0 })
	if err := pause.For(ctx, 100*time.Millisecond); err != nil { // until Redis has answered
		t.Fatal(err)
	}
	slow.Silence(false)
	redistest.Eventually(t, 10*time.Second, "the claim does not come", func() bool { return slow.Sent("claim:") > 0 })
	redistest.Eventually(t, 10*time.Second, "nobody can claim it", func() bool {
		_, claim, err := s.Claim(ctx, "b")
		return claim != "" && err == nil
	})
}

// notStored returns a store whose Redis was away for the moment in which the outcomes of the requests
// refused and made became known. The next try to store them comes a second later.
func notStored(t *testing.T) (*miniredis.Miniredis, *requeststore.Store) {
	t.Helper()
	server := miniredis.RunT(t)
	s, ctx := requeststore.New(redistest.Open(t, "redis://"+server.Addr())), context.Background()
	_, refused, err := s.Claim(ctx, "refused")
	if _, _, other := s.Claim(ctx, "made"); err != nil || other != nil {
		t.Fatal(err, other)
	}
	server.SetError("away")
	if s.Release(ctx, "refused", refused) == nil || s.Note(ctx, "made", "done") == nil {
		t.Error("no error")
	}
	return server, s
}

func TestAnOutcomeThatCannotBeStoredAtFirstIsStoredLater(t *testing.T) {
	server, s := notStored(t)
	ctx := context.Background()
	server.SetError("")
	redistest.Eventually(t, 10*time.Second, "nobody can claim what was refused", func() bool {
		_, claim, err := s.Claim(ctx, "refused")
		return claim != "" && err == nil
	})
	redistest.Eventually(t, 10*time.Second, "what was made is not noted", func() bool {
		note, claim, err := s.Claim(ctx, "made")
		return note == "done" && claim == "" && err == nil
	})
}

func TestAnOutcomeThatIsStoredLaterTakesThePlaceOfNoLaterOne(t *testing.T) {
	server, s := notStored(t)
	ctx := context.Background()
	server.Del("w:refused") // as if only the reply was lost
	server.SetError("")
	if _, claim, err := s.Claim(ctx, "refused"); claim == "" || err != nil {
		t.Fatalf("claim %q, error %v", claim, err)
	}
	if err := s.Note(ctx, "made", "late"); err != nil {
		t.Fatal(err)
	}
	if err := pause.For(ctx, 1500*time.Millisecond); err != nil { // longer than between two tries
		t.Fatal(err)
	}
	if _, claim, err := s.Claim(ctx, "refused"); claim != "" || err != nil {
		t.Errorf("the second claim is removed too: claim %q, error %v", claim, err)
	}
	if note, _, err := s.Claim(ctx, "made"); note != "late" || err != nil {
		t.Errorf("the note is %q, error %v", note, err)
	}
}

func TestARepeatedRequestIsToldHowItWasFirstTakenIn(t *testing.T) {
	s, ctx := requeststore.New(redistest.Open(t, "")), context.Background()
	begin := func(id, attempt, want string) {
		t.Helper()
		if first, err := s.Begin(ctx, id, attempt); first != want || err != nil {
			t.Errorf("%s by %s: %q, %v, want %s", id, attempt, first, err, want)
		}
	}
	begin("a", "one", "one")
	begin("a", "two", "one")
	begin("b", "three", "three")
	if _, claim, err := s.Claim(ctx, "a"); claim == "" || err != nil {
		t.Errorf("a request for a report with the same digest: claim %q, error %v", claim, err)
	}
	s.End(ctx, "a", "one") // a slow attempt, after it was repeated
	begin("a", "four", "one")
	s.End(ctx, "a", "four")
	begin("a", "five", "five")
}

func TestAnEndThatFailsAtFirstSucceedsLater(t *testing.T) {
	server := miniredis.RunT(t)
	proxy := redistest.StartProxy(t, server.Addr())
	s, ctx := requeststore.New(redistest.Open(t, proxy.URL(""))), context.Background()
	if first, err := s.Begin(ctx, "a", "one"); first != "one" || err != nil {
		t.Fatal(first, err)
	}
	server.SetError("away")
	if _, err := s.Begin(ctx, "b", "two"); err == nil {
		t.Error("begun without Redis")
	}
	s.End(ctx, "a", "one")
	server.SetError("")
	redistest.Eventually(t, 10*time.Second, "the request is remembered", func() bool { return !server.Exists("w:messages:a") })
}

func TestAttemptsAtTheSameTimeAgreeOnTheFirst(t *testing.T) {
	s, ctx := requeststore.New(redistest.Open(t, "")), context.Background()
	var firsts sync.Map
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			first, err := s.Begin(ctx, "a", strconv.Itoa(i))
			if err != nil {
				t.Error(err)
			}
			firsts.Store(first, true)
		})
	}
	group.Wait()
	n := 0
	firsts.Range(func(_, _ any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d are the first", n)
	}
}
