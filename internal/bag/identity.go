package bag

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bagtrail/internal/smallmap"
)

// journeyGap is the largest number of days between two messages of one journey (rules §3,
// journeys).
const journeyGap = 3

// mostBags is the largest number of bags of a journey to which one message may belong (rules §3,
// names). So a plate has at most mostBags events for each group of its messages.
const mostBags = 99

// identities divides the messages of a plate into bags (rules §3, which bag a message is about).
// The messages of each bag are in the order of events. A message may belong to several bags.
func identities(ctx context.Context, plate Plate, messages []*Message) ([][]*Message, error) {
	var bags [][]*Message
	for _, journey := range journeys(spans(plate, messages)) {
		some, err := passengers(ctx, journey)
		if err != nil {
			return nil, err
		}
		bags = append(bags, some...)
	}
	for _, b := range bags {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortFunc(b, (*Message).compare)
	}
	return bags, ctx.Err()
}

// span is the range of days that a message, or a journey, covers.
type span struct {
	first, last Day
	message     *Message
}

// spans returns the days that each message covers.
func spans(plate Plate, messages []*Message) []span {
	covered := make([]span, len(messages))
	own := false
	for i, m := range messages {
		first, last := m.days()
		covered[i] = span{first, last, m}
		own = own || m.reflightsItself(plate)
	}
	if own {
		reachBack(plate, covered)
	}
	return covered
}

// reachBack extends the spans of messages that re-flight their own plate back to the beginning of
// the journey that they continue. Of the journeys of the messages before such a message, this is
// the latest one that began at most DelayDays before the first flight date of the message.
func reachBack(plate Plate, covered []span) {
	slices.SortFunc(covered, func(a, b span) int { return a.message.compare(b.message) })
	var before []span // the journeys of the earlier messages, ascending
	added := 0        // how many messages are in before
	for i := range covered {
		s := &covered[i]
		for ; !sameMessage(covered[added].message, s.message); added++ {
			before = withSpan(before, covered[added])
		}
		if day, _, named := s.message.flightDays(); named && s.message.reflightsItself(plate) {
			for _, j := range slices.Backward(before) {
				if j.first <= day {
					if j.first >= day-DelayDays {
						s.first = min(s.first, j.first)
					}
					break
				}
			}
		}
	}
}

// withSpan adds a span to journeys, which are ascending and more than journeyGap days apart.
func withSpan(journeys []span, s span) []span {
	from, _ := slices.BinarySearchFunc(journeys, s.first-journeyGap, func(j span, day Day) int { return cmp.Compare(j.last, day) })
	to := from
	for ; to < len(journeys) && journeys[to].first-s.last <= journeyGap; to++ {
		s.first, s.last = min(s.first, journeys[to].first), max(s.last, journeys[to].last)
	}
	return slices.Replace(journeys, from, to, s)
}

// DelayDays is the largest number of days from the first flight date of a bag to that of its rush
// bag, or to its delayed-bag report (rules §3, rush bags; §4, delayed bags).
const DelayDays = 14

// journeys divides messages into journeys, which are more than journeyGap days apart.
func journeys(spans []span) [][]*Message {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })

	var all [][]*Message
	open := make([]*Message, 0, len(spans)) // the last journey; all of them share its memory
	var end Day
	for _, s := range spans {
		if len(open) > 0 && s.first-end > journeyGap {
			all, open = append(all, slices.Clip(open)), open[len(open):]
		}
		if len(open) == 0 {
			end = s.last
		}
		open = append(open, s.message)
		end = max(end, s.last)
	}
	if len(open) > 0 {
		all = append(all, open)
	}
	return all
}

// passengers divides a journey into bags. Messages that share a PNR or a surname, directly or
// through other messages, are about one bag. Messages whose names fit no new BSM, and messages that
// name nobody, belong to the bags whose flights they name, unless there are too many bags.
func passengers(ctx context.Context, journey []*Message) ([][]*Message, error) {
	if onePassenger(journey) {
		return [][]*Message{journey}, nil
	}
	named, sets, nameless := joinByName(journey)
	if len(named) == 0 {
		return [][]*Message{nameless}, nil
	}
	bags, err := bagsByName(ctx, named, sets)
	if err != nil {
		return nil, err
	}
	if len(bags) > mostBags && len(nameless) > 0 {
		return append(bags, nameless), nil
	}
	return bags, addNameless(ctx, bags, nameless)
}

