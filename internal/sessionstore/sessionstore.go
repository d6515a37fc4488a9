// Package sessionstore keeps in Redis the browser sessions that were ended early. If Redis loses
// one of them, that session can be used until it ends by itself.
package sessionstore

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule.
//
//	key            type        holds                                      expires
//	s:<API key>    sorted set  id of session → when it would end by itself  a day after the last one was added
//
// A set holds at most 1,000 sessions, those that would end last.
const keyKind = "s:"

const (
	most = 1000
	kept = 24 * time.Hour // longer than a session lasts
)

// Store implements session.Ended. It is safe for concurrent use. Its errors wrap
// redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(name string) string { return s.redis.Prefix() + keyKind + name }

// End implements session.Ended.
func (s *Store) End(ctx context.Context, key, id string, until time.Time) error {
	var excess *goredis.StringSliceCmd
	err := s.redis.Write(ctx, func(p goredis.Pipeliner) {
		p.ZAdd(ctx, s.key(key), goredis.Z{Score: float64(until.Unix()), Member: id})
		p.Expire(ctx, s.key(key), kept)
		excess = p.ZRange(ctx, s.key(key), 0, -most-1)
	})
	if err == nil && len(excess.Val()) > 0 {
		err = s.redis.WriteClient().ZRem(ctx, s.key(key), excess.Val()).Err()
	}
	return redis.Unavailable("sessionstore: end", err)
}

// Ended implements session.Ended.
func (s *Store) Ended(ctx context.Context, key, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	err := s.redis.ReadClient().ZScore(ctx, s.key(key), id).Err()
	if errors.Is(err, goredis.Nil) {
		return false, nil
	}
	return err == nil, redis.Unavailable("sessionstore: read", err)
}
