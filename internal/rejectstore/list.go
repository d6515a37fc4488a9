package rejectstore

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
	"bagtrail/internal/strictjson"
)

// Filter selects rejects.
type Filter struct {
	State  State
	Code   string    // "" for all
	Door   string    // "" for all
	Places []string  // nil for all; otherwise airports; "" for rejects without a known airport; @ and the name of a key for those of them that the key posted
	Since  time.Time // zero for all
	Until  time.Time // exclusive; zero for all
	Oldest bool      // lists begin with the oldest
}

// Position is the place of a reject in a list: by its received time, then by its order, then by its
// id.
type Position struct {
	Received  time.Time
	Order, ID string
}

// Position returns the place of the reject in a list.
func (r *Reject) Position() Position { return Position{r.Received, r.Order, r.ID} }

// idLength is the length of an id.
const idLength = 20

// positionOf returns the position of a member of a zset.
func positionOf(received time.Time, member string) Position {
	from := max(0, len(member)-idLength)
	return Position{received, member[:from], member[from:]}
}

// member returns the member of a zset that has the position.
func (p Position) member() string { return p.Order + p.ID }

// String returns the position as ParsePosition reads it.
func (p Position) String() string {
	return strconv.FormatInt(p.Received.UnixMilli(), 10) + "." + p.member()
}

// ParsePosition reads a position. "" is before all rejects.
func ParsePosition(text string) Position {
	milliseconds, member, _ := strings.Cut(text, ".")
	return positionOf(instant(milliseconds), member)
}

// compare orders positions as the lists of the filter do: the newest first, unless Oldest is set.
func (f Filter) compare(p, q Position) int {
	order := cmp.Or(p.Received.Compare(q.Received), cmp.Compare(p.member(), q.member()))
	if f.Oldest {
		return order
	}
	return -order
}

// cells returns the cells of a filter for a state. A reject is in at most one of them, unless
// Places has both "" and a key.
func (f Filter) cells(state State, doors []string) []string {
	if f.Door != "" {
		doors = []string{f.Door}
	}
	places := f.Places
	if places == nil {
		places = []string{everything}
	}
	var cells []string
	for _, door := range doors {
		for _, place := range places {
			cells = append(cells, string(state)+"|"+door+"|"+place+"|"+cmp.Or(f.Code, everything))
		}
	}
	return cells
}

// tallies are the doors, airports and codes of all rejects, sorted.
type tallies struct{ doors, places, codes []string }

func (s *Store) tallies(ctx context.Context) (t tallies, err error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	names, err := s.redis.ReadClient().HKeys(ctx, s.prefix()+"n").Result()
	slices.Sort(names)
	for _, name := range names {
		kind, value, _ := strings.Cut(name, ":")
		switch kind {
		case "d":
			t.doors = append(t.doors, value)
		case "p":
			t.places = append(t.places, value)
		case "c":
			t.codes = append(t.codes, value)
		}
	}
	return t, redis.Unavailable("rejectstore: read the tallies", err)
}

// OldestFirst returns ids in the order of receipt of their rejects, the oldest first, and those
// without a reject last.
func (s *Store) OldestFirst(ctx context.Context, ids []string) ([]string, error) {
	replies, err := s.get(ctx, ids, "received", "order")
	if err != nil {
		return nil, err
	}
	var known []Position
	var unknown []string
	for i, values := range replies {
		if received, order := values[0], values[1]; received == "" {
			unknown = append(unknown, ids[i])
		} else {
			known = append(known, Position{instant(received), order, ids[i]})
		}
	}
	slices.SortFunc(known, Filter{Oldest: true}.compare)
	sorted := make([]string, 0, len(ids))
	for _, p := range known {
		sorted = append(sorted, p.ID)
	}
	return append(sorted, unknown...), nil
}

// List returns the positions of the rejects of a filter that come after a position, in the order
// of the filter, and at most limit of them. The zero Position is before all.
func (s *Store) List(ctx context.Context, f Filter, after Position, limit int) ([]Position, error) {
	known, err := s.tallies(ctx)
	if err != nil {
		return nil, err
	}
	var merged []Position
	waiting := f.cells(f.State, known.doors)
	for count := limit + 1; len(waiting) > 0; count *= 2 { // again if more of a cell has the time of the position
		found, more, err := s.slice(ctx, waiting, f, after, limit, count)
		if err != nil {
			return nil, err
		}
		merged, waiting = append(merged, found...), more
	}
	slices.SortFunc(merged, f.compare)
	return merged[:min(limit, len(merged))], nil
}

// slice returns the first positions of cells after a position, at most limit of each. It reads count
// members of each cell, and returns the cells for which that is not enough.
func (s *Store) slice(ctx context.Context, cells []string, f Filter, after Position, limit, count int) (found []Position, more []string, err error) {
	begin, end := f.scores()
	if !f.Oldest {
		begin, end = end, begin
	}
	if after.ID != "" { // it is in the time of the filter
		begin = strconv.FormatInt(after.Received.UnixMilli(), 10)
	}
	replies := make([]*goredis.ZSliceCmd, len(cells))
	err = s.redis.ReadAll(ctx, func(p goredis.Pipeliner) {
		for i, cell := range cells {
			replies[i] = p.ZRangeArgsWithScores(ctx, goredis.ZRangeArgs{
				Key: s.prefix() + "i:" + cell, Start: begin, Stop: end, ByScore: true, Rev: !f.Oldest, Count: int64(count),
			})
		}
	})
	if err != nil {
		return nil, nil, redis.Unavailable("rejectstore: list", err)
	}
	for i, reply := range replies {
		var own []Position
		for _, z := range reply.Val() {
			member, _ := z.Member.(string)
			p := positionOf(time.UnixMilli(int64(z.Score)).UTC(), member)
			if len(own) < limit && (after.ID == "" || f.compare(after, p) < 0) {
				own = append(own, p)
			}
		}
		if len(own) < limit && len(reply.Val()) == count {
			more = append(more, cells[i])
			continue
		}
		found = append(found, own...)
	}
	return found, more, nil
}

