package sessionstore_test

import (
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/sessionstore"
)

func TestASessionThatWasEndedIsKnownUntilItWouldEndByItself(t *testing.T) {
	client := redistest.Open(t, "")
	one, other := sessionstore.New(client), sessionstore.New(client)
	until := time.Now().Add(8 * time.Hour)
	for range 2 { // to end a session twice changes nothing
		if err := one.End(t.Context(), "key", "ended", until); err != nil {
			t.Fatal(err)
		}
	}
	for _, session := range []struct {
		key, id string
		ended   bool
	}{{"key", "ended", true}, {"key", "open", false}, {"other", "ended", false}} {
		if ended, err := other.Ended(t.Context(), session.key, session.id); err != nil || ended != session.ended {
			t.Errorf("%+v: ended %t, %v", session, ended, err)
		}
	}
	left, err := client.ReadClient().TTL(t.Context(), "s:key").Result()
	if err != nil || left <= 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the note is kept for %v, %v", left, err)
	}
}

func TestOfTheSessionsOfAKeyAThousandAreKnownThatWouldEndLast(t *testing.T) {
	client := redistest.Open(t, "")
	store, now := sessionstore.New(client), time.Now()
	var earlier []goredis.Z
	for i := range 1000 {
		earlier = append(earlier, goredis.Z{Score: float64(now.Unix() + int64(i)), Member: strconv.Itoa(i)})
	}
	if err := client.WriteClient().ZAdd(t.Context(), "s:key", earlier...).Err(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := store.End(t.Context(), "key", "ended"+strconv.Itoa(i), now.Add(8*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"0": false, "1": false, "2": true, "ended0": true, "ended1": true} {
		if ended, err := store.Ended(t.Context(), "key", id); err != nil || ended != want {
			t.Errorf("%s: ended %t, %v", id, ended, err)
		}
	}
	if n, err := client.ReadClient().ZCard(t.Context(), "s:key").Result(); err != nil || n != 1000 {
		t.Errorf("%d are known, %v", n, err)
	}
}
