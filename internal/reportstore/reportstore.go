// Package reportstore remembers in Redis, for a day, the outcomes of requests for delayed-bag
// reports, so that a repeated request makes no second report. It knows requests by their digests
// only, and does not interpret outcomes. If Redis loses an outcome, a repeated request is made
// again.
package reportstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule.
//
//	key         type    holds                                                  expires
//	w:<digest>  string  a claim, then what was noted                           kept after it was written
const keyKind = "w:"

// claimPrefix begins a claim, and no note. What follows it tells the claim from all others.
const claimPrefix = "claim:"

// kept is how long a request is remembered.
const kept = 24 * time.Hour

// giveBackLimit is how long the store tries to give back a claim that nobody knows of.
const giveBackLimit = time.Minute

// giveBack removes a claim, if it is still the same.
var giveBack = goredis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) end return 0`)

// Store remembers the outcomes of requests. It is safe for concurrent use. Its errors are
// redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(id string) string { return s.redis.Prefix() + keyKind + id }

// Claim claims a request before it is sent on. If it is claimed already, claimed is false, and note
// is what was noted since, or "". After an error the request may be claimed until the store reaches
// Redis again.
func (s *Store) Claim(ctx context.Context, id string) (note string, claimed bool, err error) {
	client, own := s.redis.WriteClient(), claimPrefix+rand.Text()
	for {
		if claimed, err = client.SetNX(ctx, s.key(id), own, kept).Result(); err != nil {
			go s.giveBack(context.WithoutCancel(ctx), id, own)
		}
		if claimed || err != nil {
			return "", claimed, redis.Unavailable("reportstore: claim", err)
		}
		if note, err = client.Get(ctx, s.key(id)).Result(); errors.Is(err, goredis.Nil) { // it was released meanwhile
			continue
		}
		if strings.HasPrefix(note, claimPrefix) {
			note = ""
		}
		return note, false, redis.Unavailable("reportstore: claim", err)
	}
}

// giveBack gives back a claim that may have been made although its reply was lost.
func (s *Store) giveBack(ctx context.Context, id, own string) {
	ctx, cancel := context.WithTimeout(ctx, giveBackLimit)
	defer cancel()
	for giveBack.Run(ctx, s.redis.WriteClient(), []string{s.key(id)}, own).Err() != nil {
		if pause.For(ctx, time.Second) != nil {
			return
		}
	}
}

// Note notes the outcome of a request that was claimed. A note is not empty, and begins like no
// claim.
func (s *Store) Note(ctx context.Context, id, note string) error {
	return redis.Unavailable("reportstore: note", s.redis.WriteClient().Set(ctx, s.key(id), note, kept).Err())
}

// Release gives a claim back. The request had no effect, and may be made again.
func (s *Store) Release(ctx context.Context, id string) error {
	return redis.Unavailable("reportstore: release", s.redis.WriteClient().Del(ctx, s.key(id)).Err())
}
