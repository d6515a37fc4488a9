package bagstore

import "context"

// Count takes n numbers in a row, which are positions for messages that are in no log, and returns
// the first of them. All processes take from the same numbers. After an error, which is
// redis.ErrUnavailable, numbers may be left out.
func (s *Store) Count(ctx context.Context, n int) (first int64, err error) {
	last, err := s.redis.WriteClient().IncrBy(ctx, s.keys.count(), int64(n)).Result()
	if err != nil {
		return 0, unavailable("count", err)
	}
	return last - int64(n), nil
}
