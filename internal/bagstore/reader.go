package bagstore

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/gather"
	"bagtrail/internal/trail"
)

var _ trail.Index = (*Reader)(nil)

// Reader gives back what was filed. Every call is one round trip, to each master of a cluster at once, and takes no longer
// than 0.8 s, and a second more for 10,000 plates. An error is ErrUnavailable or ErrDamaged. It is safe for concurrent use.
type Reader struct {
	store   *Store
	scratch sync.Pool    // of *[]byte
	asking  atomic.Int64 // queries that are under way
	trips   gather.Calls[*query]
}

// Reader returns a reader of the store.
func (s *Store) Reader() *Reader {
	r := &Reader{store: s, scratch: sync.Pool{New: func() any { return new([]byte) }}}
	r.trips = gather.Calls[*query]{Run: r.together, Most: queriesATrip, Runs: tripsAtOnce, Limit: readLimit(queriesATrip * fewCommands)}
	return r
}

// Flight implements trail.Index. Plates are in ascending order.
func (r *Reader) Flight(ctx context.Context, f bag.Flight, before trail.Before) (trail.Overview, error) {
	q := r.query(1 + len(before.Plates) + len(before.Containers))
	members := q.members(ctx, r.store.keys.flight(nil, f))
	q.versions(ctx, before)
	if err := q.send(ctx, "flight"); err != nil {
		return trail.Overview{}, err
	}
	return trail.Overview{Plates: ascending(members), Versions: r.versions(q.replies[1:], before)}, nil
}

// Versions implements trail.Index.
func (r *Reader) Versions(ctx context.Context, before trail.Before) (trail.Versions, error) {
	q := r.query(len(before.Plates) + len(before.Containers))
	q.versions(ctx, before)
	if err := q.send(ctx, "versions"); err != nil {
		return trail.Versions{}, err
	}
	return r.versions(q.replies, before), nil
}

// versions reads what query.versions asked for.
func (r *Reader) versions(replies []*redis.StringSliceCmd, before trail.Before) trail.Versions {
	all := make([]uint64, len(replies))
	for i, reply := range replies {
		all[i] = r.version(reply.Val(), 1)
	}
	return trail.Versions{OfPlates: all[:len(before.Plates)], OfContainers: all[len(before.Plates):]}
}

// Passenger implements trail.Index. Plates are in ascending order.
func (r *Reader) Passenger(ctx context.Context, pnr string) ([]bag.Plate, error) {
	q := r.query(1)
	members := q.members(ctx, r.store.keys.passenger(nil, pnr))
	if err := q.send(ctx, "passenger"); err != nil {
		return nil, err
	}
	return ascending(members), nil
}

// Trails implements trail.Index. Messages are in the order of receipt.
func (r *Reader) Trails(ctx context.Context, plates []bag.Plate, known func(i int, version uint64) bool) ([]trail.Held, error) {
	q := r.query(len(plates))
	q.plates(ctx, whole, plates)
	if err := q.send(ctx, "trails"); err != nil {
		return nil, err
	}
	return r.each(q, func(i int) string { return string(plates[i]) }, known)
}

// Rush implements trail.Index. Plates are in ascending order.
func (r *Reader) Rush(ctx context.Context, originals []bag.Plate) ([][]bag.Plate, error) {
	return sets(ctx, r, "rush", originals, r.store.keys.rush)
}

// Contents returns for each container, in the order given, the plates that were filed under it. They are in ascending order.
func (r *Reader) Contents(ctx context.Context, containers []bag.Container) ([][]bag.Plate, error) {
	return sets(ctx, r, "contents", containers, r.store.keys.contents)
}

// sets returns the members of sorted sets in one round trip.
func sets[T any](ctx context.Context, r *Reader, operation string, names []T, spell func(dst []byte, name T) []byte) ([][]bag.Plate, error) {
	q := r.query(len(names))
	var key []byte
	for _, name := range names {
		key = spell(key[:0], name)
		q.members(ctx, key)
	}
	if err := q.send(ctx, operation); err != nil {
		return nil, err
	}
	found := make([][]bag.Plate, len(names))
	for i, reply := range q.replies {
		found[i] = ascending(reply)
	}
	return found, nil
}

// Stowage implements trail.Index. Messages are in the order of receipt.
func (r *Reader) Stowage(ctx context.Context, containers []bag.Container, known func(i int, version uint64) bool) ([]trail.Held, error) {
	q := r.query(len(containers))
	q.stowage(ctx, whole, containers)
	if err := q.send(ctx, "stowage"); err != nil {
		return nil, err
	}
	return r.each(q, func(int) string { return "" }, known)
}

