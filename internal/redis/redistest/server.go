// Package redistest starts Redis servers and clusters for tests, and a proxy that disturbs the
// connection to them.
package redistest

import (
	"context"
	"errors"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/pause"
	"bagtrail/test/servers"
	"bagtrail/test/servers/program"
)

// Server is a redis-server process of a test.
type Server struct{ *program.Process }

// StartServer starts a redis-server on a free port of loopback, without persistence unless settings,
// which are lines of redis.conf, say otherwise. It ends with the test. Without a redis-server on the
// machine the test is skipped, or fails if BAGTRAIL_TEST_REQUIRE_REAL is set, as in CI.
func StartServer(t testing.TB, settings ...string) Server {
	t.Helper()
	return Server{servers.PrivateRedis(t, append([]string{"appendonly no"}, settings...)...)}
}

// Start starts the server again after Kill, with the data that it has on disk.
func (s Server) Start(t testing.TB) {
	t.Helper()
	if err := s.Process.Start(servers.Context(t)); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server as kill -9 does.
func (s Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// URL returns the address of the server with a path and parameters.
func (s Server) URL(rest string) string { return "redis://" + s.Addr + rest }

// Client returns a plain client of the server.
func (s Server) Client(t testing.TB) *goredis.Client {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: s.Addr, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() {
		if err := client.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
			t.Error(err)
		}
	})
	return client
}

// StartCluster starts a cluster of three masters with a replica each, without persistence, and
// returns its URL.
func StartCluster(t testing.TB) string {
	t.Helper()
	// On a busy machine a master is silent for seconds, and no replica must take its place.
	return servers.PrivateCluster(t, "appendonly no", "cluster-node-timeout 15000").URL()
}

// Eventually fails the test if a condition does not become true in time.
func Eventually(t testing.TB, limit time.Duration, otherwise string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if pause.Until(ctx, 5*time.Millisecond, condition) != nil {
		t.Fatalf("%s within %v", otherwise, limit)
	}
}
