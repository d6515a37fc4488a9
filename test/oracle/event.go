package oracle

import (
	"fmt"
	"slices"

	"bagtrail/parser"
)

// event is one event of a bag: an item and its row in the table of rules §2.
type event struct {
	*item
	row
}

type row struct{ code, description, status string }

var (
	cancelled  = row{"CANCELLED", "Bag Cancelled", ""}
	reflighted = row{"REFLIGHTED", "Bag Re-flighted", ""}
	rerouted   = row{"REROUTED", "Bag Rerouted", ""}
	boarded    = row{"PAX_BOARDED", "Passenger Boarded", ""}
	expected   = row{"EXPECTED", "Bag Expected", ""}
	offloaded  = row{"OFFLOADED", "Bag Offloaded", "Offloaded"}
	ond        = row{"OND", "Bag on Hand, Not Authorised to Load", "Not Loaded"}
	ona        = row{"ONA", "Bag on Hand, Authorised to Load", "Not Loaded"}
	uns        = row{"UNS", "Bag Unseen", "Not Loaded"}
	arrived    = row{"ARRIVED", "Bag Arrived", ""}
	aircraft   = row{"LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", "Loaded on Aircraft"}
	container  = row{"LOADED_IN_CONTAINER", "Bag Loaded in Container", "Loaded in Container"}
	failed     = row{"SCREENING_FAILED", "Bag Screening Failed", ""}
	passed     = row{"SCREENING_PASSED", "Bag Screening Passed", ""}
	screened   = row{"SCREENED", "Bag Screened", ""}
	sorted     = row{"SORTED", "Bag Sorted", ""}
	ground     = row{"GROUND_TRACKED", "Bag Ground Tracked", ""}
	handScan   = row{"HAND_SCANNED", "Bag Hand Scanned", ""}
	tracked    = row{"TRACKED", "Bag Tracked", ""}
	mishandled = row{"MISHANDLED", "Bag Mishandled", "Delayed"}
)

// loads reports whether the row sets a Loaded status.
func (r row) loads() bool { return isLoaded(r.status) }

func isLoaded(status string) bool {
	return status == "Loaded in Container" || status == "Loaded on Aircraft"
}

// addEvents makes the event of every item of the bag.
func (o *Oracle) addEvents(b *Bag) {
	for i, it := range b.items {
		e := &event{item: it}
		if isBSM(it) {
			e.row = o.sourceRow(b, it, b.items[:i])
		} else {
			e.row = o.processedRow(it, it.tagStatuses(b.Plate))
		}
		b.events = append(b.events, e)
		b.Rush = b.Rush || e.row == reflighted
	}
}

func (b *Bag) sortEvents() {
	slices.SortStableFunc(b.events, func(x, y *event) int { return order(x.item, y.item) })
}

// sourceRow returns the row of a BSM. before holds the bag's earlier items.
func (o *Oracle) sourceRow(b *Bag, it *item, before []*item) row {
	switch {
	case isDEL(it):
		return cancelled
	case it.g.Rush || b.Plate[0] == '2':
		return reflighted
	case it.Change == parser.Revise:
		predecessor, status, found := o.predecessor(it, before)
		if found && !o.same(predecessor, it.out) {
			return rerouted
		}
		if it.g.PassengerStatus == "B" && status != "B" { // also if there is no predecessor
			return boarded
		}
	}
	return expected
}

// processedRow returns the row of a BPM that names the tag under these status codes; "" means .N.
func (o *Oracle) processedRow(it *item, statuses []string) row {
	if r, irregular := o.irregularRow(it, statuses); irregular {
		return r
	}
	arrival := o.onArrival(it)
	if r, loading := loadingRow(it); loading {
		if arrival {
			return arrived
		}
		return r
	}
	switch it.Screening {
	case parser.Refused:
		return failed
	case parser.Cleared:
		return passed
	case parser.Screened:
		return screened
	}
	switch it.Processing.Code {
	case 'S':
		return sorted
	case 'G':
		return ground
	case 'H':
		return handScan
	}
	if it.Processing.Present && it.Processing.Code != 'R' {
		return tracked
	}
	switch {
	case arrival:
		return arrived
	case !it.out.there(): // and no .I, or it would be on arrival
		return tracked
	}
	return aircraft
}

// irregularRow returns the row of a .B, which counts before .N: the first row of the table, and
// within a row the first in the message.
func (o *Oracle) irregularRow(it *item, statuses []string) (row, bool) {
	has := func(code string) bool { return slices.Contains(statuses, code) }
	switch {
	case has("OFF"):
		return offloaded, true
	case has("OND"):
		return ond, true
	case has("ONA"):
		return ona, true
	case has("UNS"):
		return uns, true
	case has("NAL"):
		nal := row{"NAL", "Bag Loaded, Not Authorised to Load", "Loaded on Aircraft"}
		if u := it.g.Loading; o.onArrival(it) {
			nal.status = ""
		} else if hasDevice(u) && u.Compartment == "" {
			nal.status = "Loaded in Container"
		}
		return nal, true
	}
	for _, s := range statuses {
		if s != "" {
			return row{s, "Bag Irregularity", "Not Loaded"}, true
		}
	}
	return row{}, false
}

