package sessionstore_test

import (
	"testing"
	"time"

	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/sessionstore"
)

func TestASessionThatWasEndedIsKnownUntilItWouldEndByItself(t *testing.T) {
	client := redistest.Open(t, "")
	one, other := sessionstore.New(client), sessionstore.New(client)
	until := time.Now().Add(time.Hour)
	for range 2 { // to end a session twice changes nothing
		if err := one.End(t.Context(), "ended", until); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"ended": true, "open": false} {
		if ended, err := other.Ended(t.Context(), id); err != nil || ended != want {
			t.Errorf("%s: ended %t, %v", id, ended, err)
		}
	}
	left, err := client.ReadClient().TTL(t.Context(), "s:ended").Result()
	if err != nil || left <= 58*time.Minute || left > time.Hour {
		t.Errorf("the note is kept for %v, %v", left, err)
	}
}
