package bagstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/budget"
	"bagtrail/internal/gather"
	"bagtrail/internal/parallel"
	"bagtrail/internal/redis"
	"bagtrail/internal/trail"
)

var _ trail.Index = (*Reader)(nil)

// Reader gives back what was filed. Every call is one round trip, to each master of a cluster at once, and takes no longer
// than 0.8 s, and a second more for 10,000 plates. Its error is ErrUnavailable. What is damaged it leaves out.
// It is safe for concurrent use.
type Reader struct {
	store   *Store
	scratch sync.Pool    // of *scratch
	asking  atomic.Int64 // queries that are under way
	trips   gather.Calls[*query]
	lists   gather.Calls[*query] // trips for the plates of flights, which nobody else is to wait for
	large   *budget.Sizes        // plates with large replies
}

// Reader returns a reader of the store.
func (s *Store) Reader() *Reader {
	r := &Reader{store: s, scratch: sync.Pool{New: func() any { return new(scratch) }}, large: budget.NewSizes()}
	r.trips = gather.Calls[*query]{Run: r.together, Most: queriesATrip, Runs: tripsAtOnce, Limit: redis.ReadLimit(queriesATrip * fewCommands)}
	r.lists = gather.Calls[*query]{Run: r.together, Most: queriesATrip, Runs: 1, Limit: redis.ReadLimit(queriesATrip * fewCommands)}
	return r
}

// Read implements trail.Index.
func (r *Reader) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	expected, large := r.expect(&w)
	if err := budget.Need(ctx, expected); err != nil {
		return trail.Found{}, unavailable("read", err)
	}
	k, q := r.store.keys, r.query(w.Size())
	q.alone, q.lists = large, len(w.Flights) > 0
	var living []any // members that have not expired
	if len(w.Flights)+len(w.PNRs)+len(w.Originals)+len(w.RushPNRs)+len(w.Contents) > 0 {
		living = []any{"(" + strconv.FormatInt(r.store.now().Unix(), 10), "+inf", "byscore"}
	}
	flights := ask(ctx, q, w.Flights, k.flight, "zrange", living...)
	pnrs := ask(ctx, q, w.PNRs, k.passenger, "zrange", living...)
	originals := ask(ctx, q, w.Originals, k.rush, "zrange", living...)
	rushPNRs := ask(ctx, q, w.RushPNRs, k.rushPNR, "zrange", living...)
	contents := ask(ctx, q, w.Contents, k.contents, "zrange", living...)
	trails := ask(ctx, q, w.Trails, k.plate, whole)
	stowage := ask(ctx, q, w.Stowage, k.stowage, whole)
	trailVersions := ask(ctx, q, w.TrailVersions, k.plate, fields)
	stowageVersions := ask(ctx, q, w.StowageVersions, k.stowage, fields)
	if err := q.send(ctx); err != nil {
		return trail.Found{}, err
	}
	if err := budget.Need(ctx, r.measure(q, &w, flights, trails)-expected); err != nil {
		return trail.Found{}, unavailable("read", err)
	}
	return trail.Found{
		Flights: r.ascending(flights), PNRs: r.ascending(pnrs), Originals: r.ascending(originals), RushPNRs: r.ascending(rushPNRs), Contents: r.ascending(contents),
		Trails: r.held(trails, w.Trails), Stowage: r.held(stowage, nil),
		TrailVersions: r.versions(trailVersions), StowageVersions: r.versions(stowageVersions), TrailLengths: lengths(trailVersions),
	}, nil
}

// versions reads the versions of hashes of which the fields were asked for.
func (r *Reader) versions(replies []*goredis.StringSliceCmd) []uint64 {
	all := make([]uint64, len(replies))
	for i, reply := range replies {
		all[i] = versionOf(reply.Val(), 1)
	}
	return all
}

// lengths returns how many fields each hash has.
func lengths(replies []*goredis.StringSliceCmd) []int {
	all := make([]int, len(replies))
	for i, reply := range replies {
		all[i] = len(reply.Val())
	}
	return all
}

