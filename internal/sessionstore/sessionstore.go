// Package sessionstore keeps in Redis the browser sessions that were ended early. If Redis loses
// one of them, that session can be used until it ends by itself.
package sessionstore

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule.
//
//	key     type    holds  expires
//	s:<id>  string  ""     when the session would end by itself
const keyKind = "s:"

// Store implements session.Ended. It is safe for concurrent use. Its errors wrap
// redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(id string) string { return s.redis.Prefix() + keyKind + id }

// End implements session.Ended.
func (s *Store) End(ctx context.Context, id string, until time.Time) error {
	err := s.redis.WriteClient().SetArgs(ctx, s.key(id), "", goredis.SetArgs{ExpireAt: until}).Err()
	return redis.Unavailable("sessionstore: end", err)
}

// Ended implements session.Ended.
func (s *Store) Ended(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	found, err := s.redis.ReadClient().Exists(ctx, s.key(id)).Result()
	return found > 0, redis.Unavailable("sessionstore: read", err)
}
