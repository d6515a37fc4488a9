package oracle

import (
	"cmp"
	"slices"
	"strconv"
)

// sourcedLeg is a leg with the rule and the item that it comes from.
type sourcedLeg struct {
	flight
	from, to string // from is "" if it is unknown
	inbound  bool   // known from an .I only: no loading status yet
	rank     int    // the rule, see below
	by       *item
	nth      int // index of the .O in its item

	status string
	set    *event // that set the status last, or nil
}

// The rules by which legs are found, in the order in which they decide on airports.
const (
	byBooking = 1 + iota // the .F of a current BSM
	byOnward             // the .O of one
	byInbound            // an .I
	byArrival            // the .F of a current BSM of an arriving flight
	byBPM                // the .F of a BPM, which may arrive
	byLoading            // the .F of the latest status-setting BPM
)

// onwards returns the .O of an item. Each departs from the airport at which the one before it, or
// .F, arrives.
func (o *Oracle) onwards(it *item) []sourcedLeg {
	from := o.outbound(it, 0).to
	var all []sourcedLeg
	for i, f := range it.on {
		all = append(all, sourcedLeg{flight: f, from: from, to: f.airport, rank: byOnward, by: it, nth: i})
		from = f.airport
	}
	return all
}

// outbound returns the .F of an item: from its airport, or arriving there from an unknown
// departure.
func (o *Oracle) outbound(it *item, rank int) sourcedLeg {
	l := sourcedLeg{flight: it.out, from: it.airport, to: it.out.airport, rank: rank, by: it}
	if o.arriving(it) {
		l.from, l.to = "", it.airport
	}
	return l
}

// inboundOf returns the .I of an item.
func inboundOf(it *item) sourcedLeg {
	return sourcedLeg{flight: it.in, from: it.in.airport, to: it.airport, inbound: true, rank: byInbound, by: it}
}

// addLegs finds the legs of the bag, and sets the status of the living ones by its events.
func (o *Oracle) addLegs(b *Bag) {
	s := o.bookingsOf(b.items)
	var legs []sourcedLeg
	for _, airport := range o.departures(b) {
		if out, ok := o.legOutOf(b, s, airport); ok {
			legs = append(legs, out)
		}
		if loaded, ok := o.loadedOutOf(b, airport); ok {
			legs = append(legs, loaded)
		}
	}
	for _, it := range s.current {
		if o.arriving(it) {
			legs = append(legs, o.outbound(it, byArrival))
		}
	}
	b.living = o.inOrderOfTravel(o.merge(legs), b.items)
	o.follow(b)
	b.Cancelled = !b.Unknown && len(b.living) == 0

	// The other legs: every flight that an .F, .I or .O names and that is not a living leg.
	var others []sourcedLeg
	for _, it := range b.items {
		for _, l := range append([]sourcedLeg{o.outbound(it, byBooking), inboundOf(it)}, o.onwards(it)...) {
			if l.there() && !slices.ContainsFunc(b.living, func(k sourcedLeg) bool { return o.same(k.flight, l.flight) }) {
				others = append(others, l)
			}
		}
	}
	b.others = o.inOrderOfTravel(o.oneOfEachFlight(others), b.items)
}

// departures returns every airport from which a leg of the bag could depart.
func (o *Oracle) departures(b *Bag) []string {
	var airports []string
	for _, it := range b.items {
		airports = append(airports, it.airport, it.in.airport)
		for _, l := range o.onwards(it) {
			airports = append(airports, l.from)
		}
	}
	slices.Sort(airports)
	return slices.DeleteFunc(slices.Compact(airports), func(a string) bool { return a == "" })
}

