package bagstore

import "context"

// Count reserves n consecutive positions for messages of a service that has no log, and returns the
// first. See ingestor.NewNumbering. All processes share one counter in Redis. After an error, which
// wraps redis.ErrUnavailable, n positions may be reserved that nobody uses.
func (s *Store) Count(ctx context.Context, n int) (first int64, err error) {
	last, err := s.redis.WriteClient().IncrBy(ctx, s.keys.count(), int64(n)).Result()
	if err != nil {
		return 0, unavailable("count", err)
	}
	return last - int64(n), nil
}
