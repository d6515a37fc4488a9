package redis_test

import (
	"context"
	"testing"
	"time"

	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

// losses makes a new connection for writing and returns how many losses are counted then.
func losses(t *testing.T, client *redis.Client, cut func()) (n uint64) {
	t.Helper()
	before := client.Connects()
	cut()
	redistest.Eventually(t, 10*time.Second, "no new connection", func() bool {
		return client.WriteClient().Set(context.Background(), "x", "y", time.Minute).Err() == nil && client.Connects() > before
	})
	redistest.Eventually(t, 10*time.Second, "the losses cannot be counted", func() (ok bool) {
		var err error
		n, err = client.Losses(context.Background())
		return err == nil
	})
	return n
}

func TestAServerThatStartsOrTakesOverIsALossAndANewConnectionIsNone(t *testing.T) {
	first, second := redistest.StartServer(t), redistest.StartServer(t)
	proxy := redistest.StartProxy(t, first.Addr)
	client := redistest.Open(t, proxy.URL(""))
	for i, step := range []struct {
		what string
		cut  func()
		want uint64
	}{
		{"the first call", func() {}, 1},
		{"a new connection", proxy.Cut, 1},
		{"another server", func() { proxy.Lead(second.Addr); proxy.Cut() }, 2},
		{"a new start", func() { second.Kill(t); second.Start(t); proxy.Cut() }, 3},
		{"a new connection again", proxy.Cut, 3},
	} {
		if n := losses(t, client, step.cut); n != step.want {
			t.Errorf("%d: after %s %d losses, want %d", i, step.what, n, step.want)
		}
	}
}

func TestIfTheUserMayNotRunInfoEveryNewConnectionIsALoss(t *testing.T) {
	ctx, server := context.Background(), redistest.StartServer(t)
	if err := server.Client(t).Do(ctx, "acl", "setuser", "default", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	proxy := redistest.StartProxy(t, server.Addr)
	client := redistest.Open(t, proxy.URL(""))
	for want := range uint64(3) {
		if n := losses(t, client, proxy.Cut); n != want+1 {
			t.Errorf("%d losses, want %d", n, want+1)
		}
	}
}

func TestARedisInsideThisProcessLosesNothing(t *testing.T) {
	client := redistest.Open(t, "")
	for range 2 {
		if n, err := client.Losses(t.Context()); n != 1 || err != nil {
			t.Errorf("%d losses, %v", n, err)
		}
		if err := client.WriteClient().Set(t.Context(), "x", "y", 0).Err(); err != nil {
			t.Error(err)
		}
	}
}