// held returns what hashes hold, those of plates where there are some.
func (r *Reader) held(replies []*goredis.StringSliceCmd, plates []bag.Plate) []trail.Held {
	all, hashes := make([]trail.Held, len(replies)), make([]hash, len(replies))
	for i, reply := range replies {
		all[i].Version = versionOf(reply.Val(), 2)
		if len(reply.Val()) == 0 {
			continue
		}
		hashes[i] = hash{reader: r, reply: reply}
		if plates != nil {
			hashes[i].plate = plates[i]
		}
		all[i].Values = &hashes[i]
	}
	return all
}

// query is the reading commands of one round trip.
type query struct {
	reader  *Reader
	args    []any
	cmds    []goredis.Cmder
	replies []*goredis.StringSliceCmd
	alone   bool // the reply will be large
	lists   bool // it asks for the plates of a flight, which may be many
}

// A query goes at once where few others are under way. Else those of few commands go together, so that each costs Redis, and
// us, a part of a trip only; those of many go alone, since nobody is to wait for their replies. Who asks for the plates of a
// flight, which may be many, goes with others who do.
const (
	fewQueries   = 3
	fewCommands  = 4
	queriesATrip = 64
	tripsAtOnce  = 2
)

func (r *Reader) query(commands int) *query {
	return &query{
		reader:  r,
		args:    make([]any, 0, 5*commands),
		cmds:    make([]goredis.Cmder, 0, commands),
		replies: make([]*goredis.StringSliceCmd, 0, commands),
	}
}

// What is asked of a hash: its fields, each with its value behind it, or the fields alone, which tell its version in a
// tenth of the bytes.
const (
	whole  = "hgetall"
	fields = "hkeys"
)

// ask adds a command for each name, and returns where their replies will be.
func ask[T any](ctx context.Context, q *query, names []T, spell func(dst []byte, name T) []byte, command string, rest ...any) []*goredis.StringSliceCmd {
	first := len(q.replies)
	var key []byte
	for _, name := range names {
		key = spell(key[:0], name)
		at := len(q.args)
		q.args = append(append(q.args, command, string(key)), rest...)
		reply := goredis.NewStringSliceCmd(ctx, q.args[at:len(q.args):len(q.args)]...)
		q.cmds, q.replies = append(q.cmds, reply), append(q.replies, reply)
	}
	return q.replies[first:]
}

// send asks. With a nil error every reply is there, whole, or empty for a key of a wrong type.
func (q *query) send(ctx context.Context) error {
	if len(q.cmds) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(len(q.cmds)))
	defer cancel()
	underWay := q.reader.asking.Add(1)
	defer q.reader.asking.Add(-1)
	var err error
	switch few := len(q.cmds) <= fewCommands; {
	case few && q.lists:
		err = q.reader.lists.Do(ctx, q)
	case underWay < fewQueries || !few || q.alone:
		err = q.reader.split(ctx, q.cmds, int(underWay))
	default:
		err = q.reader.trips.Do(ctx, q)
	}
	if err != nil {
		return unavailable("read", err)
	}
	for _, reply := range q.replies {
		switch err := reply.Err(); {
		case redis.WrongType(err):
			q.reader.store.meet(damage{key: keyOf(reply), what: badType})
		case err != nil:
			return unavailable("read", err)
		}
	}
	return nil
}

// keyOf returns the key that was asked for.
func keyOf(reply *goredis.StringSliceCmd) string {
	key, _ := reply.Args()[1].(string)
	return key
}

// together sends several queries. What more than one of them asks for is asked once. Each of them looks after its own replies.
func (r *Reader) together(ctx context.Context, queries []*query) error {
	cmds := make([]goredis.Cmder, 0, 2*len(queries))
	first := make(map[asked]*goredis.StringSliceCmd, 2*len(queries))
	for _, q := range queries {
		for i, reply := range q.replies {
			what := askedBy(reply)
			if same, found := first[what]; found {
				q.replies[i] = same
				continue
			}
			first[what] = reply
			cmds = append(cmds, reply)
		}
	}
	return r.trip(ctx, cmds)
}

// asked is what a command asks for.
type asked struct{ command, key string }

