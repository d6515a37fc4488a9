package bagstore

import "context"

// Count counts n messages that no log gives positions, and returns the number of the first of them. Those of all processes
// are counted together. The error is ErrUnavailable; then numbers may be left out.
func (s *Store) Count(ctx context.Context, n int) (first int64, err error) {
	last, err := s.redis.WriteClient().IncrBy(ctx, string(s.keys)+countKey, int64(n)).Result()
	if err != nil {
		return 0, unavailable("count", err)
	}
	return last - int64(n), nil
}
