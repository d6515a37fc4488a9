package session_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/session"
	"bagtrail/test/service"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// store returns a store of the keys text-0, text-1, …, named key-0, key-1, …, each with these further
// members.
func store(t *testing.T, members ...string) *apikey.Store {
	t.Helper()
	entries := ""
	for i, m := range members {
		entries += service.KeyEntry(fmt.Sprint("key-", i), fmt.Sprint("text-", i), m)
	}
	return open(t, entries)
}

// open returns a store with these entries of a key file.
func open(t *testing.T, entries string) *apikey.Store {
	t.Helper()
	keys, err := apikey.Open(service.WriteFile(t, "keys.yaml", "keys:\n"+entries), nil)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// notes implements session.Ended.
type notes struct {
	ended map[string]time.Time
	err   error
}

func (n *notes) End(_ context.Context, key, id string, until time.Time) error {
	n.ended[key+id] = until
	return n.err
}

func (n *notes) Ended(_ context.Context, key, id string) (bool, error) {
	_, ended := n.ended[key+id]
	return ended, n.err
}

func begin(t *testing.T, s *session.Sessions, keys *apikey.Store, name string) (session.Session, string) {
	t.Helper()
	key, known := keys.Named(name, noon)
	if !known {
		t.Fatalf("no key %s", name)
	}
	return s.Begin(key, noon)
}

func find(t *testing.T, s *session.Sessions, cookie string, now time.Time) (session.Session, bool) {
	t.Helper()
	found, known, err := s.Find(t.Context(), cookie, now)
	if err != nil {
		t.Fatal(err)
	}
	return found, known
}

func TestASessionStandsForItsKeyForEightHoursOrUntilTheKeyExpires(t *testing.T) {
	keys := store(t, "", ", expires: 2026-03-14T13:00:00Z")
	s := session.New(keys, []byte("signing"), &notes{})
	for name, lasts := range map[string]time.Duration{"key-0": 8 * time.Hour, "key-1": time.Hour} {
		made, cookie := begin(t, s, keys, name)
		found, known := find(t, s, cookie, noon.Add(lasts-time.Nanosecond))
		if !known || found != made || found.Key.Name != name || !found.Ends.Equal(noon.Add(lasts)) {
			t.Errorf("%s: %+v %t, made %+v", name, found, known, made)
		}
		if _, known := find(t, s, cookie, noon.Add(lasts)); known {
			t.Errorf("%s: the session goes on after its end", name)
		}
		if _, again := begin(t, s, keys, name); again == cookie {
			t.Error("two sessions have one cookie")
		}
	}
}

func TestASessionThatLastsLongerThanEightHoursIsRefused(t *testing.T) {
	keys := store(t, "")
	s := session.New(keys, []byte("signing"), &notes{})
	_, cookie := begin(t, s, keys, "key-0")
	for before, want := range map[time.Duration]bool{time.Minute: true, time.Minute + time.Second: false} {
		if _, known := find(t, s, cookie, noon.Add(-before)); known != want {
			t.Errorf("%v before it begins it is accepted: %t", before, known)
		}
	}
}

func TestACookieHoldsNeitherTheKeyNorItsDigest(t *testing.T) {
	keys := store(t, "")
	_, cookie := begin(t, session.New(keys, []byte("signing"), &notes{}), keys, "key-0")
	text, err := base64.RawURLEncoding.DecodeString(cookie)
	sum := sha256.Sum256([]byte("text-0"))
	if err != nil || bytes.Contains(text, []byte("text-0")) || bytes.Contains(text, sum[:8]) {
		t.Errorf("%q %v", text, err)
	}
}

func TestForgedAndCutCookiesAreNoSessions(t *testing.T) {
	keys := store(t, "", "")
	s := session.New(keys, []byte("signing"), &notes{})
	_, cookie := begin(t, s, keys, "key-0")
	text, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for _, bit := range []byte{1, 128} {
			forged := bytes.Clone(text)
			forged[i] ^= bit
			if _, known := find(t, s, base64.RawURLEncoding.EncodeToString(forged), noon); known {
				t.Errorf("byte %d does not count", i)
			}
		}
		if _, known := find(t, s, base64.RawURLEncoding.EncodeToString(text[:i]), noon); known {
			t.Errorf("the first %d bytes are enough", i)
		}
	}
	for _, forged := range []string{
		"", "x", "text-0", cookie + "A", cookie + "=", " " + cookie, base64.RawURLEncoding.EncodeToString(bytes.Replace(text, []byte("key-0"), []byte("key-1"), 1)),
	} {
		if _, known := find(t, s, forged, noon); known {
			t.Errorf("%q is a session", forged)
		}
	}
	if _, known := find(t, session.New(keys, []byte("other"), &notes{}), cookie, noon); known {
		t.Error("another signing key accepts the cookie")
	}
	if _, known := find(t, session.New(keys, []byte("signing"), &notes{}), cookie, noon); !known {
		t.Error("another process with the signing key refuses the cookie")
	}
}

