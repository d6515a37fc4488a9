// Package deliverystore keeps the last deliveries of each webhook in Redis. It does not interpret
// them. Deliveries are of use for a while only: they expire, and Redis may lose them.
package deliverystore

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule.
//
//	key           type  holds                                      expires
//	h:<webhook>   list  the last 100 deliveries, the latest first  30 days after the last one
const keyKind = "h:"

const (
	most = 100
	kept = 30 * 24 * time.Hour
)

// Store keeps deliveries. It is safe for concurrent use. Its errors wrap redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(webhook string) string { return s.redis.Prefix() + keyKind + webhook }

// Add adds a delivery of a webhook.
func (s *Store) Add(ctx context.Context, webhook string, delivery []byte) error {
	key := s.key(webhook)
	err := s.redis.Write(ctx, func(pipe goredis.Pipeliner) {
		pipe.LPush(ctx, key, delivery)
		pipe.LTrim(ctx, key, 0, most-1)
		pipe.Expire(ctx, key, kept)
	})
	return redis.Unavailable("deliverystore: add", err)
}

// List returns the deliveries of a webhook, the latest first.
func (s *Store) List(ctx context.Context, webhook string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	list, err := s.redis.ReadClient().LRange(ctx, s.key(webhook), 0, most-1).Result()
	return list, redis.Unavailable("deliverystore: list", err)
}
