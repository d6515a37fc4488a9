package redistest

import (
	"testing"
	"time"

	"bagtrail/internal/redis"
)

// Open returns a client of the Redis at a URL, or of a new one inside this process if the URL is
// "". It is closed at the end of the test.
func Open(t testing.TB, url string) *redis.Client {
	t.Helper()
	client, err := redis.Open(redis.Config{URL: url, Now: time.Now, Tick: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}