// legOutOf returns the leg out of an airport by rules 1, 2 and 3.
func (o *Oracle) legOutOf(b *Bag, s bookings, airport string) (sourcedLeg, bool) {
	for _, it := range s.current {
		if o.samePlace(it.airport, airport) && !o.arriving(it) {
			return o.outbound(it, byBooking), true
		}
	}
	if o.hadBooking(s, airport) || o.lostBooking(s, airport) {
		return sourcedLeg{}, false
	}
	if l, ok := o.onwardFrom(airport, s); ok {
		return l, true
	}
	for _, it := range slices.Backward(b.items) {
		if o.samePlace(it.in.airport, airport) && !s.saysNothing(it) && !isPositioning(it) {
			return inboundOf(it), true
		}
	}
	for _, it := range slices.Backward(b.items) {
		if isBPM(it) && it.out.there() && o.samePlace(it.airport, airport) {
			return o.outbound(it, byBPM), true
		}
	}
	return sourcedLeg{}, false
}

// loadedOutOf returns the flight on which the latest status-setting BPM of the airport shows the
// bag loaded.
func (o *Oracle) loadedOutOf(b *Bag, airport string) (sourcedLeg, bool) {
	for _, e := range slices.Backward(b.events) {
		if isBPM(e.item) && e.status != "" && o.samePlace(e.airport, airport) {
			return o.outbound(e.item, byLoading), e.loads() && e.out.there()
		}
	}
	return sourcedLeg{}, false
}

// merge makes one leg of all legs of one flight that depart from one airport. An arriving flight,
// whose departure is unknown, joins the leg of that flight that arrives at its airport, else the
// only leg of that flight. The first leg, by rule and then by the latest message, gives the
// airports. Any leg except an .I gives a loading status.
func (o *Oracle) merge(legs []sourcedLeg) []sourcedLeg {
	slices.SortStableFunc(legs, byRank)
	var merged []sourcedLeg
	for _, l := range legs {
		if l.from == "" {
			continue
		}
		i := slices.IndexFunc(merged, func(m sourcedLeg) bool { return o.same(m.flight, l.flight) && o.samePlace(m.from, l.from) })
		if i < 0 {
			merged = append(merged, l)
		} else {
			merged[i].inbound = merged[i].inbound && l.inbound
		}
	}
	for _, l := range legs {
		if l.from != "" {
			continue
		}
		var sameFlight []int
		join := -1
		for i, m := range merged {
			if !o.same(m.flight, l.flight) {
				continue
			}
			sameFlight = append(sameFlight, i)
			if join < 0 && o.samePlace(m.to, l.to) {
				join = i
			}
		}
		if join < 0 && len(sameFlight) == 1 {
			join = sameFlight[0]
		}
		if join < 0 {
			merged = append(merged, l)
		} else {
			merged[join].inbound = false
		}
	}
	return merged
}

func byRank(a, b sourcedLeg) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), order(b.by, a.by), cmp.Compare(a.nth, b.nth))
}

// oneOfEachFlight returns one leg of each flight: the first whose departure is known, in the order
// of merge.
func (o *Oracle) oneOfEachFlight(legs []sourcedLeg) []sourcedLeg {
	slices.SortStableFunc(legs, func(a, b sourcedLeg) int {
		return cmp.Or(-cmp.Compare(min(len(a.from), 1), min(len(b.from), 1)), byRank(a, b))
	})
	var merged []sourcedLeg
	for _, l := range legs {
		if !slices.ContainsFunc(merged, func(m sourcedLeg) bool { return o.same(m.flight, l.flight) }) {
			merged = append(merged, l)
		}
	}
	return merged
}

// inOrderOfTravel orders legs by date. On one date a leg follows the leg that arrives at its
// departure; this is followed back at most 8 legs, so that the legs of a round trip tie. Ties are
// ordered as the latest message that names their flights orders them (.I .F .O), else as the legs
// were found.
func (o *Oracle) inOrderOfTravel(legs []sourcedLeg, items []*item) []sourcedLeg {
	type place struct {
		leg                  sourcedLeg
		behind, message, nth int
	}
	var places []place
	for i, l := range legs {
		message, nth := o.latestNaming(l, items)
		places = append(places, place{l, o.behind(i, legs, 8), message, nth})
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.leg.day, b.leg.day), cmp.Compare(a.behind, b.behind), cmp.Compare(b.message, a.message), cmp.Compare(a.nth, b.nth))
	})
	var ordered []sourcedLeg
	for _, p := range places {
		ordered = append(ordered, p.leg)
	}
	return ordered
}

