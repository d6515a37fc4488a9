package redis_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/telemetry"
	"bagtrail/test/loopback"
)

// A server that is away is dialled again and again. The line says how many lines were left out.
func TestRedialsAreOneLogLineAMinute(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var lines []string
	limit := telemetry.NewLimit(1)
	redis.ClientLog(func(kind, line string) {
		if written, leftOut := limit.Pass(kind, now); written {
			lines = append(lines, fmt.Sprintf("%.40s +%d", line, leftOut))
		}
	})
	t.Cleanup(func() { redis.ClientLog(func(string, string) {}) })
	client := redistest.Open(t, "redis://"+loopback.Address(t))
	for _, after := range []time.Duration{0, 20 * time.Second, 59 * time.Second, 61 * time.Second, 62 * time.Second} {
		now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Add(after)
		if _, err := client.Check(t.Context()); err == nil {
			t.Fatal("a server answers")
		}
	}
	if want := []string{"connection pool: failed to dial after 1  +0", "connection pool: failed to dial after 1  +2"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}
