package bagstore

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/batcher"
	"bagtrail/internal/parallel"
	"bagtrail/internal/redis"
)

// The commands that read a hash.
const (
	readHash   = "hgetall" // fields, each followed by its value
	readFields = "hkeys"   // only the fields, for the version: a tenth of the bytes
)

// query holds the reading commands of one call of Read.
type query struct {
	reader  *Reader
	replies []*goredis.StringSliceCmd // the commands, with their replies; its capacity suffices for all
	large   bool                      // a reply is known to be large
	lists   bool                      // it reads the plates of a flight, which may be many
}

// addCommands adds a command for each name. It returns a part of q.replies, since send may replace
// replies.
func addCommands[T any](ctx context.Context, q *query, names []T, key func(name T) string, command string, rest ...any) []*goredis.StringSliceCmd {
	first := len(q.replies)
	for _, name := range names {
		q.replies = append(q.replies, goredis.NewStringSliceCmd(ctx, append([]any{command, key(name)}, rest...)...))
	}
	return q.replies[first:]
}

// A query is sent alone if few others are under way, if it has many commands, or if a reply is
// known to be large, so that other queries do not wait for it. Other queries share round trips,
// since a round trip costs Redis and this process as much as a small query. Queries for the plates
// of a flight share round trips only with each other.
const (
	fewQueries     = 3
	fewCommands    = 4
	queriesPerTrip = 64
	tripsAtOnce    = 2
)

func (r *Reader) sharedTrips(atOnce int) *batcher.Batcher[*query] {
	return &batcher.Batcher[*query]{
		Run: r.sendTogether, Weight: func(*query) int { return 1 }, MaxWeight: queriesPerTrip, MaxRuns: atOnce,
		Timeout: redis.ReadLimit(queriesPerTrip*fewCommands) + r.patience,
	}
}

// send sends the commands. After a nil error every reply is complete, or empty if the key has a
// wrong type.
func (q *query) send(ctx context.Context) error {
	if len(q.replies) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(len(q.replies))+q.reader.patience)
	defer cancel()
	underWay := q.reader.underWay.Add(1)
	defer q.reader.underWay.Add(-1)
	var err error
	switch few := len(q.replies) <= fewCommands; {
	case few && q.lists:
		err = q.reader.listTrips.Do(ctx, q)
	case underWay < fewQueries || !few || q.large:
		err = q.reader.sendAlone(ctx, q.replies, int(underWay))
	default:
		err = q.reader.trips.Do(ctx, q)
	}
	if err != nil {
		return unavailable("read", err)
	}
	for _, reply := range q.replies {
		switch err := reply.Err(); {
		case redis.WrongType(err):
			q.reader.store.report(damage{key: keyOf(reply), kind: badType})
		case err != nil:
			return unavailable("read", err)
		}
	}
	return nil
}

// keyOf returns the key of a command.
func keyOf(reply *goredis.StringSliceCmd) string {
	key, _ := reply.Args()[1].(string)
	return key
}

// sendTogether sends several queries in one round trip. A command that several queries have is sent
// once. Each query checks the errors of its own replies.
func (r *Reader) sendTogether(ctx context.Context, queries []*query) error {
	type request struct{ command, key string }
	var replies []*goredis.StringSliceCmd
	first := make(map[request]*goredis.StringSliceCmd, 2*len(queries))
	for _, q := range queries {
		for i, reply := range q.replies {
			command, _ := reply.Args()[0].(string)
			request := request{command, keyOf(reply)}
			if same, found := first[request]; found {
				q.replies[i] = same
				continue
			}
			first[request] = reply
			replies = append(replies, reply)
		}
	}
	return r.roundTrip(ctx, replies)
}

// A query with many commands uses several connections at once, so that several processors read its
// replies. Each connection carries at least repliesPerPart, and all queries together use at most
// partsAtOnce connections of the pool.
const (
	repliesPerPart = 64
	partsAtOnce    = 8
)

// sendAlone sends the commands of a query, in parts if there are many. For a cluster the client
// makes the parts.
func (r *Reader) sendAlone(ctx context.Context, replies []*goredis.StringSliceCmd, underWay int) error {
	parts := min(parallel.Workers(len(replies), repliesPerPart), max(1, partsAtOnce/underWay))
	if r.store.redis.Cluster() {
		parts = 1
	}
	return parallel.Do(len(replies), parts, func(from, to int) error { return r.roundTrip(ctx, replies[from:to]) })
}

// roundTrip sends commands in one round trip. The time limit is that of ctx: of the whole query, or
// of a shared trip.
func (r *Reader) roundTrip(ctx context.Context, replies []*goredis.StringSliceCmd) error {
	return r.store.redis.ReadWithin(ctx, func(p goredis.Pipeliner) {
		for _, reply := range replies {
			_ = p.Process(ctx, reply)
		}
	})
}
