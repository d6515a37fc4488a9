package bagstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
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
	mu       sync.Mutex
	batches  []taken
	bytes    int
	losses   uint64        // see redis.Client.Losses
	connects atomic.Uint64 // when they were counted
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
	connects := s.redis.Connects()
	if s.redis.InProcess() || r.connects.Load() == connects {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	losses, err := s.redis.Losses(ctx)
	if err != nil {
		return err
	}
	if losses != r.losses {
		b := &batch{}
		for _, t := range r.batches {
			b.commands = unpack(b.commands[:0], t.commands)
			if err := s.send(ctx, b, t.text); err != nil {
				return err
			}
		}
	}
	r.losses = losses
	r.connects.Store(connects)
	return nil
}
