package redis_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis/redistest"
)

// A node answers INCR only after the answers in front. An empty one stands for a reply that is lost.
func TestAClusterIsSentACommandAgainOnlyIfItsNodesSaySo(t *testing.T) {
	node := miniredis.RunT(t)
	client, ctx := redistest.Open(t, "redis+cluster://"+node.Addr()), t.Context()
	var mu sync.Mutex
	var answers, sent []string
	node.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		mu.Lock()
		defer mu.Unlock()
		if command == "INCR" || command == "ASKING" {
			sent = append(sent, command)
		}
		switch {
		case command == "ASKING":
			c.WriteOK()
		case command != "INCR" || len(answers) == 0:
			return false
		case answers[0] == "":
			c.Close()
		default:
			c.WriteError(answers[0])
		}
		if command == "INCR" {
			answers = answers[1:]
		}
		return true
	})
	for way, increment := range map[string]func() error{
		"alone":         func() error { return client.WriteClient().Incr(ctx, "n").Err() },
		"in a pipeline": func() error { return client.Write(ctx, func(p goredis.Pipeliner) { p.Incr(ctx, "n") }) },
	} {
		for _, tc := range []struct {
			answers, sent []string
			fails         bool
		}{
			{[]string{""}, []string{"INCR"}, true},
			{[]string{"MOVED 0 " + node.Addr()}, []string{"INCR", "INCR"}, false},
			{[]string{"ASK 0 " + node.Addr()}, []string{"INCR", "ASKING", "INCR"}, false},
		} {
			mu.Lock()
			answers, sent = tc.answers, nil
			mu.Unlock()
			err := increment()
			mu.Lock()
			if (err != nil) != tc.fails || !slices.Equal(sent, tc.sent) {
				t.Errorf("%s, after %q: sent %q, error %v", way, tc.answers, sent, err)
			}
			mu.Unlock()
		}
	}
}

func TestAClusterIsFoundAtOnceThoughANodeHangs(t *testing.T) {
	node := miniredis.RunT(t)
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // the system takes connections, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hanging.Close() })
	for range 8 { // each client asks the nodes in an order of its own
		client := redistest.Open(t, "redis+cluster://"+hanging.Addr().String()+","+node.Addr())
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		if err := client.ReadWithin(ctx, func(p goredis.Pipeliner) { p.Get(ctx, "key") }); err != nil {
			t.Error(err)
		}
		cancel()
	}
}
