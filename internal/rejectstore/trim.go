package rejectstore

import (
	"context"
	_ "embed"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
)

// bounds are the bounds of all rejects together, whatever the retention.
type bounds struct {
	rejects int64
	bytes   int64 // of texts, diagnostics and histories
}

var defaultBounds = bounds{rejects: 1_500_000, bytes: 4 << 30}

// trimBatch is how many rejects one run of the script removes.
const trimBatch = 200

//go:embed trim.lua
var trimScript string

var trim = goredis.NewScript(trimScript)

// Trim removes the rejects that are past the retention or too many, and returns how many. If they
// are too many, a source that has less than its share keeps them all, and of the other sources the
// oldest are removed. So a source that sends nothing but faults does not push out those of others.
func (s *Store) Trim(ctx context.Context) (removed int, err error) {
	counts, sizes, err := s.sources(ctx)
	if err != nil {
		return 0, err
	}
	oldestKept := s.now().Add(-s.retention).UnixMilli()
	maxCount, maxBytes := share(counts, s.bounds.rejects), share(sizes, s.bounds.bytes)
	for source := range counts {
		for n := trimBatch; n == trimBatch; removed += n {
			n, err = trim.Run(ctx, s.redis.WriteClient(), []string{s.prefix() + "s:" + source}, s.prefix(), source, oldestKept, maxCount, maxBytes, trimBatch).Int()
			if err != nil {
				return removed, redis.Unavailable("rejectstore: trim", err)
			}
		}
	}
	return removed, nil
}

// sources returns the number of rejects of each source, and their size in bytes.
func (s *Store) sources(ctx context.Context) (counts, sizes map[string]int64, err error) {
	all, err := s.redis.WriteClient().HGetAll(ctx, s.prefix()+"n").Result()
	if err != nil {
		return nil, nil, redis.Unavailable("rejectstore: read the sources", err)
	}
	counts, sizes = map[string]int64{}, map[string]int64{}
	for tally, text := range all {
		switch kind, source, _ := strings.Cut(tally, ":"); kind {
		case "s":
			counts[source] = number(text)
		case "b":
			sizes[source] = number(text)
		}
	}
	return counts, sizes, nil
}

// share returns the largest limit such that all amounts together, each cut to the limit, are at
// most total. An amount below the limit leaves room for the others.
func share(amounts map[string]int64, total int64) int64 {
	for i, amount := range slices.Sorted(maps.Values(amounts)) {
		if part := total / int64(len(amounts)-i); amount > part {
			return part
		}
		total -= amount
	}
	return math.MaxInt64
}

// trimEvery is the interval at which Run removes rejects.
const trimEvery = time.Minute

// Run calls Trim at once and every minute, until ctx ends. Each time it reports the number of open
// rejects, or an error.
func (s *Store) Run(ctx context.Context, report func(open int64, err error)) {
	remove := func() {
		_, err := s.Trim(ctx)
		open := int64(0)
		if err == nil {
			open, err = s.Count(ctx, Filter{State: Open})
		}
		if ctx.Err() == nil {
			report(open, err)
		}
	}
	remove()
	pause.Every(ctx, trimEvery, remove)
}
