// Package requeststore remembers requests in Redis, so that a repeated one has no second effect: for
// a day the outcomes of requests for delayed-bag reports, and for ten minutes the attempts of requests
// with messages. It knows requests by their digests only, and does not interpret what it stores. If
// Redis loses it, a repeated request is a new one.
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
//	w:messages:<digest>  hash    first, last: the first and the last attempt   10 minutes after it was written
const (
	keyKind  = "w:"
	messages = "messages:"
)

// claimPrefix begins each claim. A random text follows it.
const claimPrefix = "claim:"

// How long claims and notes, and attempts, are kept.
const (
	claimTTL   = 24 * time.Hour
	attemptTTL = 10 * time.Minute
)

// retryTimeout is how long a write that failed is tried again.
const retryTimeout = time.Minute

// giveBack removes a claim, unless another one, or a note, is there: an earlier attempt may have
// removed it although its reply was lost. It returns how many claims it has removed. replace sets a
// note in the place of any claim, and changes no later note.
var (
	giveBack = goredis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)
	replace  = goredis.NewScript(`
local old = redis.call("GET", KEYS[1])
if old and string.sub(old, 1, #ARGV[2]) == ARGV[2] then redis.call("SET", KEYS[1], ARGV[1], "EX", ARGV[3]) end
return 0`)
)

// begin records an attempt, and returns the first one. end removes both, unless there is a later one.
var (
	begin = goredis.NewScript(`
if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("HSET", KEYS[1], "first", ARGV[1]) end
redis.call("HSET", KEYS[1], "last", ARGV[1])
redis.call("EXPIRE", KEYS[1], ARGV[2])
return redis.call("HGET", KEYS[1], "first")`)
	end = goredis.NewScript(`if redis.call("HGET", KEYS[1], "last") == ARGV[1] then redis.call("DEL", KEYS[1]) end return 0`)
)

// Store remembers requests. It is safe for concurrent use. Its errors wrap redis.ErrUnavailable.
type Store struct{ redis *redis.Client }

// New returns a Store in the Redis of a client.
func New(client *redis.Client) *Store { return &Store{client} }

func (s *Store) key(id string) string { return s.redis.Prefix() + keyKind + id }

// Claim implements queryapi.Outcomes. After an error the claim is removed in the background, for up to
// a minute.
func (s *Store) Claim(ctx context.Context, id string) (note, claim string, err error) {
	client, own := s.redis.WriteClient(), claimPrefix+rand.Text()
	for {
		claimed, err := client.SetNX(ctx, s.key(id), own, claimTTL).Result()
		if err != nil { // the network may deliver the claim after its sender has given up
			go s.retry(ctx, giveBack, s.key(id), 1, own)
			return "", "", redis.Unavailable("requeststore: claim", err)
		}
		if claimed {
			return "", own, nil
		}
		if note, err = client.Get(ctx, s.key(id)).Result(); errors.Is(err, goredis.Nil) { // it was released meanwhile
			continue
		}
		if strings.HasPrefix(note, claimPrefix) {
			note = ""
		}
		return note, "", redis.Unavailable("requeststore: claim", err)
	}
}

// Note implements queryapi.Outcomes. The note must not begin with "claim:". After an error the note
// takes the place of the claim in the background, which is tried for up to a minute.
func (s *Store) Note(ctx context.Context, id, note string) error {
	err := s.redis.WriteClient().Set(ctx, s.key(id), note, claimTTL).Err()
	if err != nil {
		go s.retry(ctx, replace, s.key(id), 0, note, claimPrefix, int(claimTTL.Seconds()))
	}
	return redis.Unavailable("requeststore: note", err)
}

// Release implements queryapi.Outcomes. After an error the claim is removed in the background, for up
// to a minute.
func (s *Store) Release(ctx context.Context, id, claim string) error {
	return redis.Unavailable("requeststore: release", s.remove(ctx, giveBack, s.key(id), claim))
}

// Begin implements httpdoor.Attempts. After an error the attempt may have been recorded.
func (s *Store) Begin(ctx context.Context, id, attempt string) (first string, err error) {
	first, err = begin.Run(ctx, s.redis.WriteClient(), []string{s.key(messages + id)}, attempt, int(attemptTTL.Seconds())).Text()
	return first, redis.Unavailable("requeststore: begin", err)
}

// End implements httpdoor.Attempts. If Redis cannot be reached, the attempts are removed in the
// background, for up to a minute.
func (s *Store) End(ctx context.Context, id, attempt string) {
	_ = s.remove(ctx, end, s.key(messages+id), attempt)
}

// remove runs a script that removes what is at a key. After an error it goes on in the background.
func (s *Store) remove(ctx context.Context, script *goredis.Script, key, own string) error {
	err := script.Run(ctx, s.redis.WriteClient(), []string{key}, own).Err()
	if err != nil {
		go s.retry(ctx, script, key, 0, own)
	}
	return err
}

// retry runs a script until it returns least or more, for at most a minute.
func (s *Store) retry(ctx context.Context, script *goredis.Script, key string, least int, args ...any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retryTimeout)
	defer cancel()
	_ = pause.Until(ctx, time.Second, func() bool {
		n, err := script.Run(ctx, s.redis.WriteClient(), []string{key}, args...).Int()
		return err == nil && n >= least
	})
}
