package bag

import (
	"cmp"
	"slices"

	"bagtrail/internal/smallmap"
)

// setLegs sets the legs of a bag, Cancelled, OwnRush, and the names that find it. The living legs
// (rules §3) come first, then the legs of the other flights that its messages name. reflights are
// the BSMs that make it its own rush bag, in order.
func (r Rules) setLegs(b *Bag, current *currentBSMs, reflights []*Message) {
	latest := current.latestFirst()
	b.findBy(latest)
	living := r.livingLegs(current, latest, b.Events)
	r.sortByTravel(living, b.Events)
	s := r.newStatuses(living)
	s.seat(b.Events)
	s.follow(b.Events)
	if b.OwnRush = reflights != nil; b.OwnRush {
		leaveBehindOwn(living, reflights)
	}
	others := otherLegs(s, b.Events)
	r.sortByTravel(others, b.Events)
	b.Legs = append(living, others...)
	b.Cancelled = !b.Unknown && len(living) == 0
}

// livingLegs applies rules 1 to 3 of rules §3, legs, to every airport. latest are the current BSMs,
// the latest first. Each leg is NotLoaded, or NoStatus if it can have no loading status.
func (r Rules) livingLegs(current *currentBSMs, latest []*Message, events []Event) []Leg {
	all := itinerary{from: departures{places: r.Places}}
	exits := placeSet{places: r.Places} // the airports out of which a leg of rule 2 or 3 leads
	// takeExit reports whether a leg out of the airport must be added: the BSMs of the airport do
	// not decide which leg leads out of it, and no leg out of this place was added.
	takeExit := func(airport string) bool { return !current.decidesExit(airport) && exits.add(airport) }
	for _, m := range latest { // rule 1
		all.add(m.outbound(), NotLoaded)
	}
	for _, m := range latest { // rule 2
		for l := range m.onward() {
			if l.From != "" && takeExit(l.From) {
				all.add(l, NotLoaded)
			}
		}
	}
	for _, e := range slices.Backward(events) { // rule 3, .I
		m := e.Message
		if in := m.Inbound; !in.IsZero() && !e.Positioning && !current.ignored.Has(m) && takeExit(in.Airport) {
			all.add(m.inbound(), NoStatus)
		}
	}
	for _, e := range slices.Backward(events) { // rule 3, .F of a BPM
		if m := e.Message; m.Kind.IsProcessing() && !m.Outbound.IsZero() && takeExit(m.Airport) {
			all.add(m.outbound(), NotLoaded)
		}
	}
	for _, m := range r.loadedLast(events) {
		all.add(m.outbound(), NotLoaded)
	}
	all.join()
	return all.legs
}

// loadedLast returns the latest status-setting BPM of each airport, if it shows the bag Loaded on a
// flight that departs there.
func (r Rules) loadedLast(events []Event) []*Message {
	var loaded []*Message
	airports := placeSet{places: r.Places} // those that had a status-setting BPM so far
	for _, e := range slices.Backward(events) {
		m := e.Message
		if e.Sets == NoStatus || !m.Kind.IsProcessing() || !airports.add(m.Airport) {
			continue
		}
		if e.Sets.Loaded() { // then its flight, if it has one, departs there: see processingEvent and withPositionings
			loaded = append(loaded, m)
		}
	}
	return loaded
}

// otherLegs returns a leg for each flight that messages name and that has no living leg. Its airports
// come from the latest message that knows the departure. Reports name no flight.
func otherLegs(living *statuses, events []Event) []Leg {
	var others []Leg
	var byFlight smallmap.Map[Flight, int] // index in others
	add := func(l Leg) {
		if living.byFlight.Has(l.Flight) {
			return
		}
		i, have := byFlight.Get(l.Flight)
		switch {
		case !have:
			byFlight.Set(l.Flight, len(others))
			others = append(others, l)
		case others[i].From == "" && l.From != "":
			others[i].From, others[i].To = l.From, l.To
		}
	}
	for _, e := range slices.Backward(events) {
		for l := range e.Message.outwardLegs() {
			add(l)
		}
		if m := e.Message; !m.Inbound.IsZero() {
			add(m.inbound())
		}
	}
	return others
}

// longestChain is the largest number of legs of one day that sortByTravel follows back.
const longestChain = 8

// sortByTravel orders legs by date (rules §3, order of travel). On one day a leg comes after the
// leg that arrives where it departs: legs are ordered by the length of the shortest way back, over
// at most longestChain legs, to a leg that follows none. If two lengths are equal, as on a round
// trip, the messages of the two legs are compared. The message of a leg is the latest one with an
// element on its flight that departs where the leg departs. If there is none, it is the latest
// message that names the flight. The leg with the later message comes first; in one message .I comes
// before .F, and .F before .O.
func (r Rules) sortByTravel(legs []Leg, events []Event) {
	if len(legs) < 2 {
		return
	}
	from := departures{places: r.Places} // elements, the latest message first
	var named smallmap.Map[Flight, int]  // the first of them on each flight
	count := 0
	for _, e := range slices.Backward(events) {
		for l := range e.Message.Legs() {
			from.add(l.Flight, l.From, count)
			if !named.Has(l.Flight) {
				named.Set(l.Flight, count)
			}
			count++
		}
	}
	type travelling struct {
		leg            Leg
		followed, rank int
	}
	ordered := make([]travelling, len(legs))
	for i, followed := range r.chainLengths(legs) {
		rank, have := from.find(legs[i].Flight, legs[i].From)
		if !have {
			rank = named.Value(legs[i].Flight)
		}
		ordered[i] = travelling{legs[i], followed, rank}
	}
	slices.SortFunc(ordered, func(a, b travelling) int {
		return cmp.Or(cmp.Compare(a.leg.Day, b.leg.Day), cmp.Compare(a.followed, b.followed), cmp.Compare(a.rank, b.rank))
	})
	for i := range ordered {
		legs[i] = ordered[i].leg
	}
}

// chainLengths returns, for each leg, the length of the shortest way back over legs of its day to a
// leg that follows none: at most longestChain.
func (r Rules) chainLengths(legs []Leg) []int {
	type end struct {
		day  Day
		city string
	}
	ends := make(map[end]int) // how many legs end there
	add := func(l Leg, n int) {
		for city := range cities(r.Places, l.To) {
			ends[end{l.Day, city}] += n
		}
	}
	follows := func(l Leg) bool {
		for city := range cities(r.Places, l.From) {
			if l.From != "" && ends[end{l.Day, city}] > 0 {
				return true
			}
		}
		return false
	}
	for _, l := range legs {
		add(l, 1)
	}
	counts := make([]int, len(legs))
	for i, l := range legs {
		add(l, -1) // no leg follows itself
		if follows(l) {
			counts[i] = longestChain
		}
		add(l, 1)
	}
	for count := range longestChain - 1 { // legs with this count lead to those with one more
		clear(ends)
		for i, l := range legs {
			if counts[i] == count {
				add(l, 1)
			}
		}
		for i, l := range legs {
			if counts[i] == longestChain && follows(l) {
				counts[i] = count + 1
			}
		}
	}
	return counts
}
