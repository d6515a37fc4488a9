// Package requeststore remembers requests in Redis, so that a repeated one has no second effect: for
// a day the outcomes of requests for delayed-bag reports, and for ten minutes how a request with
// messages was first taken in. It knows requests by their digests only, and does not interpret what
// it stores. If Redis loses it, a repeated request is a new one.
package requeststore

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule.
//
//	key                  type    holds                                         expires
//	w:<digest>           string  a claim, then what was noted                  24 hours after it was written
//	w:messages:<digest>  hash    first, last: how the first and the last       10 minutes after it was written
//	                             attempt were to be taken in
const (
	keyKind  = "w:"
	messages = "messages:"
)

// claimPrefix begins a claim, and no note. What follows it tells the claim from all others.
const claimPrefix = "claim:"

// How long requests for reports are remembered, and attempts of requests with messages.
const (
	kept      = 24 * time.Hour
	attempted = 10 * time.Minute
)

// insistence is how long the store tries again to remove what nobody needs.
const insistence = time.Minute

// giveBack removes a claim, if it is still the same. Its reply may have been lost.
var giveBack = goredis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) end return 0`)

// begin notes an attempt, and returns the first one. end removes both, unless there is a later attempt.
var (
	begin = goredis.NewScript(`
if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("HSET", KEYS[1], "first", ARGV[1]) end
redis.call("HSET", KEYS[1], "last", ARGV[1])
redis.call("EXPIRE", KEYS[1], ARGV[2])
return redis.call("HGET", KEYS[1], "first")`)
	end = goredis.NewScript(`if redis.call("HGET", KEYS[1], "last") == ARGV[1] then redis.call("DEL", KEYS[1]) end return 0`)
)

// Store remembers requests. It is safe for concurrent use. Its errors are
// redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(id string) string { return s.redis.Prefix() + keyKind + id }

// Claim claims a request before it is sent on. If it is claimed already, claimed is false, and note
// is what was noted since, or "". After an error the request may be claimed until the store reaches
// Redis again.
func (s *Store) Claim(ctx context.Context, id string) (note string, claimed bool, err error) {
	client, own := s.redis.WriteClient(), claimPrefix+rand.Text()
	for {
		if claimed, err = client.SetNX(ctx, s.key(id), own, kept).Result(); err != nil {
			go s.insist(context.WithoutCancel(ctx), giveBack, s.key(id), own)
		}
		if claimed || err != nil {
			return "", claimed, redis.Unavailable("requeststore: claim", err)
		}
		if note, err = client.Get(ctx, s.key(id)).Result(); errors.Is(err, goredis.Nil) { // it was released meanwhile
			continue
		}
		if strings.HasPrefix(note, claimPrefix) {
			note = ""
		}
		return note, false, redis.Unavailable("requeststore: claim", err)
	}
}

// Note notes the outcome of a request that was claimed. A note is not empty, and begins like no
// claim.
func (s *Store) Note(ctx context.Context, id, note string) error {
	return redis.Unavailable("requeststore: note", s.redis.WriteClient().Set(ctx, s.key(id), note, kept).Err())
}

// Release gives a claim back. The request had no effect, and may be made again.
func (s *Store) Release(ctx context.Context, id string) error {
	return redis.Unavailable("requeststore: release", s.redis.WriteClient().Del(ctx, s.key(id)).Err())
}

// Begin notes how a request with messages is going to be taken in, unless it was begun within the last
// ten minutes and has not ended. It returns what was noted first. attempt differs from those of all
// other attempts. After an error it may be noted.
func (s *Store) Begin(ctx context.Context, id, attempt string) (first string, err error) {
	first, err = begin.Run(ctx, s.redis.WriteClient(), []string{s.key(messages + id)}, attempt, int(attempted.Seconds())).Text()
	return first, redis.Unavailable("requeststore: begin", err)
}

// End forgets a request with messages, all of which has taken effect, unless another attempt was begun
// meanwhile. If the request comes again, it is another one. If Redis cannot be reached, End returns
// when ctx ends and goes on in the background.
func (s *Store) End(ctx context.Context, id, attempt string) {
	s.insist(ctx, end, s.key(messages+id), attempt)
}

// insist runs a script until it succeeds: in the background for a minute, if it fails at first.
func (s *Store) insist(ctx context.Context, script *goredis.Script, key, arg string) {
	run := func(ctx context.Context) error {
		return script.Run(ctx, s.redis.WriteClient(), []string{key}, arg).Err()
	}
	if run(ctx) == nil {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), insistence)
		defer cancel()
		for run(ctx) != nil && pause.For(ctx, time.Second) == nil {
		}
	}()
}
