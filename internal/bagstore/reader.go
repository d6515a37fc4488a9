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
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/batcher"
	"bagtrail/internal/budget"
	"bagtrail/internal/redis"
	"bagtrail/internal/trail"
)

var _ trail.Index = (*Reader)(nil)

// Reader reads filed messages and their entries. Every call is one round trip, to all masters of a
// cluster at the same time, and takes at most 0.8 s, and a second more for 10,000 plates. Its error
// wraps redis.ErrUnavailable. It leaves out damaged values. It is safe for concurrent use.
type Reader struct {
	store     *Store
	buffers   sync.Pool                // of *buffer
	underWay  atomic.Int64             // how many queries are being sent
	trips     *batcher.Batcher[*query] // the shared round trips
	listTrips *batcher.Batcher[*query] // the same for queries for the plates of flights, so that others do not wait for these
	large     *budget.Sizes            // the sizes of large replies, by plate
	patience  time.Duration            // how much longer than ReadLimit a call may take
}

// patience is how much longer a patient reader may take. Its reads end just before the read timeout
// of the connection.
const patience = 4 * time.Second

// Reader returns a reader of the store.
func (s *Store) Reader() *Reader { return s.newReader(0) }

// PatientReader returns a reader whose calls may take four seconds longer, for plates with hundreds
// of thousands of messages. It is for what folds changes: otherwise such a plate would never be told.
func (s *Store) PatientReader() *Reader { return s.newReader(patience) }

func (s *Store) newReader(longer time.Duration) *Reader {
	r := &Reader{store: s, patience: longer, buffers: sync.Pool{New: func() any { return new(buffer) }}, large: budget.NewSizes()}
	r.trips, r.listTrips = r.sharedTrips(tripsAtOnce), r.sharedTrips(1)
	return r
}

// Read implements trail.Index.
func (r *Reader) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	expected, large := r.estimate(&w)
	if err := budget.Need(ctx, expected); err != nil {
		return trail.Found{}, unavailable("wait for the memory of a question", err)
	}
	k, q := r.store.keys, r.newQuery(w.Size())
	q.large, q.lists = large, len(w.Flights)+len(w.Airports)+len(w.Named) > 0
	var living []any // the arguments that select the members that have not expired; a history needs none
	if len(w.Flights)+len(w.Airports)+len(w.PNRs)+len(w.Originals)+len(w.RushPNRs)+len(w.Contents) > 0 {
		living = []any{"(" + strconv.FormatInt(r.store.now().Unix(), 10), "+inf", "byscore"}
	}
	flights := addCommands(ctx, q, w.Flights, k.flight, "zrange", living...)
	airports := addCommands(ctx, q, w.Airports, k.airport, "zrange", living...)
	pnrs := addCommands(ctx, q, w.PNRs, k.passenger, "zrange", living...)
	originals := addCommands(ctx, q, w.Originals, k.rush, "zrange", living...)
	rushPNRs := addCommands(ctx, q, w.RushPNRs, k.rushPNR, "zrange", living...)
	contents := addCommands(ctx, q, w.Contents, k.contents, "zrange", living...)
	named := addCommands(ctx, q, w.Named, func(n bag.Named) string { return k.names(n.Flight) }, "smembers")
	trails := addCommands(ctx, q, w.Trails, k.plate, readHash)
	stowage := addCommands(ctx, q, w.Stowage, k.stowage, readHash)
	trailVersions := addCommands(ctx, q, w.TrailVersions, k.plate, readFields)
	stowageVersions := addCommands(ctx, q, w.StowageVersions, k.stowage, readFields)
	if err := q.send(ctx); err != nil {
		return trail.Found{}, err
	}
	r.remember(w.Trails, trails)
	if err := budget.Need(ctx, q.measure(&w, flights)-expected); err != nil {
		return trail.Found{}, unavailable("wait for the memory of a question", err)
	}
	found := trail.Found{
		Flights: r.ascending(flights), Airports: r.flights(airports, w.Airports), PNRs: r.ascending(pnrs), Originals: r.ascending(originals),
		RushPNRs: r.ascending(rushPNRs), Contents: r.ascending(contents), Named: r.named(named, w.Named),
		Trails: r.held(trails, w.Trails), Stowage: r.held(stowage, nil),
	}
	found.TrailVersions, found.StowageVersions = versions(trailVersions), versions(stowageVersions)
	return found, nil
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
		if err := reply.Err(); err != nil && !redis.WrongType(err) { // Read reports a wrong type
			return nil, unavailable("read", err)
		}
		lengths[i] = int(reply.Val())
	}
	return lengths, nil
}