// hasDevice reports whether .U has field 1, even if it is too long.
func hasDevice(u parser.Loading) bool { return u.Device != "" || u.LongDevice }

// loadingRow is the row of a .U.
func loadingRow(it *item) (row, bool) {
	u := it.g.Loading
	switch {
	case u.Compartment != "" && u.Compartment != it.airport:
		return aircraft, true
	case hasDevice(u):
		return container, true
	}
	return row{}, false
}

// positionings returns the positionings that count, in order and without copies. Copies are looked
// for among those of one airport, flight and stowage device.
func (o *Oracle) positionings(messages []*message) []*item {
	containers := map[string][]*message{}
	key := func(it *item) string {
		line := it.out.airline
		for _, m := range messages { // one name for each airline
			for _, other := range m.groups {
				if o.same(it.out, other.out) {
					line = min(line, other.out.airline)
				}
			}
		}
		return fmt.Sprint(it.airport, " ", line, it.out.number, " ", it.out.day, " ", it.g.Loading.Device)
	}
	takesPart := func(it *item) bool { return it.g.Loading.Device != "" && it.out.there() && !o.onArrival(it) }
	for _, m := range messages {
		for _, it := range m.groups {
			if k := key(it); takesPart(it) && !slices.Contains(containers[k], m) {
				containers[k] = append(containers[k], m)
			}
		}
	}
	var all []*item
	for k, some := range containers {
		none := func(*message) []*event { return nil } // a positioning has no tag that could be loaded again
		for _, m := range o.firsts(some, none) {
			for _, it := range m.groups {
				if takesPart(it) && key(it) == k {
					all = append(all, it)
				}
			}
		}
	}
	slices.SortFunc(all, order)
	return all
}

// addPositionings adds to the bag the events of the containers that it is in.
func (o *Oracle) addPositionings(b *Bag, positionings []*item) {
	for _, p := range positionings {
		if !o.carries(b, p) {
			continue
		}
		r, _ := loadingRow(p)
		b.events = append(b.events, &event{item: p, row: r})
		b.sortEvents()
		b.items = append(b.items, p)
		slices.SortFunc(b.items, order)
		for _, f := range p.named() { // it counts as a message of the bag
			b.dates = append(b.dates, dayText(f.day))
		}
	}
}

// carries reports whether the bag's latest status-setting event at that airport before the
// positioning is a load on that flight in that device. Loads on that flight without a device are
// skipped. Reading: the .F of an arriving flight does not count, but a bag that was offloaded at
// the airport is out, whatever flight the event names.
func (o *Oracle) carries(b *Bag, p *item) bool {
	for _, e := range slices.Backward(b.events) {
		if order(e.item, p) >= 0 || e.airport != p.airport || e.status == "" {
			continue
		}
		load := e.loads() && o.same(e.out, p.out)
		if load && !hasDevice(e.g.Loading) {
			continue
		}
		return load && e.g.Loading.Device == p.g.Loading.Device
	}
	return false
}

// renderEvents fills the bag's events as callers see them.
func (o *Oracle) renderEvents(b *Bag) {
	for _, e := range b.events {
		v := Event{
			Airport: e.airport, Code: e.code, Description: e.description,
			Local:  e.happened.In(o.set.Zone(e.airport)).Format("2006-01-02T15:04:05Z07:00"),
			UTC:    e.happened.UTC().Format("2006-01-02T15:04:05Z"),
			Device: e.g.Loading.Device, Compartment: e.g.Loading.Compartment,
			Outbound: e.out.render(false), Inbound: e.in.render(true), Connection: e.joined.render(false),
			FrequentFlyer: e.g.FrequentFlyer, PassengerStatus: e.g.PassengerStatus, TagStatus: e.g.TagStatus, PNR: e.g.PNR,
			Raw:          e.raw,
			ReadLocation: e.Processing.ReadLocation, SentLocation: e.Processing.SentLocation,
		}
		if v.Compartment == e.airport {
			v.Compartment = ""
		}
		for _, f := range e.on {
			v.Onward = append(v.Onward, *f.render(false))
		}
		if e.loads() {
			v.Loading = v.Outbound
		}
		for _, line := range e.g.AirlineData {
			v.AirlineData = append(v.AirlineData, AirlineData{line})
		}
		if b.Unknown {
			v.Unknown = "Y"
		}
		if o.set.Location != nil {
			v.Latitude, v.Longitude = o.set.Location(e.airport)
		}
		if e.row == reflighted {
			v.Reflighted = b.reflightedInfo(e)
		}
		b.Events = append(b.Events, v)
	}
}

func (f flight) render(inbound bool) *Flight {
	if !f.there() {
		return nil
	}
	r := &Flight{Airline: f.airline, Number: f.number}
	if f.dated {
		r.Date = dayText(f.day)
	}
	if inbound {
		r.Origin = f.airport
	} else {
		r.Destination = f.airport
	}
	return r
}
