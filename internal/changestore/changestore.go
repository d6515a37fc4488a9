// Package changestore keeps the index of changes in Redis: which plates changed, in which order,
// and the progress of the owners of the partitions. It implements changes.Index and
// changes.ReadIndex. Every write may be repeated, reordered, or done by two processes at once,
// since sequences and times only rise.
package changestore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/changes"
	"bagtrail/internal/redis"
)

// The keys. Each begins with the prefix of the installation, which is "" as a rule. E is the epoch,
// n the partition; the braces put all keys of a partition into one slot of a cluster.
//
//	key            type    holds                                             expires
//	d:epoch        string  E/partitions                                      never
//	d:replay       hash    batch → keys of its marks, one on each line,      never
//	                       while a replay files it
//	d:{E.n}:at     zset    told, floor: sequences                            retention and Reserve after the
//	                       clock, departed: times, in milliseconds             last write
//	                       built: the offset in the topic of changes up
//	                       to which the index was built again
//	d:{E.n}:all    zset    plate → its latest sequence                       the same
//	d:{E.n}:a:LX   zset    the same for plates with a flight of the airline  the same
//	d:{E.n}:p:ZRH  zset    the same for plates with the airport              the same
const (
	epochKey = "d:epoch"
	notesKey = "d:replay"
)

// Reserve is how much longer than the retention of changes the keys, and the records of the topics,
// are kept.
const Reserve = 24 * time.Hour

// Store is the index of changes in Redis. It is safe for concurrent use.
type Store struct {
	redis  *redis.Client
	expiry time.Duration // of the keys of a partition, after the last write
	now    func() time.Time
}

// New returns the index of changes. retention is how long changes are kept. now is the clock from
// which the expiries of keys are computed.
func New(client *redis.Client, retention time.Duration, now func() time.Time) *Store {
	return &Store{client, retention + Reserve, now}
}

var _ changes.Index = (*Store)(nil)

func (s *Store) epochKey() string { return s.redis.Prefix() + epochKey }

func (s *Store) key(begun int64, partition int, rest string) string {
	return s.redis.Prefix() + "d:{" + strconv.FormatInt(begun, 10) + "." + strconv.Itoa(partition) + "}:" + rest
}

// Epoch implements changes.Index.
func (s *Store) Epoch(ctx context.Context) (changes.Epoch, error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	text, err := s.redis.ReadClient().Get(ctx, s.epochKey()).Result()
	return readEpoch(text, err)
}

// readEpoch returns the epoch that a reply of GET holds.
func readEpoch(text string, err error) (changes.Epoch, error) {
	if errors.Is(err, goredis.Nil) {
		return changes.Epoch{}, nil
	}
	if err != nil {
		return changes.Epoch{}, redis.Unavailable("changestore: read the epoch", err)
	}
	begun, partitions, _ := strings.Cut(text, "/")
	var e changes.Epoch
	e.Begun, err = strconv.ParseInt(begun, 10, 64)
	n, wrong := strconv.Atoi(partitions)
	if err != nil || wrong != nil || n < 1 || e.Begun < 1 {
		return changes.Epoch{}, fmt.Errorf("changestore: %q is not an epoch", text)
	}
	e.Partitions = n
	return e, nil
}

func spellEpoch(e changes.Epoch) string {
	if e == (changes.Epoch{}) {
		return ""
	}
	return strconv.FormatInt(e.Begun, 10) + "/" + strconv.Itoa(e.Partitions)
}

//go:embed begin.lua
var beginScript string

//go:embed tell.lua
var tellScript string

var begin, tell = goredis.NewScript(beginScript), goredis.NewScript(tellScript)

// Begin implements changes.Index.
func (s *Store) Begin(ctx context.Context, last, next changes.Epoch) (changes.Epoch, error) {
	text, err := begin.Run(ctx, s.redis.WriteClient(), []string{s.epochKey()}, spellEpoch(last), spellEpoch(next)).Text()
	return readEpoch(text, err)
}

// Progress implements changes.Index.
func (s *Store) Progress(ctx context.Context, e changes.Epoch, partition int) (changes.Progress, error) {
	var epoch *goredis.StringCmd
	var at *goredis.ZSliceCmd
	err := s.redis.Read(ctx, func(pipe goredis.Pipeliner) {
		epoch = pipe.Get(ctx, s.epochKey())
		at = pipe.ZRangeWithScores(ctx, s.key(e.Begun, partition, "at"), 0, -1)
	})
	progress, err := progressOf([]*goredis.ZSliceCmd{at}, err)
	if err != nil {
		return changes.Progress{}, err
	}
	if current, err := readEpoch(epoch.Result()); err != nil || current != e {
		return readProgress(nil), err
	}
	return progress[0], nil
}

// readProgress returns the progress that a reply of ZRANGE WITHSCORES holds.
func readProgress(at []goredis.Z) changes.Progress {
	p := changes.Progress{Told: -1, Floor: -1}
	for _, z := range at {
		switch z.Member {
		case "told":
			p.Told = int64(z.Score)
		case "floor":
			p.Floor = int64(z.Score)
		case "clock":
			p.Clock = time.UnixMilli(int64(z.Score)).UTC()
		case "departed":
			p.Departed = time.UnixMilli(int64(z.Score)).UTC()
		}
	}
	return p
}

// Tell implements changes.Index.
func (s *Store) Tell(ctx context.Context, e changes.Epoch, partition int, t changes.IndexWrite) (more bool, err error) {
	plates := map[changes.Scope][]any{changes.All: nil} // scores and members
	for i := range t.Entries {
		entry := &t.Entries[i]
		add := func(scope changes.Scope) { plates[scope] = append(plates[scope], entry.Sequence, string(entry.Plate)) }
		add(changes.All)
		for _, airline := range entry.Airlines {
			add(changes.OfAirline(airline))
		}
		for _, airport := range entry.Airports {
			add(changes.OfAirport(airport))
		}
	}
	var at []any // scores and members
	set := func(member string, score int64, known bool) {
		if known {
			at = append(at, score, member)
		}
	}
	set("clock", t.Clock.UnixMilli(), !t.Clock.IsZero())
	set("departed", t.Departed.UnixMilli(), !t.Departed.IsZero())
	set("floor", t.Floor, t.Floor >= 0)
	set("told", t.Told, t.Told >= 0 || t.Floor >= 0)
	set("built", t.Built, t.Built > 0)
	args := []any{t.After, s.now().Add(s.expiry).Unix(), "told"}
	if t.AfterBuilt > 0 {
		args[0], args[2] = t.AfterBuilt, "built"
	}
	keys := []string{s.key(e.Begun, partition, "at")}
	args = append(append(args, len(at)), at...)
	for scope, list := range plates {
		keys = append(keys, s.key(e.Begun, partition, string(scope)))
		args = append(append(args, len(list)), list...)
	}
	result, err := tell.Run(ctx, s.redis.WriteClient(), keys, args...).Text()
	if err != nil {
		return false, redis.Unavailable("changestore: tell", err)
	}
	// If e is still the epoch now, it was the epoch when the script wrote. The script cannot read
	// the epoch, since its key is in another slot of a cluster.
	current, err := readEpoch(s.redis.WriteClient().Get(ctx, s.epochKey()).Result())
	if err != nil {
		return false, err
	}
	if result == "lost" || current != e {
		return false, changes.ErrIndexLost
	}
	return result == "more", nil
}
