package oracle

import "slices"

// follow sets the loading statuses of the living legs by the status-setting events, in order.
func (o *Oracle) follow(b *Bag) {
	for i := range b.living {
		if !b.living[i].inbound {
			b.living[i].status = "Not Loaded"
		}
	}
	for _, e := range b.events {
		switch {
		case e.status == "":
		case e.report:
			mishandle(b, e)
		case e.out.there():
			o.setByFlight(b, e)
			o.setElsewhere(b, e)
		default:
			for i := range b.living {
				if o.samePlace(b.living[i].from, e.airport) {
					b.living[i].setStatus(e, e.status)
				}
			}
		}
	}
}

func (l *sourcedLeg) setStatus(e *event, status string) {
	if !l.inbound {
		l.status, l.set = status, e
	}
}

// setByFlight sets the status of the legs of the event's flight that depart from its airport, those
// that were known from an .I only too. If there is none, a load sets the legs whose departure is
// unknown, and any other event sets all legs of the flight.
func (o *Oracle) setByFlight(b *Bag, e *event) {
	ofFlight := func(l sourcedLeg) bool { return o.same(l.flight, e.out) }
	here := func(l sourcedLeg) bool { return ofFlight(l) && o.samePlace(l.from, e.airport) }
	counts := ofFlight
	if slices.ContainsFunc(b.living, here) {
		counts = here
	} else if e.loads() {
		counts = func(l sourcedLeg) bool { return ofFlight(l) && l.from == "" }
	}
	for i := range b.living {
		if counts(b.living[i]) {
			b.living[i].inbound = b.living[i].inbound && !here(b.living[i])
			b.living[i].setStatus(e, e.status)
		}
	}
}

// setElsewhere removes Loaded from the legs of other flights out of the airport of the event's
// flight, since a bag is in one place.
func (o *Oracle) setElsewhere(b *Bag, e *event) {
	if o.arriving(e.item) {
		return
	}
	ended := "Not Loaded"
	if e.row == offloaded {
		ended = e.status
	}
	for i := range b.living {
		if l := &b.living[i]; o.samePlace(l.from, e.airport) && !o.same(l.flight, e.out) && isLoaded(l.status) {
			l.setStatus(e, ended)
		}
	}
}

// mishandle sets Delayed on every living leg that is not Loaded on Aircraft; if all are, on the
// last one. Legs without a status are skipped.
func mishandle(b *Bag, e *event) {
	var last *sourcedLeg
	missed := false
	for i := range b.living {
		l := &b.living[i]
		if l.inbound {
			continue
		}
		last = l
		if l.status != "Loaded on Aircraft" {
			l.setStatus(e, e.status)
			missed = true
		}
	}
	if last != nil && !missed {
		last.setStatus(e, e.status)
	}
}

// statusNow returns the loading status of a living leg, with rush bags, departures and reports.
func (o *Oracle) statusNow(b *Bag, l sourcedLeg) string {
	if l.status == "Not Loaded" && o.set.Departed != nil && !o.arrivedBy(b, l) &&
		o.set.Departed(*l.render(false), l.from) {
		return "Delayed"
	}
	if l.status == "" || l.status == "Loaded on Aircraft" {
		return l.status
	}
	left := func(reflight *item) bool { return l.set == nil || order(l.set.item, reflight) <= 0 }
	if first := o.firstReflighted(b); first != nil && left(first.item) {
		return "Delayed"
	}
	if own := ownReflights(b); len(own) > 0 && left(own[0]) && !o.sentOn(own, l) {
		return "Delayed"
	}
	return l.status
}

// arrivedBy reports whether an ARRIVED event names the leg's flight as the arriving one, in .F or
// .I, at another airport than that of the leg's departure.
func (o *Oracle) arrivedBy(b *Bag, l sourcedLeg) bool {
	return slices.ContainsFunc(b.events, func(e *event) bool {
		return e.row == arrived && (o.same(e.out, l.flight) || o.same(e.in, l.flight)) && !o.samePlace(l.from, e.airport)
	})
}

// firstReflighted returns the first REFLIGHTED event of the rush bags that re-flight the bag, or
// nil.
func (o *Oracle) firstReflighted(b *Bag) *event {
	var first *event
	for _, r := range o.bags {
		for _, e := range r.events {
			if r.reflights(b) && e.row == reflighted && (first == nil || order(e.item, first.item) < 0) {
				first = e
			}
		}
	}
	return first
}

// foundByLists reports whether lists find the rush bag: it names a plate, or its own begins with 2,
// or a BSM with .E/RUSH holds its PNR.
func (b *Bag) foundByLists() bool {
	return b.originals[0].by != nil || b.Plate[0] == '2' ||
		slices.ContainsFunc(b.items, func(it *item) bool { return isBSM(it) && it.g.Rush && it.pnr() == pnrOf(b.PNR) })
}

// ownReflights returns the items by which a bag is its own rush bag, in order: BSMs that re-flight
// its own plate after another message.
func ownReflights(b *Bag) []*item {
	var all []*item
	for _, it := range b.items {
		if isOwnRush(b.Plate, it) && it.message != b.items[0].message {
			all = append(all, it)
		}
	}
	return all
}

// sentOn reports whether one of these items names the leg.
func (o *Oracle) sentOn(own []*item, l sourcedLeg) bool {
	return slices.ContainsFunc(own, func(it *item) bool { return o.names(it, l.flight) })
}
