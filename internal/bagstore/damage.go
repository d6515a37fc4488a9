package bagstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/redis"
)

// damage is something in Redis that does not belong where it is: whoever meets it goes on without it, and it is moved aside.
type damage struct {
	key    string
	what   damageKind
	member string // field of a hash, or member of a sorted set
	value  string // of the field
}

type damageKind uint8

const (
	badValue  damageKind = iota // a field of a hash that is no message, or not the one that it names
	badMember                   // a member of a sorted set that is no plate
	badType                     // a key that holds something else altogether
)

// damages is what readers have met, until it has been moved aside. It is safe for concurrent use.
type damages struct {
	mu      sync.Mutex
	waiting map[damage]struct{}
	busy    bool          // somebody moves it
	ended   chan struct{} // closed when nothing is to be moved any more
	working sync.WaitGroup
}

// mostDamages bounds what waits to be moved aside: what is met beyond it is met again.
const mostDamages = 1000

// Time limits of moving one thing aside, and of waiting before it is tried again.
const (
	asideLimit = 5 * time.Second
	asidePause = time.Second
)

// meet takes note of damage, which somebody else then moves aside.
func (s *Store) meet(d damage) {
	m := &s.damages
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == mostDamages || m.hasEnded() {
		return
	}
	m.waiting[d] = struct{}{}
	if !m.busy {
		m.busy = true
		m.working.Go(s.tidy)
	}
}

// tidy moves aside what was met, until nothing is left of it or the store is closed.
func (s *Store) tidy() {
	m := &s.damages
	for {
		d, some := m.next()
		if !some {
			return
		}
		if err := s.aside(context.Background(), d); err != nil {
			select {
			case <-m.ended:
			case <-time.After(asidePause):
			}
		}
		m.mu.Lock()
		delete(m.waiting, d) // after an error, it is met again
		m.mu.Unlock()
	}
}

func (m *damages) next() (d damage, some bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.hasEnded() {
		for d = range m.waiting {
			return d, true
		}
	}
	m.busy = false
	return damage{}, false
}

// end lets nothing more be moved. Somebody may still be at it until working is done.
func (m *damages) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.ended)
}

func (m *damages) hasEnded() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// aside moves damage to a key of its own, which expires when the one that it comes from would have, unless it is gone by now,
// and says so.
func (s *Store) aside(ctx context.Context, d damage) error {
	ctx, cancel := context.WithTimeout(ctx, asideLimit)
	defer cancel()
	moved := false
	err := s.redis.WriteClient().Watch(ctx, func(tx *goredis.Tx) (err error) {
		if moved, err = d.still(ctx, tx, s.keys); err != nil || !moved {
			return err
		}
		until, err := tx.ExpireTime(ctx, d.key).Result()
		if err != nil {
			return err
		}
		end := time.Unix(int64(until/time.Second), 0)
		if until <= 0 {
			end = time.Unix(s.retention.until(s.now(), s.now()), 0)
		}
		_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			to := s.keys.aside(d.key)
			switch d.what {
			case badValue:
				p.HSet(ctx, to, d.member, d.value)
				p.HDel(ctx, d.key, d.member)
			case badMember:
				p.HSet(ctx, to, d.member, "")
				p.ZRem(ctx, d.key, d.member)
			case badType:
				to += wholeKey
				p.Rename(ctx, d.key, to)
			}
			p.ExpireAt(ctx, to, end)
			return nil
		})
		return err
	}, d.key)
	if d.what == badType {
		s.known.forget() // what the key held before is not there any more
	}
	switch {
	case errors.Is(err, goredis.TxFailedErr): // somebody wrote there meanwhile: if it is still there, it is met again
		return nil
	case err != nil:
		err = unavailable("move a damaged value aside", err)
	case !moved:
		return nil
	}
	if !s.damages.hasEnded() {
		s.damaged(digest(d.key), err)
	}
	return err
}

// still reports whether Redis holds what was met.
func (d damage) still(ctx context.Context, tx *goredis.Tx, k keys) (bool, error) {
	switch d.what {
	case badValue:
		value, err := tx.HGet(ctx, d.key, d.member).Result()
		if errors.Is(err, goredis.Nil) {
			return false, nil
		}
		return value == d.value, err
	case badMember: // a plate it will never be
		return true, nil
	default:
		kind, err := tx.Type(ctx, d.key).Result()
		return kind != "none" && kind != k.typeOf(d.key), err
	}
}

// digest names a key in logs, where its name must not stand.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// send sends the commands of a batch, whose words lie in text. Keys of a wrong type are moved aside first, since nothing
// could ever be written there.
func (s *Store) send(ctx context.Context, b *batch, text string) error {
	err := b.send(ctx, s.redis, text)
	if !redis.WrongType(err) {
		return err
	}
	moved := make(map[string]bool)
	for i := range b.commands {
		key := b.commands[i].key.of(text)
		if !redis.WrongType(b.replies[i].Err()) || moved[key] {
			continue
		}
		moved[key] = true
		if err := s.aside(ctx, damage{key: key, what: badType}); err != nil {
			return err
		}
	}
	return b.send(ctx, s.redis, text)
}

// plates returns those of the members of a sorted set that are plates.
func (s *Store) plates(key string, members []string) []bag.Plate {
	all := make([]bag.Plate, 0, len(members))
	for _, m := range members {
		if p := bag.Plate(m); p.Valid() {
			all = append(all, p)
		} else {
			s.meet(damage{key: key, what: badMember, member: m})
		}
	}
	return all
}