// behind returns how many legs of the same date come before leg i on the shortest way back, at most
// that many.
func (o *Oracle) behind(i int, legs []sourcedLeg, most int) int {
	shortest := -1
	for k, before := range legs {
		if most > 0 && k != i && before.day == legs[i].day && o.samePlace(before.to, legs[i].from) {
			if n := o.behind(k, legs, most-1); shortest < 0 || n < shortest {
				shortest = n
			}
		}
	}
	return shortest + 1
}

// latestNaming returns the last item that names the leg, and the place of the leg in it. Reading:
// an item names the leg if an element of its flight departs from the airport of the leg; unknown
// departures are alike. If no item has such an element, it is the last item that names its flight.
func (o *Oracle) latestNaming(l sourcedLeg, items []*item) (which, nth int) {
	ofFlight := func(e sourcedLeg) bool { return o.same(e.flight, l.flight) }
	ofLeg := func(e sourcedLeg) bool {
		return ofFlight(e) && (o.samePlace(e.from, l.from) || e.from == "" && l.from == "")
	}
	for _, names := range []func(sourcedLeg) bool{ofLeg, ofFlight} {
		for i, it := range slices.Backward(items) {
			elements := append([]sourcedLeg{inboundOf(it), o.outbound(it, byBooking)}, o.onwards(it)...)
			if n := slices.IndexFunc(elements, names); n >= 0 {
				return i, n
			}
		}
	}
	return -1, 0
}

// renderLegs fills the bag's legs as the interface shows them: the living ones in the order of
// travel, then the others.
func (o *Oracle) renderLegs(b *Bag) {
	for _, l := range b.living {
		b.Legs = append(b.Legs, Leg{Airline: l.airline, Number: l.number, Date: dayText(l.day), From: l.from, To: l.to,
			Living: true, Status: o.statusNow(b, l), seat: o.seat(b, l)})
	}
	for _, l := range b.others {
		b.Legs = append(b.Legs, Leg{Airline: l.airline, Number: l.number, Date: dayText(l.day), From: l.from, To: l.to})
	}
}

// seat returns the seat of the latest BSM at the leg's departure, for its flight, that holds one.
func (o *Oracle) seat(b *Bag, l sourcedLeg) string {
	for _, it := range slices.Backward(b.items) {
		if isBSM(it) && o.samePlace(it.airport, l.from) && o.same(it.out, l.flight) && it.g.Seat != "" {
			return it.g.Seat
		}
	}
	return ""
}

// fillFields takes each field of the bag from the latest BSM that holds it, else from the latest
// BPM. A positioning gives none.
func fillFields(b *Bag) {
	latest := func(field func(*item) string) string {
		for _, isWanted := range []func(*item) bool{isBSM, isBPM} {
			for _, it := range slices.Backward(b.items) {
				if isWanted(it) && !isPositioning(it) && field(it) != "" {
					return field(it)
				}
			}
		}
		return ""
	}
	b.PNR = latest(func(it *item) string { return it.g.PNR })
	b.LastName = latest(func(it *item) string { return it.g.Surname })
	b.FirstName = latest(func(it *item) string { return it.g.GivenName })
	b.WeightUnit = latest(func(it *item) string { return it.g.Weight.Unit })
	b.Pieces = latest(func(it *item) string { return number(it.g.Weight.Pieces) })
	b.Weight = latest(func(it *item) string { return number(it.g.Weight.Checked) })
}

func number(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}
