package oracle

import "slices"

// bookings is the final state of the bookings that the BSMs of a bag make.
type bookings struct {
	current   []*item // the current BSMs, the latest first
	deletions []*item // DELs that delete a booking
	booked    []*item // BSMs that were current at any time
}

// bookingsOf returns the state after all items, in order. BSMs of arriving flights are kept apart
// from those of departing flights.
func (o *Oracle) bookingsOf(items []*item) bookings {
	var s bookings
	for _, it := range items {
		if !isBSM(it) {
			continue
		}
		there := func(c *item) bool { return o.samePlace(c.airport, it.airport) && o.arriving(c) == o.arriving(it) }
		switch {
		case isDEL(it):
			ended := func(c *item) bool { return there(c) && o.same(c.out, it.out) }
			if slices.ContainsFunc(s.current, ended) || o.deletesOnward(s, it) {
				s.deletions = append(s.deletions, it)
				s.current = slices.DeleteFunc(s.current, ended)
			}
		case slices.ContainsFunc(s.current, func(c *item) bool { return there(c) && o.outranks(c, it) }):
			// skipped
		default:
			s.booked = append(s.booked, it)
			s.current = append([]*item{it}, slices.DeleteFunc(s.current, there)...)
		}
	}
	return s
}

// outranks reports whether a BSM without a name leaves the current one in force, since that is of
// another airline and names a passenger.
func (o *Oracle) outranks(current, it *item) bool {
	return !it.namesPassenger() && current.namesPassenger() && !o.set.SameAirline(current.out.airline, it.out.airline)
}

// deletesOnward reports whether a DEL at an airport that never had a BSM for departing flights
// deletes the .O of a current BSM for its flight from there.
func (o *Oracle) deletesOnward(s bookings, del *item) bool {
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

// hadBooking reports whether the airport ever had a current BSM for departing flights.
func (o *Oracle) hadBooking(s bookings, airport string) bool {
	return slices.ContainsFunc(s.booked, func(it *item) bool { return !o.arriving(it) && o.samePlace(it.airport, airport) })
}

// lostBooking reports whether a DEL for a departing flight counts at the airport.
func (o *Oracle) lostBooking(s bookings, airport string) bool {
	return slices.ContainsFunc(s.deletions, func(it *item) bool { return !o.arriving(it) && o.samePlace(it.airport, airport) })
}

// saysNothing reports whether an item changes no leg: a DEL that does not count, or a BSM that is
// skipped.
func (s bookings) saysNothing(it *item) bool {
	return isBSM(it) && !slices.Contains(s.booked, it) && !slices.Contains(s.deletions, it)
}

// onwardFrom returns the leg by rule 2: the .O that departs from the airport, in the latest current
// BSM that has one. Reading: that can be the BSM of a flight that arrives at the airport.
func (o *Oracle) onwardFrom(airport string, s bookings) (sourcedLeg, bool) {
	if o.hadBooking(s, airport) || o.lostBooking(s, airport) {
		return sourcedLeg{}, false
	}
	for _, it := range s.current {
		for _, l := range o.onwards(it) {
			if o.samePlace(l.from, airport) {
				return l, true
			}
		}
	}
	return sourcedLeg{}, false
}

// predecessor returns the predecessor of a BSM at its airport: the last current BSM, arriving or
// departing like itself, or the DEL that counted there since. If there is none, it is the .O of leg
// rule 2 for a departing flight.
func (o *Oracle) predecessor(it *item, before []*item) (f flight, passengerStatus string, found bool) {
	s := o.bookingsOf(before)
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
