// Package reportstore remembers in Redis, for a day, what became of requests for delayed-bag reports, so that the same request makes
// no second report. It knows requests by their digests only, and nothing of what is noted of them. If Redis loses what it was
// told, a request may be made again.
package reportstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
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
type Store struct {
	client redis.UniversalClient
	prefix string
}

// New returns a Store over a client, whose keys begin with the prefix.
func New(client redis.UniversalClient, prefix string) *Store { return &Store{client, prefix} }

func (s *Store) key(id string) string { return s.prefix + kind + id }

// Claim notes that a request is about to be sent on. If somebody has claimed it before, claimed is false, and note is what was
// noted since, or "". After an error the request may be claimed.
func (s *Store) Claim(ctx context.Context, id string) (note string, claimed bool, err error) {
	for {
		switch err = s.client.SetArgs(ctx, s.key(id), "", redis.SetArgs{Mode: "NX", TTL: Kept}).Err(); {
		case err == nil:
			return "", true, nil
		case !errors.Is(err, redis.Nil):
			return "", false, fmt.Errorf("claim a report: %w", err)
		}
		switch note, err = s.client.Get(ctx, s.key(id)).Result(); {
		case err == nil:
			return note, false, nil
		case !errors.Is(err, redis.Nil): // else it was released, or has expired, in this moment
			return "", false, fmt.Errorf("claim a report: %w", err)
		}
	}
}

// Note notes what became of a request that was claimed. A note is not empty.
func (s *Store) Note(ctx context.Context, id, note string) error {
	if err := s.client.Set(ctx, s.key(id), note, Kept).Err(); err != nil {
		return fmt.Errorf("note what became of a report: %w", err)
	}
	return nil
}

// Release gives a claim back: the request had no effect, and may be made again.
func (s *Store) Release(ctx context.Context, id string) error {
	if err := s.client.Del(ctx, s.key(id)).Err(); err != nil {
		return fmt.Errorf("release a report: %w", err)
	}
	return nil
}
