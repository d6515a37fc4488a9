package bagstore

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/batcher"
	"bagtrail/internal/budget"
	"bagtrail/internal/cache"
	"bagtrail/internal/redis"
	"bagtrail/internal/trail"
	"bagtrail/parser"
)

var _ trail.Index = (*Reader)(nil)

// Reader reads filed messages and their entries. Every call is one round trip, to all masters of a
// cluster at the same time, and takes at most 0.8 s, and a second more for 10,000 plates. Its error
// wraps redis.ErrUnavailable. It leaves out damaged values. It is safe for concurrent use.
type Reader struct {
	store     *Store
	buffers   sync.Pool                      // of *[]byte, in which values are decoded
	underWay  atomic.Int64                   // how many queries are being sent
	trips     *batcher.Batcher[*query]       // the shared round trips
	listTrips *batcher.Batcher[*query]       // the shared round trips of queries for the plates of flights, for which others do not wait
	large     *cache.Cache[bag.Plate, int64] // the sizes of large replies in bytes
	patience  time.Duration                  // how much longer than ReadLimit a call may take
}

// patience is how much longer a patient reader may take. Its reads end just before the read timeout
// of the connection.
const patience = 4 * time.Second

// Reader returns a reader of the store.
func (s *Store) Reader() *Reader { return s.newReader(0) }

// PatientReader returns a reader whose calls may take four seconds longer, for plates with hundreds
// of thousands of messages. Owners and readers of changes use it: otherwise the changes of such a
// plate would never be published.
func (s *Store) PatientReader() *Reader { return s.newReader(patience) }

func (s *Store) newReader(longer time.Duration) *Reader {
	r := &Reader{store: s, patience: longer, buffers: sync.Pool{New: func() any { return new([]byte) }}, large: cache.New[bag.Plate, int64](maxLarge)}
	r.trips, r.listTrips = r.sharedTrips(tripsAtOnce), r.sharedTrips(1)
	return r
}

// Read implements trail.Index.
func (r *Reader) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	expected, large := r.estimate(&w)
	if err := budget.Need(ctx, expected); err != nil {
		return trail.Found{}, unavailable("wait for the memory of a question", err)
	}
	k := r.store.keys
	q := &query{reader: r, replies: make([]*goredis.StringSliceCmd, 0, w.Size()), large: large, lists: len(w.Flights)+len(w.Airports)+len(w.Named) > 0}
	living := []any{"(" + strconv.FormatInt(r.store.now().Unix(), 10), "+inf", "byscore"} // selects the members that have not expired
	flights := addCommands(ctx, q, w.Flights, k.flight, "zrange", living...)
	airports := addCommands(ctx, q, w.Airports, k.airport, "zrange", living...)
	pnrs := addCommands(ctx, q, w.PNRs, k.passenger, "zrange", living...)
	originals := addCommands(ctx, q, w.Originals, k.rush, "zrange", living...)
	rushPNRs := addCommands(ctx, q, w.RushPNRs, k.rushPNR, "zrange", living...)
	contents := addCommands(ctx, q, w.Contents, k.contents, "zrange", living...)
	named := addCommands(ctx, q, w.Named, func(n bag.Named) string { return k.names(n.Flight) }, "smembers")
	trails := addCommands(ctx, q, w.PlateMessages, k.plate, readHash)
	stowage := addCommands(ctx, q, w.Stowage, k.stowage, readHash)
	trailVersions := addCommands(ctx, q, w.PlateVersions, k.plate, readFields)
	stowageVersions := addCommands(ctx, q, w.StowageVersions, k.stowage, readFields)
	if err := q.send(ctx); err != nil {
		return trail.Found{}, err
	}
	r.remember(w.PlateMessages, trails)
	if err := budget.Need(ctx, q.measure(&w, flights)-expected); err != nil {
		return trail.Found{}, unavailable("wait for the memory of a question", err)
	}
	return trail.Found{
		Flights: r.ascending(flights), Airports: r.flights(airports, w.Airports), PNRs: r.ascending(pnrs), Originals: r.ascending(originals),
		RushPNRs: r.ascending(rushPNRs), Contents: r.ascending(contents), Named: r.named(named, w.Named),
		PlateMessages: r.held(trails, w.PlateMessages), Stowage: r.held(stowage, nil),
		PlateVersions: versions(trailVersions), StowageVersions: versions(stowageVersions),
	}, nil
}