func askedBy(reply *goredis.StringSliceCmd) asked {
	command, _ := reply.Args()[0].(string)
	return asked{command, keyOf(reply)}
}

// A query of many commands goes over several connections at once, so that several processors read its replies: each of them
// for so many replies at least, and all queries together over no more than a part of the pool.
const (
	repliesAPart = 64
	partsAtOnce  = 8
)

// split sends the commands of a query in one round trip. A cluster gets them on a connection to each master as it is.
func (r *Reader) split(ctx context.Context, cmds []goredis.Cmder, underWay int) error {
	parts := min(parallel.Workers(len(cmds), repliesAPart), max(1, partsAtOnce/underWay))
	if parts == 1 || r.store.redis.Cluster() {
		return r.trip(ctx, cmds)
	}
	faults := make([]error, parts)
	parallel.Do(len(cmds), parts, func(part, from, to int) { faults[part] = r.trip(ctx, cmds[from:to]) })
	return cmp.Or(faults...)
}

// trip sends commands over one connection. After a nil error Redis may still have refused some of them, whose replies say so.
func (r *Reader) trip(ctx context.Context, cmds []goredis.Cmder) error {
	return r.store.redis.Read(ctx, func(p goredis.Pipeliner) { _ = p.BatchProcess(ctx, cmds...) })
}

// ascending returns the plates of each reply in ascending order, whatever their expiry.
func (r *Reader) ascending(replies []*goredis.StringSliceCmd) [][]bag.Plate {
	all := make([][]bag.Plate, len(replies))
	for i, reply := range replies {
		all[i] = r.store.plates(keyOf(reply), reply.Val())
		slices.Sort(all[i])
	}
	return all
}

// hash is a hash that was read. It implements trail.Values.
type hash struct {
	reader *Reader
	reply  *goredis.StringSliceCmd // its fields, each with its value behind it
	plate  bag.Plate               // "" for a container
}

// scratch is what is needed while a hash is read again.
type scratch struct {
	texts []byte
	ends  []int
}

// Messages implements trail.Values. The texts share one piece of memory.
func (h *hash) Messages() (messages []bag.Stored, whole bool) {
	words := h.reply.Val()
	s, _ := h.reader.scratch.Get().(*scratch)
	defer h.reader.scratch.Put(s)
	texts, all := s.texts[:0], make([]bag.Stored, len(words)/2)
	s.ends = s.ends[:0]
	n := 0
	for i := 0; i < len(words); i += 2 {
		var err error
		if texts, all[n], err = h.reader.store.codec.Read(texts, words[i], words[i+1], string(h.plate)); err != nil {
			h.reader.store.meet(damage{keyOf(h.reply), badValue, words[i], words[i+1]})
			continue
		}
		s.ends = append(s.ends, len(texts))
		n++
	}
	all = all[:n]
	s.texts = texts
	text, start := string(texts), 0
	for i, end := range s.ends {
		all[i].Raw, start = text[start:end], end
	}
	slices.SortFunc(all, byReceipt)
	return all, 2*n == len(words)
}

// versionOf returns the version of a hash: the sum of its fields, each of which is the codec.Identity of a message and so
// a hash itself. The fields are the first of every so many words. A field that is no identity is damage, and counts by its
// first bytes.
//
// By accident two hashes have the same version with a chance of one in 2^64. A sender who searches for messages that add
// up to nothing can hide them from those who have cached the bag, until another message about it comes.
func versionOf(words []string, every int) uint64 {
	sum := uint64(1)
	for i := 0; i < len(words); i += every {
		var id codec.Identity
		copy(id[:], words[i])
		sum += binary.BigEndian.Uint64(id[:])
	}
	return max(sum, 1)
}

// byReceipt orders messages so that the order depends on nothing else.
func byReceipt(a, b bag.Stored) int {
	if c := cmp.Or(a.Received.Compare(b.Received), a.Position.Compare(b.Position)); c != 0 {
		return c
	}
	if c := strings.Compare(a.Raw, b.Raw); c != 0 || a.Report == b.Report {
		return c
	} else if b.Report {
		return -1
	}
	return 1
}
