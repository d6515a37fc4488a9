package oracle

import (
	"slices"
	"strings"

	"bagtrail/parser"
)

// event is one event of a bag: an item under a row of the table of rules §2.
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
	aircraft   = row{"LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", "Loaded on Aircraft"}
	container  = row{"LOADED_IN_CONTAINER", "Bag Loaded in Container", "Loaded in Container"}
	failed     = row{"SCREENING_FAILED", "Bag Screening Failed", ""}
	passed     = row{"SCREENING_PASSED", "Bag Screening Passed", ""}
	screened   = row{"SCREENED", "Bag Screened", ""}
	sorted     = row{"SORTED", "Bag Sorted", ""}
	ground     = row{"GROUND_TRACKED", "Bag Ground Tracked", ""}
	handScan   = row{"HAND_SCANNED", "Bag Hand Scanned", ""}
	tracked    = row{"TRACKED", "Bag Tracked", ""}
)

// addEvents makes the event of every item of the bag.
func (o *Oracle) addEvents(b *Bag) {
	for i, it := range b.items {
		e := &event{item: it}
		if isBSM(it.message) {
			e.row = o.sourceRow(b, it, b.items[:i])
		} else {
			e.row = processedRow(it, it.tagStatuses(b.Plate))
		}
		b.events = append(b.events, e)
		b.Rush = b.Rush || e.row == reflighted
	}
}

// sourceRow is the row of a BSM. before are the bag's items before it.
func (o *Oracle) sourceRow(b *Bag, it *item, before []*item) row {
	switch {
	case it.Change == parser.Delete:
		return cancelled
	case it.g.Rush || b.Plate[0] == '2':
		return reflighted
	case it.Change == parser.Revise:
		predecessor, status, found := o.predecessor(it, before)
		if found && !predecessor.same(it.out) {
			return rerouted
		}
		if it.g.PassengerStatus == "B" && status != "B" { // no predecessor is none, too
			return boarded
		}
	}
	return expected
}

// predecessor is the BSM before this one at the airport; where there is none, the .O of leg rule 2 stands for it,
// on the BSMs before this one.
func (o *Oracle) predecessor(it *item, before []*item) (f flight, passengerStatus string, found bool) {
	for _, p := range slices.Backward(before) {
		if isBSM(p.message) && o.place(p.airport) == o.place(it.airport) {
			return p.out, p.g.PassengerStatus, true
		}
	}
	l, found := o.onwardFrom(o.place(it.airport), o.currentBSMs(before))
	return l.flight, "", found
}

// processedRow is the row of a BPM that names the tag under these status codes; "" stands for .N.
func processedRow(it *item, statuses []string) row {
	own := func(code string) bool { return slices.Contains(statuses, code) }
	// .B counts before .N; the first row of the table, and inside a row the first in the message.
	if own("OFF") {
		return offloaded
	}
	for _, s := range statuses {
		switch s {
		case "OND":
			return ond
		case "ONA":
			return ona
		case "UNS":
			return uns
		}
	}
	u := it.g.Loading
	if own("NAL") {
		status := "Loaded on Aircraft"
		if u.Device != "" && u.Compartment == "" {
			status = "Loaded in Container"
		}
		return row{"NAL", "Bag Loaded, Not Authorised to Load", status}
	}
	for _, s := range statuses {
		if s != "" {
			return row{s, "Bag Irregularity", "Not Loaded"}
		}
	}
	if r, loading := loadingRow(it); loading {
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
	if !it.Processing.Present {
		return aircraft
	}
	switch it.Processing.Code {
	case 'S':
		return sorted
	case 'G':
		return ground
	case 'H':
		return handScan
	case 'R':
		return aircraft
	}
	return tracked
}

// loadingRow is the row of a .U.
func loadingRow(it *item) (row, bool) {
	u := it.g.Loading
	switch {
	case u.Compartment != "" && u.Compartment != it.airport:
		return aircraft, true
	case u.Device != "":
		return container, true
	}
	return row{}, false
}

// addPositionings gives the bag the events of the containers that it is in.
func (o *Oracle) addPositionings(b *Bag, positionings []*message) {
	var all []*item
	for _, m := range o.withoutCopies(positionings) {
		all = append(all, m.groups...)
	}
	slices.SortFunc(all, order)
	for _, p := range all {
		r, _ := loadingRow(p)
		if p.g.Loading.Device != "" && p.out.there() && o.carries(b, p) {
			b.events = append(b.events, &event{item: p, row: r})
			b.items = append(b.items, p)
			slices.SortStableFunc(b.events, func(x, y *event) int { return order(x.item, y.item) })
			slices.SortFunc(b.items, order)
		}
	}
}

// carries says whether the bag's latest event before the positioning, on that flight out of that airport, that carries a
// stowage device or is OFFLOADED, carries that device.
func (o *Oracle) carries(b *Bag, p *item) bool {
	for _, e := range slices.Backward(b.events) {
		if order(e.item, p) < 0 && e.airport == p.airport && e.out.same(p.out) && !o.arriving(e.item) && !o.arriving(p) &&
			(e.g.Loading.Device != "" || e.row == offloaded) {
			return e.g.Loading.Device == p.g.Loading.Device
		}
	}
	return false
}

// render fills the bag's events as callers see them.
func (o *Oracle) render(b *Bag) {
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
		for _, f := range e.on {
			v.Onward = append(v.Onward, *f.render(false))
		}
		if e.g.Loading.Present {
			v.Loading = v.Outbound
		}
		for _, line := range e.g.AirlineData {
			v.AirlineData = append(v.AirlineData, AirlineData{line})
		}
		if b.Unknown {
			v.Unknown = "Y"
		}
		if o.set.Position != nil {
			v.Latitude, v.Longitude = o.set.Position(e.airport)
		}
		if e.row == reflighted && b.originalID != "" {
			v.Reflighted = &Reflighted{Plate: b.originalID}
			if l := missedLeg(b.original); l != nil {
				v.Reflighted.Airline, v.Reflighted.Number, v.Reflighted.Date = l.Airline, l.Number, l.Date
			}
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

// tenDigitWord returns the first word of ten digits; words stand between characters that are neither letter nor digit.
func tenDigitWord(lines []string) string {
	for _, line := range lines {
		for _, word := range strings.FieldsFunc(line, func(c rune) bool {
			return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
		}) {
			if len(word) == 10 && allDigits(word) {
				return word
			}
		}
	}
	return ""
}
