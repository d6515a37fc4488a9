package bagstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/pause"
)

// damage is something in Redis that does not belong to the index. A reader that finds it leaves it
// out and reports it. A worker then moves it aside.
type damage struct {
	key    string
	kind   damageKind
	member string // field of a hash, or member of a sorted set
	value  string // of the field
}

type damageKind uint8

const (
	badValue  damageKind = iota // a field of a hash whose value is not a message, or not the message that the field identifies
	badMember                   // a member of a set that is not a plate, flight or name number, as the key requires
	badType                     // a key of a wrong type
)

// damageQueue holds the damage that is to be moved aside. It is safe for concurrent use.
type damageQueue struct {
	queue   chan damage
	waiting sync.Map        // damage → true: the damage in the queue, or being moved
	ctx     context.Context // ends when the store is closed
	end     context.CancelFunc
	worker  sync.WaitGroup
}

// maxDamages bounds the queue. If the queue is full, damage is dropped; the next read reports it
// again.
const maxDamages = 1000

const (
	moveLimit = 5 * time.Second // time limit for one move
	movePause = time.Second     // pause after an error
)

// report puts damage into the queue.
func (s *Store) report(d damage) {
	q := &s.damages
	if _, waits := q.waiting.LoadOrStore(d, true); waits {
		return
	}
	select {
	case q.queue <- d:
	default:
		q.waiting.Delete(d)
	}
}

// moveAll moves damage aside until the queue is closed.
func (s *Store) moveAll() {
	q := &s.damages
	for q.ctx.Err() == nil {
		select {
		case <-q.ctx.Done():
		case d := <-q.queue:
			if err := s.moveAside(context.Background(), d); err != nil {
				_ = pause.For(q.ctx, movePause)
			}
			q.waiting.Delete(d) // after an error the next read reports it again
		}
	}
}

// moveAside moves damage to a key of its own, which expires when the original key would have, and
// calls Config.Damaged. Damage that is no longer there is ignored.
func (s *Store) moveAside(ctx context.Context, d damage) error {
	ctx, cancel := context.WithTimeout(ctx, moveLimit)
	defer cancel()
	moved := false
	err := s.redis.WriteClient().Watch(ctx, func(tx *goredis.Tx) (err error) {
		if moved, err = d.exists(ctx, tx, s.keys); err != nil || !moved {
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
			switch d.kind {
			case badValue:
				p.HSet(ctx, to, d.member, d.value)
				p.HDel(ctx, d.key, d.member)
			case badMember:
				p.HSet(ctx, to, d.member, "")
				if s.keys.typeOf(d.key) == "set" {
					p.SRem(ctx, d.key, d.member)
				} else {
					p.ZRem(ctx, d.key, d.member)
				}
			case badType:
				to += wholeKey
				p.Rename(ctx, d.key, to)
			}
			p.ExpireAt(ctx, to, end)
			return nil
		})
		return err
	}, d.key)
	if moved {
		s.known.forget() // the entries of the key may be gone, and its expiry with the last of them
	}
	switch {
	case errors.Is(err, goredis.TxFailedErr): // another process wrote to the key; if the damage remains, it is reported again
		return nil
	case err != nil:
		err = unavailable("move a damaged value aside", err)
	case !moved:
		return nil
	}
	if s.damages.ctx.Err() == nil {
		s.damaged(digest(d.key), err)
	}
	return err
}

// exists reports whether the damage is still there.
func (d damage) exists(ctx context.Context, tx *goredis.Tx, k keys) (bool, error) {
	switch d.kind {
	case badValue:
		value, err := tx.HGet(ctx, d.key, d.member).Result()
		if errors.Is(err, goredis.Nil) {
			return false, nil
		}
		return value == d.value, err
	case badMember:
		if k.typeOf(d.key) == "set" {
			members, err := tx.SMembers(ctx, d.key).Result() // a user need not have the right to SISMEMBER
			return slices.Contains(members, d.member), err
		}
		err := tx.ZScore(ctx, d.key, d.member).Err()
		if errors.Is(err, goredis.Nil) {
			return false, nil
		}
		return err == nil, err
	default:
		kind, err := tx.Type(ctx, d.key).Result()
		return kind != "none" && kind != k.typeOf(d.key), err
	}
}

// digest returns a text that stands for the name of a key, which must not be logged.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}
