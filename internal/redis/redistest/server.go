// Package redistest starts Redis servers and clusters for tests, and a proxy that disturbs the
// connection to them.
package redistest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/pause"
	"bagtrail/test/loopback"
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

// StartCluster starts a cluster of three masters and returns its URL.
func StartCluster(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	buses, err := loopback.Ports(3)
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	var first *goredis.Client
	for i, bus := range buses {
		s := StartServer(t, "databases 1", "cluster-enabled yes", "cluster-node-timeout 2000", "cluster-port "+strconv.Itoa(bus))
		client := s.Client(t)
		if err := client.ClusterAddSlotsRange(ctx, i*5462, min(i*5462+5461, 16383)).Err(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = client
		}
		host, port, _ := strings.Cut(s.Addr, ":")
		if err := first.Do(ctx, "CLUSTER", "MEET", host, port, bus).Err(); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, s.Addr)
	}
	Eventually(t, 20*time.Second, "the cluster does not come up", func() bool {
		for _, addr := range addrs {
			client := goredis.NewClient(&goredis.Options{Addr: addr})
			info, err := client.ClusterInfo(ctx).Result()
			if err = errors.Join(err, client.Close()); err != nil || !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:3") {
				return false
			}
		}
		return true
	})
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Eventually fails the test if a condition does not become true in time.
func Eventually(t testing.TB, limit time.Duration, otherwise string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if pause.Until(ctx, 20*time.Millisecond, condition) != nil {
		t.Fatalf("%s within %v", otherwise, limit)
	}
}
