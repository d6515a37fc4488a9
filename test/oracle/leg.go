package oracle

import (
	"cmp"
	"slices"
	"strconv"

	"bagtrail/parser"
)

// found is a leg with where it was found.
type found struct {
	flight
	from, to string
	inbound  bool // known from an .I only: no loading status
	rank     int  // of its origin: 1, 2, 3 the rule; 4 a BPM; 5 beside
	by       *item
	nth      int // which .O of its item
}

// currentBSMs returns the latest BSM of every place, the latest first.
func (o *Oracle) currentBSMs(items []*item) []*item {
	var current []*item
	for _, it := range slices.Backward(items) {
		here := func(c *item) bool { return o.place(c.airport) == o.place(it.airport) }
		if isBSM(it.message) && !slices.ContainsFunc(current, here) {
			current = append(current, it)
		}
	}
	return current
}

// onwardFrom is leg rule 2: the .O that departs from the place, in the latest current BSM that has one and is no DEL.
func (o *Oracle) onwardFrom(place string, current []*item) (found, bool) {
	for _, it := range current {
		if isDEL(it.message) {
			continue
		}
		for _, l := range o.onwards(it) {
			if o.place(l.from) == place {
				return l, true
			}
		}
	}
	return found{}, false
}

// onwards returns the .O of an item; each departs where the one before it, or .F, arrives.
func (o *Oracle) onwards(it *item) []found {
	from := o.outbound(it, 0).to
	var all []found
	for i, f := range it.on {
		all = append(all, found{flight: f, from: from, to: f.airport, rank: 2, by: it, nth: i})
		from = f.airport
	}
	return all
}

// outbound is the .F of an item: from its airport, or arriving there from an unknown departure.
func (o *Oracle) outbound(it *item, rank int) found {
	l := found{flight: it.out, from: it.airport, to: it.out.airport, rank: rank, by: it}
	if o.arriving(it) {
		l.from, l.to = "", it.airport
	}
	return l
}

// addLegs finds the legs of the bag and their statuses.
func (o *Oracle) addLegs(b *Bag) {
	var legs []found
	for _, place := range o.places(b) {
		out, ok := o.legOutOf(b, place)
		if ok {
			legs = append(legs, out)
		}
		if beside, loaded := o.besideLeg(b, place); loaded && !(ok && beside.same(out.flight)) {
			legs = append(legs, beside)
		}
	}
	legs = o.inOrderOfTravel(mergeFlights(legs), b.items)
	hasBSM := !b.Unknown
	b.Cancelled = hasBSM && len(legs) == 0
	for _, l := range legs {
		b.Legs = append(b.Legs, Leg{Airline: l.airline, Number: l.number, Date: dayText(l.day), From: l.from, To: l.to,
			Living: true, Status: o.status(b, l), seat: o.seat(b, l)})
	}
	// The others: every flight that an .F, .I or .O names and that is no living leg.
	var others []found
	for _, it := range b.items {
		for _, l := range append([]found{o.outbound(it, 1), {flight: it.in, from: it.in.airport, to: it.airport, inbound: true, rank: 3, by: it}}, o.onwards(it)...) {
			if l.there() && !slices.ContainsFunc(legs, func(k found) bool { return k.same(l.flight) }) {
				others = append(others, l)
			}
		}
	}
	for _, l := range o.inOrderOfTravel(mergeFlights(others), b.items) {
		b.Legs = append(b.Legs, Leg{Airline: l.airline, Number: l.number, Date: dayText(l.day), From: l.from, To: l.to})
	}
}

