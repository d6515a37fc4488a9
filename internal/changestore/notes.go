package changestore

import (
	"context"
	"strings"

	"bagtrail/internal/changes"
	"bagtrail/internal/redis"
)

var _ changes.Notes = (*Store)(nil)

func (s *Store) notesKey() string { return s.redis.Prefix() + notesKey }

// Note implements changes.Notes.
func (s *Store) Note(ctx context.Context, batch string, keys []string) error {
	err := s.redis.WriteClient().HSet(ctx, s.notesKey(), batch, strings.Join(keys, "\n")).Err()
	return redis.Unavailable("changestore: note a batch", err)
}

// Noted implements changes.Notes.
func (s *Store) Noted(ctx context.Context) (map[string][]string, error) {
	texts, err := s.redis.WriteClient().HGetAll(ctx, s.notesKey()).Result()
	if err != nil {
		return nil, redis.Unavailable("changestore: read noted batches", err)
	}
	noted := make(map[string][]string, len(texts))
	for batch, text := range texts {
		noted[batch] = strings.Split(text, "\n")
	}
	return noted, nil
}

// Forget implements changes.Notes.
func (s *Store) Forget(ctx context.Context, batches ...string) error {
	if len(batches) == 0 {
		return nil
	}
	return redis.Unavailable("changestore: forget a batch", s.redis.WriteClient().HDel(ctx, s.notesKey(), batches...).Err())
}
