package oracle

import "slices"

// standing is what the BSMs of a bag say in the end.
type standing struct {
	current []*item // the current BSMs, the latest first
	counted []*item // the DELs that count
	booked  []*item // the BSMs that were current at some time
}

// standingOf goes through the items in order. BSMs of arriving flights and of departing ones are looked at apart.
func (o *Oracle) standingOf(items []*item) standing {
	var s standing
	for _, it := range items {
		if !isBSM(it) {
			continue
		}
		there := func(c *item) bool { return o.samePlace(c.airport, it.airport) && o.arriving(c) == o.arriving(it) }
		switch {
		case isDEL(it):
			ended := func(c *item) bool { return there(c) && o.same(c.out, it.out) }
			if slices.ContainsFunc(s.current, ended) || o.deletesOnward(s, it) {
				s.counted = append(s.counted, it)
				s.current = slices.DeleteFunc(s.current, ended)
			}
		case slices.ContainsFunc(s.current, func(c *item) bool { return there(c) && o.outranks(c, it) }):
			// passed over
		default:
			s.booked = append(s.booked, it)
			s.current = append([]*item{it}, slices.DeleteFunc(s.current, there)...)
		}
	}
	return s
}

// outranks says whether a BSM without a name does not end the current one, which is of another airline and names a
// passenger.
func (o *Oracle) outranks(current, it *item) bool {
	return !it.namesPassenger() && current.namesPassenger() && !o.set.SameAirline(current.out.airline, it.out.airline)
}

// deletesOnward says whether a DEL at an airport that never had a BSM for departing flights takes away the .O of a
// current BSM that departs there on its flight.
func (o *Oracle) deletesOnward(s standing, del *item) bool {
	if o.arriving(del) || o.hadBooking(s, del.airport) {
		return false
	}
	for _, it := range s.current {
		for _, l := range o.onwards(it) {
			if o.samePlace(l.from, del.airport) && o.same(l.flight, del.out) {
				return true
			}
		}
	}
	return false
}

// hadBooking says whether the airport ever had a current BSM for departing flights.
func (o *Oracle) hadBooking(s standing, airport string) bool {
	return slices.ContainsFunc(s.booked, func(it *item) bool { return !o.arriving(it) && o.samePlace(it.airport, airport) })
}

// lostBooking says whether a DEL for a departing flight counts at the airport.
func (o *Oracle) lostBooking(s standing, airport string) bool {
	return slices.ContainsFunc(s.counted, func(it *item) bool { return !o.arriving(it) && o.samePlace(it.airport, airport) })
}

// saysNothing says whether an item changes no leg: a DEL that does not count, or a BSM that is passed over.
func (s standing) saysNothing(it *item) bool {
	return isBSM(it) && !slices.Contains(s.booked, it) && !slices.Contains(s.counted, it)
}

// onwardFrom is leg rule 2: the .O that departs from the airport, in the latest current BSM that has one. Reading: the
// BSM of a flight that arrives at the airport can be the one.
func (o *Oracle) onwardFrom(airport string, s standing) (found, bool) {
	if o.hadBooking(s, airport) || o.lostBooking(s, airport) {
		return found{}, false
	}
	for _, it := range s.current {
		for _, l := range o.onwards(it) {
			if o.samePlace(l.from, airport) {
				return l, true
			}
		}
	}
	return found{}, false
}

// predecessor is what a BSM finds before it at its airport: the BSM before it that was current, arriving or departing as
// itself, or the DEL that counted there since; if there is none, for a departing flight, the .O of leg rule 2.
func (o *Oracle) predecessor(it *item, before []*item) (f flight, passengerStatus string, found bool) {
	s := o.standingOf(before)
	for _, p := range slices.Backward(before) {
		if isBSM(p) && !s.saysNothing(p) && o.samePlace(p.airport, it.airport) && o.arriving(p) == o.arriving(it) {
			return p.out, p.g.PassengerStatus, true
		}
	}
	if o.arriving(it) {
		return flight{}, "", false
	}
	l, found := o.onwardFrom(it.airport, s)
	return l.flight, "", found
}
