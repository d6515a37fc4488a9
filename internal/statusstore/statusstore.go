// Package statusstore keeps in Redis the last status report of each process, so that every process
// can read the reports of all. It implements status.Reports.
package statusstore

import (
	"context"
	"encoding/json"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
	"bagtrail/internal/status"
)

// The key. It begins with the prefix of the installation; the prefix is usually empty.
//
//	key     type  holds                      TTL
//	status  hash  process → its last report  none; Exchange removes old fields
const statusKey = "status"

// kept is how old a report may be before Exchange removes it.
const kept = time.Minute

// Store is safe for concurrent use. Its errors wrap redis.ErrUnavailable, except if a report
// cannot be encoded.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

// Exchange implements status.Reports. It also removes reports that cannot be decoded, or are more
// than kept older than own.
func (s *Store) Exchange(ctx context.Context, process string, own status.Report) ([]status.Report, error) {
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	key := s.redis.Prefix() + statusKey
	var all *goredis.MapStringStringCmd
	err = s.redis.Write(ctx, func(p goredis.Pipeliner) {
		p.HSet(ctx, key, process, text)
		all = p.HGetAll(ctx, key)
	})
	if err != nil {
		return nil, redis.Unavailable("statusstore: exchange", err)
	}
	var reports []status.Report
	var old []string
	for name, text := range all.Val() {
		var r status.Report
		if json.Unmarshal([]byte(text), &r) != nil || own.At.Sub(r.At) > kept {
			old = append(old, name)
			continue
		}
		reports = append(reports, r)
	}
	if len(old) > 0 {
		err = s.redis.WriteClient().HDel(ctx, key, old...).Err()
	}
	return reports, redis.Unavailable("statusstore: remove", err)
}
