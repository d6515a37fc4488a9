// Package reportstore remembers in Redis, for a day, the outcomes of requests for delayed-bag
// reports, so that a repeated request makes no second report. It knows requests by their digests
// only, and does not interpret outcomes. If Redis loses an outcome, a repeated request is made
// again.
package reportstore

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule.
//
//	key         type    holds                                                  expires
//	w:<digest>  string  "" while the outcome is unknown, then what was noted   kept after it was written
const keyKind = "w:"

// kept is how long a request is remembered.
const kept = 24 * time.Hour

// Store remembers the outcomes of requests. It is safe for concurrent use. Its errors are
// redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(id string) string { return s.redis.Prefix() + keyKind + id }

// Claim claims a request before it is sent on. If it is claimed already, claimed is false, and note
// is what was noted since, or "". After an error the request may be claimed.
func (s *Store) Claim(ctx context.Context, id string) (note string, claimed bool, err error) {
	client := s.redis.WriteClient()
	for {
		if claimed, err = client.SetNX(ctx, s.key(id), "", kept).Result(); claimed || err != nil {
			return "", claimed, redis.Unavailable("reportstore: claim", err)
		}
		if note, err = client.Get(ctx, s.key(id)).Result(); !errors.Is(err, goredis.Nil) { // otherwise it was released meanwhile
			return note, false, redis.Unavailable("reportstore: claim", err)
		}
	}
}

// Note notes the outcome of a request that was claimed. A note is not empty.
func (s *Store) Note(ctx context.Context, id, note string) error {
	return redis.Unavailable("reportstore: note", s.redis.WriteClient().Set(ctx, s.key(id), note, kept).Err())
}

// Release gives a claim back. The request had no effect, and may be made again.
func (s *Store) Release(ctx context.Context, id string) error {
	return redis.Unavailable("reportstore: release", s.redis.WriteClient().Del(ctx, s.key(id)).Err())
}