func TestASessionEndsWithItsKey(t *testing.T) {
	keys := store(t, "")
	_, cookie := begin(t, session.New(keys, []byte("signing"), &notes{}), keys, "key-0")
	for what, now := range map[string]*apikey.Store{
		"revoked": store(t, ", revoked: true"), "expired": store(t, ", expires: 2026-03-14T11:00:00Z"), "removed": open(t, service.KeyEntry("key-1", "text-0", "")),
		"replaced": open(t, service.KeyEntry("key-0", "another", "")),
	} {
		if _, known := find(t, session.New(now, []byte("signing"), &notes{}), cookie, noon); known {
			t.Errorf("the session goes on after its key was %s", what)
		}
	}
}

func TestASessionIsEndedForEveryProcess(t *testing.T) {
	keys, shared := store(t, ""), &notes{ended: map[string]time.Time{}}
	one, other := session.New(keys, []byte("signing"), shared), session.New(keys, []byte("signing"), shared)
	made, cookie := begin(t, one, keys, "key-0")
	_, second := begin(t, one, keys, "key-0")
	for i, want := range []bool{true, false} {
		if ended, err := one.End(t.Context(), cookie, noon); ended != want || err != nil {
			t.Errorf("time %d: %t %v", i, ended, err)
		}
	}
	if _, known := find(t, other, cookie, noon); known {
		t.Error("the session goes on")
	}
	if _, known := find(t, other, second, noon); !known {
		t.Error("the other session of the key has ended too")
	}
	for _, until := range shared.ended {
		if !until.Equal(made.Ends) {
			t.Errorf("the note is kept until %v, not %v", until, made.Ends)
		}
	}
	shared.err = errors.New("away")
	if _, known, err := other.Find(t.Context(), second, noon); known || !errors.Is(err, shared.err) {
		t.Errorf("with the notes away: %t %v", known, err)
	}
}

// Each process reads the key file by itself, so one may know a key that another does not know yet.
func TestAProcessEndsASessionWhoseKeyItDoesNotKnow(t *testing.T) {
	keys := store(t, "")
	for what, older := range map[string]*apikey.Store{
		"lacks the key": open(t, service.KeyEntry("key-1", "text-0", "")), "has another key of that name": open(t, service.KeyEntry("key-0", "another", "")),
		"has the key as revoked": store(t, ", revoked: true"),
	} {
		shared := &notes{ended: map[string]time.Time{}}
		one, other := session.New(keys, []byte("signing"), shared), session.New(older, []byte("signing"), shared)
		_, cookie := begin(t, one, keys, "key-0")
		if ended, err := other.End(t.Context(), cookie, noon); !ended || err != nil {
			t.Errorf("one that %s: %t %v", what, ended, err)
		}
		if _, known := find(t, one, cookie, noon); known {
			t.Errorf("after an end at a process that %s, the session goes on", what)
		}
	}
}

func TestACookieThatIsNotValidEndsNothing(t *testing.T) {
	keys, shared := store(t, ""), &notes{ended: map[string]time.Time{}}
	s := session.New(keys, []byte("signing"), shared)
	_, cookie := begin(t, s, keys, "key-0")
	_, foreign := begin(t, session.New(keys, []byte("other"), shared), keys, "key-0")
	for what, try := range map[string]struct {
		cookie string
		now    time.Time
	}{
		"cut": {cookie[:len(cookie)-4], noon}, "empty": {"", noon}, "made with another signing key": {foreign, noon},
		"at its end": {cookie, noon.Add(8 * time.Hour)}, "too early": {cookie, noon.Add(-time.Minute - time.Second)},
	} {
		if ended, err := s.End(t.Context(), try.cookie, try.now); ended || err != nil || len(shared.ended) > 0 {
			t.Errorf("%s: %t %v %v", what, ended, err, shared.ended)
		}
	}
}