// joinByName separates the messages of a journey that name a passenger from the others. sets joins
// the indexes in named of messages that share a PNR or a surname.
func joinByName(journey []*Message) (named []*Message, sets unionFind, nameless []*Message) {
	byName := make(map[string]int) // "P" and the PNR, or "S" and the surname → index in named
	for _, m := range journey {
		pnr, surname := strings.ToUpper(m.PNR), FoldName(m.Surname)
		if pnr == "" && surname == "" {
			nameless = append(nameless, m)
			continue
		}
		named = append(named, m)
		set := sets.add()
		for _, key := range [...]string{"P" + pnr, "S" + surname} {
			if len(key) == 1 {
				continue
			}
			if other, seen := byName[key]; seen {
				sets.join(set, other)
			} else {
				byName[key] = set
			}
		}
	}
	return named, sets, nameless
}

// bagsByName divides messages that name a passenger into bags, one for each set that they are
// about. A message may be in several bags, see setsOf.
func bagsByName(ctx context.Context, named []*Message, sets unionFind) (bags [][]*Message, err error) {
	bagOf := make(map[int]int) // root of a set → index in bags
	booked := newBookings(named, sets)
	for i, m := range named {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, set := range booked.setsOf(m, sets.root(i)) {
			b, seen := bagOf[set]
			if !seen {
				b = len(bags)
				bagOf[set] = b
				bags = append(bags, nil)
			}
			bags[b] = append(bags[b], m)
		}
	}
	return bags, nil
}

// addNameless adds the messages that name nobody to the bags that they belong to.
func addNameless(ctx context.Context, bags [][]*Message, nameless []*Message) error {
	onFlight := make(map[Flight][]int)
	for b, messages := range bags {
		for _, m := range messages {
			for f := range m.Flights() {
				if on := onFlight[f]; len(on) == 0 || on[len(on)-1] != b {
					onFlight[f] = append(on, b)
				}
			}
		}
	}
	for _, m := range nameless {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, b := range bagsOf(m, onFlight, len(bags)) {
			bags[b] = append(bags[b], m)
		}
	}
	return nil
}

// bookings says which sets of messages have a new BSM, and which flights these BSMs name.
type bookings struct {
	sets     map[int]bool     // by root
	byFlight map[Flight][]int // roots, at most mostBags+1
}

func newBookings(named []*Message, sets unionFind) bookings {
	b := bookings{make(map[int]bool), make(map[Flight][]int)}
	for i, m := range named {
		if !m.isNew() {
			continue
		}
		root := sets.root(i)
		b.sets[root] = true
		for f := range m.Flights() {
			if on := b.byFlight[f]; len(on) <= mostBags && !slices.Contains(on, root) {
				b.byFlight[f] = append(on, root)
			}
		}
	}
	return b
}

// setsOf returns the sets that a message of the set own is about (rules §3, names that fit nobody).
// If own has a new BSM, the message is about own. Otherwise it is about the set with a new BSM that
// names a flight of the message. If there are several such sets, but not more than mostBags, a BPM
// is about each of them. In all other cases the message is about own.
func (b bookings) setsOf(m *Message, own int) []int {
	if b.sets[own] {
		return []int{own}
	}
	var about []int
	for f := range m.Flights() {
		about = append(about, b.byFlight[f]...)
	}
	slices.Sort(about)
	about = slices.Compact(about)
	if n := len(about); n == 0 || n > mostBags || n > 1 && !m.Kind.IsProcessing() {
		return []int{own}
	}
	return about
}

// onePassenger reports whether every message that names a passenger has exactly the PNR or the
// surname of the first such message. Then all messages are about one bag, as for most plates.
func onePassenger(journey []*Message) bool {
	var first *Message
	var surname string
	for _, m := range journey {
		switch {
		case m.PNR == "" && m.Surname == "":
		case first == nil:
			first = m
			if FoldName(m.Surname) != "" {
				surname = m.Surname
			}
		case (first.PNR == "" || m.PNR != first.PNR) && (surname == "" || m.Surname != surname):
			return false
		}
	}
	return true
}

// bagsOf returns the bags to which a message without PNR and surname belongs: the bags that name
// one of its flights, else all.
func bagsOf(m *Message, onFlight map[Flight][]int, bags int) []int {
	var found []int
	for f := range m.Flights() {
		found = append(found, onFlight[f]...)
	}
	if found != nil {
		return smallmap.Distinct(found)
	}
	for b := range bags {
		found = append(found, b)
	}
	return found
}

// FoldName returns the form of a surname in which surnames are compared: its letters, in capitals.
func FoldName(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && r != utf8.RuneError { // a byte that is not UTF-8 counts as a letter
			return -1
		}
		return unicode.ToUpper(r)
	}, s)
}

// unionFind holds disjoint sets of the numbers that add returned.
type unionFind []int

func (u *unionFind) add() int {
	*u = append(*u, len(*u))
	return len(*u) - 1
}

func (u unionFind) root(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u unionFind) join(i, j int) { u[u.root(i)] = u.root(j) }
