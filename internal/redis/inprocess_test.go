package redis_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
)

// A tick subtracts the time since the last one from what every key has left, also from a key that was
// set just before.
func TestAKeyInTheProcessExpiresAtMostAMinuteEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := redis.Open(redis.Config{Now: time.Now, Tick: 12 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		keys, wait := client.WriteClient(), func(d time.Duration) {
			if err := pause.For(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		wait(12*time.Hour - time.Second)
		if err := keys.Set(t.Context(), "note", "sent", 24*time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		wait(24*time.Hour - 2*time.Minute)
		if left, err := keys.Exists(t.Context(), "note").Result(); left != 1 || err != nil {
			t.Errorf("two minutes before its end the key is gone: %d, %v", left, err)
		}
		wait(4 * time.Minute)
		if left, err := keys.Exists(t.Context(), "note").Result(); left != 0 || err != nil {
			t.Errorf("two minutes after its end the key is there: %d, %v", left, err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
}