// each reads all hashes of a query.
func (r *Reader) each(q *query, plate func(i int) string, known func(i int, version uint64) bool) ([]trail.Held, error) {
	all := make([]trail.Held, len(q.replies))
	for i, reply := range q.replies {
		all[i].Version = r.version(reply.Val(), 2)
		if known != nil && known(i, all[i].Version) {
			continue
		}
		var err error
		if all[i].Messages, err = r.messages(reply, plate(i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// query is the reading commands of one round trip.
type query struct {
	reader  *Reader
	living  any // lowest score of a member that has not expired
	args    []any
	cmds    []redis.Cmder
	replies []*redis.StringSliceCmd
}

// Queries of few commands go together, so that each costs Redis, and us, a part of a trip only. Those of many go alone: nobody
// is to wait for their replies.
const (
	few          = 2 // others
	fewCommands  = 4
	queriesATrip = 64
	tripsAtOnce  = 2
)

func (r *Reader) query(commands int) *query {
	return &query{
		reader:  r,
		args:    make([]any, 0, 5*commands),
		cmds:    make([]redis.Cmder, 0, commands),
		replies: make([]*redis.StringSliceCmd, 0, commands),
	}
}

// members asks for the members of a sorted set that have not expired.
func (q *query) members(ctx context.Context, key []byte) *redis.StringSliceCmd {
	if q.living == nil {
		q.living = "(" + strconv.FormatInt(q.reader.store.now().Unix(), 10)
	}
	return q.add(ctx, "zrange", string(key), q.living, "+inf", "byscore")
}

// What is asked of a hash: its fields, each with its value behind it, or the fields alone, which tell its version in a
// tenth of the bytes.
const (
	whole  = "hgetall"
	fields = "hkeys"
)

// plates asks for the hashes of plates.
func (q *query) plates(ctx context.Context, what string, plates []bag.Plate) {
	var key []byte
	for _, p := range plates {
		key = q.reader.store.keys.plate(key[:0], p)
		q.add(ctx, what, string(key))
	}
}

// stowage asks for the hashes of positionings of containers.
func (q *query) stowage(ctx context.Context, what string, containers []bag.Container) {
	var key []byte
	for _, c := range containers {
		key = q.reader.store.keys.stowage(key[:0], c)
		q.add(ctx, what, string(key))
	}
}

// versions asks for what tells the versions.
func (q *query) versions(ctx context.Context, before trail.Before) {
	q.plates(ctx, fields, before.Plates)
	q.stowage(ctx, fields, before.Containers)
}

func (q *query) add(ctx context.Context, args ...any) *redis.StringSliceCmd {
	first := len(q.args)
	q.args = append(q.args, args...)
	reply := redis.NewStringSliceCmd(ctx, q.args[first:len(q.args):len(q.args)]...)
	q.cmds, q.replies = append(q.cmds, reply), append(q.replies, reply)
	return reply
}

// send asks. With a nil error every reply is there, whole.
func (q *query) send(ctx context.Context, operation string) error {
	if len(q.cmds) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit(len(q.cmds)))
	defer cancel()
	others := q.reader.asking.Add(1) - 1
	defer q.reader.asking.Add(-1)
	var err error
	if others < few || len(q.cmds) > fewCommands {
		err = q.reader.trip(ctx, q.cmds)
	} else {
		err = q.reader.trips.Do(ctx, q)
	}
	if err != nil {
		return unavailable(operation, err)
	}
	for _, reply := range q.replies {
		if err := reply.Err(); err != nil {
			return unavailable(operation, err)
		}
	}
	return nil
}

// together sends several queries. Each of them looks after its own replies.
func (r *Reader) together(ctx context.Context, queries []*query) error {
	cmds := make([]redis.Cmder, 0, 2*len(queries))
	for _, q := range queries {
		cmds = append(cmds, q.cmds...)
	}
	return r.trip(ctx, cmds)
}

// trip sends commands in one round trip. A nil error does not say that every reply is one: Redis may have refused some.
func (r *Reader) trip(ctx context.Context, cmds []redis.Cmder) error {
	pipeline := r.store.reading.Pipeline()
	if err := pipeline.BatchProcess(ctx, cmds...); err != nil {
		return err
	}
	_, err := pipeline.Exec(ctx)
	if refused := redis.Error(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}

// ascending returns plates in ascending order, whatever their expiry.
func ascending(reply *redis.StringSliceCmd) []bag.Plate {
	members := reply.Val()
	plates := make([]bag.Plate, len(members))
	for i, m := range members {
		plates[i] = bag.Plate(m)
	}
	slices.Sort(plates)
	return plates
}

// messages reads the values of a hash. Their texts share one piece of memory.
func (r *Reader) messages(reply *redis.StringSliceCmd, plate string) ([]bag.Stored, error) {
	words := reply.Val()
	if len(words) == 0 {
		return nil, nil
	}
	scratch, _ := r.scratch.Get().(*[]byte)
	defer r.scratch.Put(scratch)
	texts, ends := (*scratch)[:0], make([]int, len(words)/2)
	all := make([]bag.Stored, len(ends))
	for i := range all {
		var err error
		if texts, all[i], err = r.store.codec.Decode(texts, words[2*i+1], plate); err != nil {
			key, _ := reply.Args()[1].(string)
			return nil, damaged(key, err)
		}
		ends[i] = len(texts)
	}
	*scratch = texts
	text, start := string(texts), 0
	for i, end := range ends {
		all[i].Raw, start = text[start:end], end
	}
	slices.SortFunc(all, byReceipt)
	return all, nil
}

// version returns a number that only a hash with these fields has, in any order, within this process. A field names what
// it holds (see codec.Identity). The fields are the first of every so many words.
func (r *Reader) version(words []string, every int) uint64 {
	sum := uint64(1)
	for i := 0; i < len(words); i += every {
		sum += maphash.String(r.store.settled.seed, words[i])
	}
	return max(sum, 1)
}

// byReceipt orders messages so that the order depends on nothing else.
func byReceipt(a, b bag.Stored) int {
	if c := a.Received.Compare(b.Received); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Raw, b.Raw), cmp.Compare(a.Kind, b.Kind))
}