// Lengths implements trail.Index.
func (r *Reader) Lengths(ctx context.Context, plates []bag.Plate) ([]int, error) {
	if len(plates) == 0 {
		return nil, nil
	}
	replies := make([]*goredis.IntCmd, len(plates))
	err := r.store.redis.Read(ctx, func(p goredis.Pipeliner) {
		for i, plate := range plates {
			replies[i] = p.HLen(ctx, r.store.keys.plate(plate))
		}
	})
	if err != nil {
		return nil, unavailable("read", err)
	}
	lengths := make([]int, len(plates))
	for i, reply := range replies {
		if err := reply.Err(); err != nil && !redis.WrongType(err) { // method Read reports a wrong type as damage
			return nil, unavailable("read", err)
		}
		lengths[i] = int(reply.Val())
	}
	return lengths, nil
}

// ascending returns the plates of each reply in ascending order, and reports its other members as
// damage.
func (r *Reader) ascending(replies []*goredis.StringSliceCmd) [][]bag.Plate {
	all := make([][]bag.Plate, len(replies))
	for i, reply := range replies {
		all[i] = make([]bag.Plate, 0, len(reply.Val()))
		for _, m := range reply.Val() {
			if p := bag.Plate(m); p.Valid() {
				all[i] = append(all[i], p)
			} else {
				r.store.report(damage{key: keyOf(reply), kind: badMember, member: m})
			}
		}
		slices.Sort(all[i])
	}
	return all
}

// flights returns the flights of each reply, in any order.
func (r *Reader) flights(replies []*goredis.StringSliceCmd, of []bag.AirportDay) [][]bag.Flight {
	all := make([][]bag.Flight, len(replies))
	for i, reply := range replies {
		for _, name := range reply.Val() {
			if airline, number, sound := parser.FlightOf(name); sound {
				all[i] = append(all[i], bag.Flight{Airline: airline, Number: number, Day: of[i].Day})
			} else {
				r.store.report(damage{key: keyOf(reply), kind: badMember, member: name})
			}
		}
	}
	return all
}

// versions returns the version of the hash of each reply to HKEYS.
func versions(replies []*goredis.StringSliceCmd) []uint64 {
	all := make([]uint64, len(replies))
	for i, reply := range replies {
		all[i] = versionOf(reply.Val(), 1)
	}
	return all
}

// held returns the content of each reply to HGETALL. plates are the plates of the replies, or nil
// for containers.
func (r *Reader) held(replies []*goredis.StringSliceCmd, plates []bag.Plate) []trail.Held {
	all := make([]trail.Held, len(replies))
	for i, reply := range replies {
		plate := ""
		if plates != nil {
			plate = string(plates[i])
		}
		all[i].Version = versionOf(reply.Val(), 2)
		all[i].Messages = func() ([]bag.Stored, bool) { return r.messages(reply, plate) }
	}
	return all
}

// versionOf returns the version of a hash: the sum of its fields. Each field is the codec.Identity
// of a message, and so a hash value itself. In words, every word whose index is a multiple of every
// is a field. A field that is not an identity is damage; its first bytes are added.
//
// Two hashes have the same version by accident with a probability of 2^-64. A sender who searches
// for messages whose identities add up to 0 can hide them from readers that have cached the bag,
// until another message about the bag comes.
func versionOf(words []string, every int) uint64 {
	sum := uint64(1)
	for i := 0; i < len(words); i += every {
		var id codec.Identity
		copy(id[:], words[i])
		sum += binary.BigEndian.Uint64(id[:])
	}
	return max(sum, 1)
}

// messages decodes the reply to HGETALL of a plate, or of a container, whose plate is "".
func (r *Reader) messages(reply *goredis.StringSliceCmd, plate string) (messages []bag.Stored, whole bool) {
	words := reply.Val()
	buffer, _ := r.buffers.Get().(*[]byte)
	defer r.buffers.Put(buffer)
	messages = make([]bag.Stored, 0, len(words)/2)
	for i := 0; i < len(words); i += 2 {
		text, m, err := r.store.codec.Read((*buffer)[:0], words[i], words[i+1], plate)
		if err != nil {
			r.store.report(damage{keyOf(reply), badValue, words[i], words[i+1]})
			continue
		}
		m.Raw, *buffer = string(text), text
		messages = append(messages, m)
	}
	return messages, 2*len(messages) == len(words)
}
