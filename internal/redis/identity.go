package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"
)

// identity holds the last result of Identity.
type identity struct {
	process string // random
	mu      sync.Mutex
	last    string
	changes atomic.Uint64
}

// Connects counts the connections that were made for writing, and the changes that Identity saw.
// While the count stays the same, all writes have gone to the same server.
func (c *Client) Connects() uint64 { return c.connects.Load() + c.identity.changes.Load() }

// Identity returns the identity of Redis: a short text without spaces, the same in every process,
// that changes with every start of a server and every change of master. At such a change Redis may
// lose writes that it had confirmed: an append-only file is up to two seconds behind, and a replica
// that becomes the master may have lagged. So a confirmed write is safe if Identity returns the
// same text before it and some seconds after it. If the texts differ, repeat the writes that may be
// lost.
//
// Each call sends INFO to each master. If the user may not run INFO, the answer changes with every
// new connection, and differs between processes. An error says that Redis cannot be asked now; it is
// not ErrUnavailable.
func (c *Client) Identity(ctx context.Context) (string, error) {
	i := &c.identity
	i.mu.Lock()
	defer i.mu.Unlock()
	history, err := c.history(ctx)
	if err != nil {
		return "", err
	}
	if history == "" {
		history = fmt.Sprint(i.process, c.connects.Load())
	}
	if history != i.last && i.last != "" {
		i.changes.Add(1)
	}
	i.last = history
	sum := sha256.Sum256([]byte(history))
	return hex.EncodeToString(sum[:8]), nil
}

// history returns a text that changes with every start of a server and with every change of master.
// It is "" if a server refuses INFO.
func (c *Client) history(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var all []string
	err := c.EachMaster(ctx, func(ctx context.Context, master goredis.UniversalClient) error {
		info, err := master.Info(ctx, "server", "replication").Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, field(info, "run_id")+field(info, "master_replid"))
		return err
	})
	if forbidden(err) {
		return "", nil
	}
	slices.Sort(all)
	return strings.Join(all, " "), err
}
