package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
)

// identity makes a new connection for writing and returns who Redis is then.
func identity(t *testing.T, client *redis.Client, cut func()) (name string) {
	t.Helper()
	before := client.Connects()
	cut()
	redistest.Eventually(t, 10*time.Second, "no new connection", func() bool {
		return client.WriteClient().Set(context.Background(), "x", "y", time.Minute).Err() == nil && client.Connects() > before
	})
	redistest.Eventually(t, 10*time.Second, "Redis cannot be asked", func() (ok bool) {
		var err error
		name, err = client.Identity(context.Background())
		return err == nil
	})
	return name
}

func TestAServerThatStartsOrTakesOverIsAnotherAndBehindANewConnectionIsTheSame(t *testing.T) {
	first, second := redistest.StartServer(t), redistest.StartServer(t)
	proxy := redistest.StartProxy(t, first.Addr)
	client := redistest.Open(t, proxy.URL(""))
	last := ""
	for i, step := range []struct {
		what    string
		cut     func()
		another bool
	}{
		{"the first call", func() {}, true},
		{"a new connection", proxy.Cut, false},
		{"another server", func() { proxy.Lead(second.Addr); proxy.Cut() }, true},
		{"a new start", func() { second.Kill(t); second.Start(t); proxy.Cut() }, true},
		{"a new connection again", proxy.Cut, false},
	} {
		name := identity(t, client, step.cut)
		if another := name != last; another != step.another || name == "" {
			t.Errorf("%d: after %s %q, before %q", i, step.what, name, last)
		}
		if other := identity(t, redistest.Open(t, proxy.URL("")), func() {}); other != name {
			t.Errorf("another process is told %q instead of %q", other, name)
		}
		last = name
	}
}

func TestIfTheUserMayNotRunInfoEveryNewConnectionLeadsToAnother(t *testing.T) {
	ctx, server := context.Background(), redistest.StartServer(t)
	if err := server.Client(t).Do(ctx, "acl", "setuser", "default", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	proxy := redistest.StartProxy(t, server.Addr)
	client := redistest.Open(t, proxy.URL(""))
	last := ""
	for range 3 {
		name := identity(t, client, proxy.Cut)
		if again, err := client.Identity(ctx); name == last || again != name || err != nil {
			t.Errorf("%q, then %q, before %q, %v", name, again, last, err)
		}
		last = name
	}
}

// A master that becomes a replica and a master again keeps its connections, and may lack writes.
func TestAChangeShowsOnAConnectionThatLasts(t *testing.T) {
	server, other := redistest.StartServer(t), redistest.StartServer(t)
	client := redistest.Open(t, server.URL(""))
	before, connects := identity(t, client, func() {}), client.Connects()
	for _, master := range []string{other.Addr, "no:one"} {
		host, port, _ := strings.Cut(master, ":")
		if err := server.Client(t).ReplicaOf(t.Context(), host, port).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if name, err := client.Identity(t.Context()); name == before || err != nil || client.Connects() == connects {
		t.Errorf("%q, before %q; %d connects, %d before; %v", name, before, client.Connects(), connects, err)
	}
	server.Kill(t)
	if name, err := client.Identity(t.Context()); err == nil {
		t.Errorf("a server that is away is %q", name)
	}
}
