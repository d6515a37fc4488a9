package redis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// losses counts the times at which Redis may have lost writes.
type losses struct {
	mu       sync.Mutex
	count    uint64
	connects uint64 // when history was read
	history  string // see Client.history
}

// Connects counts the connections that were made for writing. While it stays the same, all writes have gone to the server
// that took the one before.
func (c *Client) Connects() uint64 { return c.connects.Load() }

// Losses counts the times at which Redis may have lost writes that it had confirmed: every start of a server and every
// change of master, as far as they show in new connections. An append-only file is up to two seconds behind, a replica
// that takes over as long as it lagged. So a confirmed write is safe once the count, read some seconds later, is still
// what it was before the write; if it has changed, write again what was confirmed in the seconds before. The first call
// returns 1; make it before the first write.
//
// It costs nothing until a new connection was made, then two INFO for each master. If the user may not run INFO, each new
// connection counts. A Redis inside this process loses nothing. An error says that Redis cannot be asked now; it is not
// ErrUnavailable.
func (c *Client) Losses(ctx context.Context) (uint64, error) {
	l := &c.losses
	l.mu.Lock()
	defer l.mu.Unlock()
	connects := c.connects.Load()
	if c.inProcess != nil || l.count > 0 && l.connects == connects {
		return max(1, l.count), nil
	}
	history, err := c.history(ctx)
	if err != nil {
		return 0, err
	}
	if history == "" || history != l.history {
		l.count++
	}
	l.connects, l.history = connects, history
	return l.count, nil
}

// history returns a text that changes with every start of a server and with every change of master. It is "" if the user
// may not run INFO.
func (c *Client) history(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var all []string
	err := c.EachMaster(ctx, func(ctx context.Context, master goredis.UniversalClient) error {
		server, err := master.Info(ctx, "server").Result()
		if err != nil {
			return err
		}
		replication, err := master.Info(ctx, "replication").Result()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, field(server, "run_id")+field(replication, "master_replid"))
		return nil
	})
	var refused goredis.Error
	if errors.As(err, &refused) {
		return "", nil
	}
	slices.Sort(all)
	return strings.Join(all, " "), err
}
