// Package reportstore remembers in Redis, for a day, what became of requests for delayed-bag reports, so that the same request makes
// no second report. It knows requests by their digests only, and nothing of what is noted of them. If Redis loses what it was
// told, a request may be made again.
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
//	key                  type    holds                                     expires
//	w:<digest>           string  "" while nobody knows what became of the  a day after it was written
//	                             request, then what was noted
const kind = "w:"

// Kept is how long a request is remembered.
const Kept = 24 * time.Hour

// Store remembers what became of requests. It is safe for concurrent use.
type Store struct{ redis *redis.Client }

// New returns a Store of what client leads to.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(id string) string { return s.redis.Prefix() + kind + id }

// Claim notes that a request is about to be sent on. If somebody has claimed it before, claimed is false, and note is what was
// noted since, or "". After an error the request may be claimed.
func (s *Store) Claim(ctx context.Context, id string) (note string, claimed bool, err error) {
	client := s.redis.WriteClient()
	for {
		if claimed, err = client.SetNX(ctx, s.key(id), "", Kept).Result(); claimed || err != nil {
			return "", claimed, redis.Unavailable("claim a report", err)
		}
		if note, err = client.Get(ctx, s.key(id)).Result(); !errors.Is(err, goredis.Nil) { // else it was released, or has expired, in this moment
			return note, false, redis.Unavailable("claim a report", err)
		}
	}
}

// Note notes what became of a request that was claimed. A note is not empty.
func (s *Store) Note(ctx context.Context, id, note string) error {
	err := s.redis.WriteClient().Set(ctx, s.key(id), note, Kept).Err()
	return redis.Unavailable("note what became of a report", err)
}

// Release gives a claim back: the request had no effect, and may be made again.
func (s *Store) Release(ctx context.Context, id string) error {
	return redis.Unavailable("release a report", s.redis.WriteClient().Del(ctx, s.key(id)).Err())
}