// places returns every place from which a leg of the bag could depart.
func (o *Oracle) places(b *Bag) []string {
	var places []string
	for _, it := range b.items {
		places = append(places, o.place(it.airport))
		if it.in.there() {
			places = append(places, o.place(it.in.airport))
		}
		for _, l := range o.onwards(it) {
			places = append(places, o.place(l.from))
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// legOutOf is the leg out of a place by rules 1, 2 and 3.
func (o *Oracle) legOutOf(b *Bag, place string) (found, bool) {
	current := o.currentBSMs(b.items)
	for _, it := range current {
		if o.place(it.airport) == place {
			l := o.outbound(it, 1)
			return l, !isDEL(it.message) && l.there()
		}
	}
	if l, ok := o.onwardFrom(place, current); ok {
		return l, true
	}
	for _, it := range slices.Backward(b.items) {
		if it.in.there() && o.place(it.in.airport) == place {
			return found{flight: it.in, from: it.in.airport, to: it.airport, inbound: true, rank: 3, by: it}, true
		}
	}
	for _, it := range slices.Backward(b.items) {
		if it.Kind == parser.BPM && it.out.there() && o.place(it.airport) == place {
			return o.outbound(it, 4), true
		}
	}
	return found{}, false
}

// besideLeg is a flight on which the latest status-setting BPM of the place shows the bag loaded.
func (o *Oracle) besideLeg(b *Bag, place string) (found, bool) {
	for _, e := range slices.Backward(o.counting(b)) {
		if e.Kind == parser.BPM && o.place(e.airport) == place {
			l := o.outbound(e.item, 5)
			return l, l.there() && (e.status == "Loaded in Container" || e.status == "Loaded on Aircraft")
		}
	}
	return found{}, false
}

// counting returns the status-setting events that count: those at an airport before its latest DEL do not.
func (o *Oracle) counting(b *Bag) []*event {
	var all []*event
	for _, e := range b.events {
		deleted := slices.ContainsFunc(b.items, func(it *item) bool {
			return isDEL(it.message) && o.place(it.airport) == o.place(e.airport) && order(e.item, it) < 0
		})
		if e.status != "" && !deleted {
			all = append(all, e)
		}
	}
	return all
}

// mergeFlights makes one leg of those on one flight. The leg whose departure is known, by the earlier rule, by the
// later message and the first there, gives departure and destination; any but an .I gives it a loading status.
func mergeFlights(legs []found) []found {
	slices.SortStableFunc(legs, func(a, b found) int {
		return cmp.Or(-cmp.Compare(sign(a.from), sign(b.from)), cmp.Compare(a.rank, b.rank), order(b.by, a.by), cmp.Compare(a.nth, b.nth))
	})
	var merged []found
	for _, l := range legs {
		if i := slices.IndexFunc(merged, func(m found) bool { return m.same(l.flight) }); i >= 0 {
			merged[i].inbound = merged[i].inbound && l.inbound
		} else {
			merged = append(merged, l)
		}
	}
	return merged
}

func sign(s string) int { return min(len(s), 1) }

// inOrderOfTravel orders legs by date; on one date a leg follows the leg that arrives where it departs. Followed back at
// most 8 legs, the legs of a round trip are a tie. Ties stand as the latest message that names them has them (.I .F .O).
func (o *Oracle) inOrderOfTravel(legs []found, items []*item) []found {
	legs = slices.Clone(legs)
	slices.SortFunc(legs, func(a, b found) int {
		messageA, nthA := latestNaming(a, items)
		messageB, nthB := latestNaming(b, items)
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(o.fed(a, legs, 8), o.fed(b, legs, 8)),
			cmp.Compare(messageB, messageA), cmp.Compare(nthA, nthB), cmp.Compare(a.airline, b.airline), cmp.Compare(a.number, b.number))
	})
	return legs
}

// fed is how many legs of its date come before a leg (by the shortest way), followed back at most that many legs.
func (o *Oracle) fed(l found, legs []found, most int) int {
	shortest := -1
	for _, k := range legs {
		if most > 0 && k.day == l.day && !k.same(l.flight) && o.place(k.to) == o.place(l.from) {
			if n := o.fed(k, legs, most-1); shortest < 0 || n < shortest {
				shortest = n
			}
		}
	}
	return shortest + 1
}

// latestNaming returns the last of the items that names the leg's flight, and where it stands there.
func latestNaming(l found, items []*item) (which, nth int) {
	for i, it := range slices.Backward(items) {
		for n, f := range append([]flight{it.in, it.out}, it.on...) {
			if f.same(l.flight) {
				return i, n
			}
		}
	}
	return -1, 0
}

// status is the loading status of a living leg.
func (o *Oracle) status(b *Bag, l found) string {
	if l.inbound {
		return ""
	}
	status := "Not Loaded"
	var by *event
	for _, e := range o.counting(b) {
		names := e.out.same(l.flight) || !e.out.there() && l.from != "" && o.place(e.airport) == o.place(l.from)
		if names || e.report {
			status, by = e.status, e
		}
	}
	if o.set.Departed != nil && status == "Not Loaded" && o.set.Departed(l.airline, l.number, dayText(l.day), l.from) {
		return "Delayed"
	}
	// A re-flighted bag: not loaded on aircraft, and nothing set the status after the (read: first) REFLIGHTED event.
	first := slices.IndexFunc(b.events, func(e *event) bool { return e.row == reflighted })
	if first >= 0 && status != "Loaded on Aircraft" && (by == nil || order(by.item, b.events[first].item) < 0) {
		return "Delayed"
	}
	return status
}

// seat is the seat of the latest BSM at the leg's departure.
func (o *Oracle) seat(b *Bag, l found) string {
	for _, it := range slices.Backward(b.items) {
		if isBSM(it.message) && l.from != "" && o.place(it.airport) == o.place(l.from) {
			return it.g.Seat
		}
	}
	return ""
}

// fillFields takes each bag field from the latest BSM that holds it, else the latest BPM.
func (o *Oracle) fillFields(b *Bag) {
	latest := func(field func(*item) string) string {
		for _, kind := range []parser.Kind{parser.BSM, parser.BPM} {
			for _, it := range slices.Backward(b.items) {
				if it.Kind == kind && field(it) != "" {
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