// scores returns the bounds of the scores of a filter.
func (f Filter) scores() (lowest, highest string) {
	lowest, highest = "-inf", "+inf"
	if !f.Since.IsZero() {
		lowest = strconv.FormatInt(f.Since.UnixMilli(), 10)
	}
	if !f.Until.IsZero() {
		highest = "(" + strconv.FormatInt(f.Until.UnixMilli(), 10)
	}
	return lowest, highest
}

// Count returns how many rejects a filter finds.
func (s *Store) Count(ctx context.Context, f Filter) (total int64, err error) {
	known, err := s.tallies(ctx)
	if err != nil {
		return 0, err
	}
	var c counting
	err = s.redis.ReadAll(ctx, func(p goredis.Pipeliner) { c.replies = s.count(ctx, p, f.cells(f.State, known.doors), f) })
	return c.total(), redis.Unavailable("rejectstore: count", err)
}

// Count is the number of rejects that have a value.
type Count struct {
	Value string
	Count int64
}

// Summary counts the rejects of a filter.
type Summary struct {
	States   []Count // of all states, also if the filter asks for one
	Codes    []Count // most frequent first; a reject may have several
	Airports []Count // most frequent first; "" is none
	Doors    []Count
	Hours    []Count // in order of time, without empty hours; the values are their beginnings, as /v1 writes times
}

// Summarize counts the rejects of a filter.
func (s *Store) Summarize(ctx context.Context, f Filter) (sum Summary, err error) {
	known, err := s.tallies(ctx)
	if err != nil {
		return Summary{}, err
	}
	var counts []counting
	var hours []*goredis.MapStringStringCmd
	err = s.redis.ReadAll(ctx, func(p goredis.Pipeliner) {
		add := func(to *[]Count, value string, state State, part Filter) {
			counts = append(counts, counting{to, value, s.count(ctx, p, part.cells(state, known.doors), f)})
		}
		for _, state := range States() {
			add(&sum.States, string(state), state, f)
		}
		for _, code := range known.codes {
			if part := f; f.Code == "" || f.Code == code {
				part.Code = code
				add(&sum.Codes, code, f.State, part)
			}
		}
		places := f.Places
		if places == nil {
			places = known.places
		}
		for _, place := range places {
			part := f
			part.Places = []string{place}
			if strings.HasPrefix(place, "@") {
				place = ""
			}
			add(&sum.Airports, place, f.State, part)
		}
		for _, door := range known.doors {
			if part := f; f.Door == "" || f.Door == door {
				part.Door = door
				add(&sum.Doors, door, f.State, part)
			}
		}
		for _, cell := range f.cells(f.State, known.doors) {
			hours = append(hours, p.HGetAll(ctx, s.prefix()+"h:"+cell))
		}
	})
	if err != nil {
		return Summary{}, redis.Unavailable("rejectstore: summarize", err)
	}
	for _, c := range counts {
		if total := c.total(); total > 0 || c.to == &sum.States {
			*c.to = append(*c.to, Count{c.value, total})
		}
	}
	for _, list := range [][]Count{sum.Codes, sum.Airports} {
		slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
	}
	sum.Hours = hoursOf(f, hours)
	return sum, nil
}

// counting is one count under way.
type counting struct {
	to      *[]Count
	value   string
	replies []*goredis.IntCmd
}

// total adds the replies up.
func (c counting) total() (sum int64) {
	for _, reply := range c.replies {
		sum += reply.Val()
	}
	return sum
}

// count asks for the number of rejects of each cell in the time of a filter.
func (s *Store) count(ctx context.Context, p goredis.Pipeliner, cells []string, f Filter) (replies []*goredis.IntCmd) {
	lowest, highest := f.scores()
	for _, cell := range cells {
		replies = append(replies, p.ZCount(ctx, s.prefix()+"i:"+cell, lowest, highest))
	}
	return replies
}

// hoursOf adds up the counts of each hour, and returns the hours that lie in the time of a filter.
func hoursOf(f Filter, replies []*goredis.MapStringStringCmd) (list []Count) {
	byHour := map[int64]int64{}
	for _, reply := range replies {
		for hour, count := range reply.Val() {
			byHour[number(hour)] += number(count)
		}
	}
	first, last := f.Since.Unix()/3600, int64(math.MaxInt64) // zero Since is before every reject
	if !f.Until.IsZero() {
		last = (f.Until.UnixMilli() - 1) / time.Hour.Milliseconds()
	}
	for _, h := range slices.Sorted(maps.Keys(byHour)) {
		if h >= first && h <= last {
			list = append(list, Count{time.Unix(h*3600, 0).UTC().Format(strictjson.Millis), byHour[h]})
		}
	}
	return list
}
