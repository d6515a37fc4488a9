package bagstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// What Redis has taken may be lost with it: its append-only file is up to two seconds behind (appendfsync everysec, on a
// slow disk), a replica that takes over as long as it lagged. So the batches of the last seconds are kept, and sent again
// when another server, or the same one started anew, has come in place of the one that took them. A longer loss is made
// good from the log only.
const (
	recentTime  = 3 * time.Second
	recentBytes = 10 << 20 // some 65,000 messages
)

// recent is the batches that Redis has taken lately. It is safe for concurrent use.
type recent struct {
	mu      sync.Mutex
	batches []taken
	bytes   int
	server  string        // that they are known to be in, see history
	epoch   atomic.Uint64 // of settled, when that was seen
}

// taken is a batch that Redis has taken.
type taken struct {
	text     string
	commands []byte // packed
	at       time.Time
}

func (t *taken) bytes() int { return len(t.text) + cap(t.commands) }

// add keeps a batch, and drops those that are old or too many.
func (r *recent) add(t taken) {
	if len(t.commands) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, t)
	r.bytes += t.bytes()
	drop := 0
	for ; r.bytes > recentBytes || r.batches[drop].at.Before(t.at.Add(-recentTime)); drop++ {
		r.bytes -= r.batches[drop].bytes()
		r.batches[drop] = taken{}
	}
	r.batches = r.batches[drop:]
}

// again sends what was taken before the latest connection was made, unless it leads where the ones before it led.
func (s *Store) again(ctx context.Context) error {
	r := &s.recent
	if s.embedded != nil || r.epoch.Load() == s.settled.epoch.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	epoch := s.settled.epoch.Load()
	server, err := s.history(ctx)
	if err != nil {
		return err
	}
	if server == "" || server != r.server {
		b := &batch{}
		for _, t := range r.batches {
			b.commands = unpack(b.commands[:0], t.commands)
			if err := s.send(ctx, b, t.text); err != nil {
				return err
			}
		}
	}
	r.server = server
	r.epoch.Store(epoch)
	return nil
}

// history returns a text that changes whenever something that Redis has taken may have been lost: with every start of a
// server, and with every change of master. It is "" where the user may not know.
func (s *Store) history(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var all []string
	err := s.eachMaster(ctx, s.writing, func(ctx context.Context, master redis.UniversalClient) error {
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
	var refused redis.Error
	if errors.As(err, &refused) {
		return "", nil
	}
	slices.Sort(all)
	return strings.Join(all, " "), err
}