// ascending returns the plates of each reply in ascending order.
func (r *Reader) ascending(replies []*goredis.StringSliceCmd) [][]bag.Plate {
	all := make([][]bag.Plate, len(replies))
	for i, reply := range replies {
		all[i] = r.store.plates(keyOf(reply), reply.Val())
		slices.Sort(all[i])
	}
	return all
}

// flights returns the flights of each reply in ascending order of their names.
func (r *Reader) flights(replies []*goredis.StringSliceCmd, of []bag.AirportDay) [][]bag.Flight {
	all := make([][]bag.Flight, len(replies))
	for i, reply := range replies {
		for _, name := range slices.Sorted(slices.Values(reply.Val())) { // a copy, since other queries may read the same reply
			if airline := airlineLength(name); airline > 0 {
				all[i] = append(all[i], bag.Flight{Airline: name[:airline], Number: name[airline:], Day: of[i].Day})
			} else {
				r.store.report(damage{key: keyOf(reply), kind: badMember, member: name})
			}
		}
	}
	return all
}

// airlineLength returns how many bytes of the name of a flight are its airline: 3 if the third byte
// is a letter, else 2, since a number begins with a digit. It returns 0 if name is not the name of
// a flight.
func airlineLength(name string) int {
	switch {
	case len(name) > 3 && 'A' <= name[2] && name[2] <= 'Z' && isDigit(name[3]):
		return 3
	case len(name) > 2 && isDigit(name[2]) && !(isDigit(name[0]) && isDigit(name[1])):
		return 2
	}
	return 0
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// versions returns for each reply to HKEYS the version of the hash.
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

// versionOf returns the version of a hash: the sum of its fields. Each field is the codec.Identity
// of a message, and so a hash value itself. A field is the first of every so many words. A field
// that is no identity is damage; its first bytes are added.
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

// hash is the reply to HGETALL. It implements trail.Values.
type hash struct {
	reader *Reader
	reply  *goredis.StringSliceCmd
	plate  bag.Plate // "" for a container
}

// buffer is memory for decoding the values of a hash.
type buffer struct {
	texts []byte
	ends  []int // of each text
}

// textsTogether is the number of bytes at which collected texts are copied to a string of their
// own. A larger copy would hold up the whole process when the garbage collector waits for its end.
const textsTogether = 64 << 10

// Messages implements trail.Values. Several texts share one string.
func (h *hash) Messages() (messages []bag.Stored, whole bool) {
	words := h.reply.Val()
	b, _ := h.reader.buffers.Get().(*buffer)
	defer h.reader.buffers.Put(b)
	b.texts, b.ends, messages = b.texts[:0], b.ends[:0], make([]bag.Stored, 0, len(words)/2)
	for i := 0; i < len(words); i += 2 {
		texts, m, err := h.reader.store.codec.Read(b.texts, words[i], words[i+1], string(h.plate))
		if err != nil {
			h.reader.store.report(damage{keyOf(h.reply), badValue, words[i], words[i+1]})
			continue
		}
		b.texts, b.ends, messages = texts, append(b.ends, len(texts)), append(messages, m)
		if len(texts) >= textsTogether {
			b.give(messages)
		}
	}
	b.give(messages)
	slices.SortFunc(messages, byReceipt)
	return messages, 2*len(messages) == len(words)
}

// give sets the texts of the last messages, and empties the buffer.
func (b *buffer) give(messages []bag.Stored) {
	text, start := string(b.texts), 0
	for i, end := range b.ends {
		messages[len(messages)-len(b.ends)+i].Raw, start = text[start:end], end
	}
	b.texts, b.ends = b.texts[:0], b.ends[:0]
}

// byReceipt compares messages by received time, position and text; a message comes before a report.
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

// plates returns the members of a sorted set that are plates, and reports the others as damage.
func (s *Store) plates(key string, members []string) []bag.Plate {
	all := make([]bag.Plate, 0, len(members))
	for _, m := range members {
		if p := bag.Plate(m); p.Valid() {
			all = append(all, p)
		} else {
			s.report(damage{key: key, kind: badMember, member: m})
		}
	}
	return all
}
