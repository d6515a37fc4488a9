package console

import (
	"net/url"
	"slices"
	"time"

	"bagtrail/internal/smallmap"
)

// bagPage is the data of the screen of a plate.
type bagPage struct {
	Plate string
	Bags  []tracked
}

// tracked is a bag with the bags of its rush chain.
type tracked struct {
	bagDoc
	Nth      int     // its number among the bags of the page; 0 for the first
	Current  *legDoc // the leg on which the bag is, or goes next; nil if no flight is known
	Status   status
	Last     *eventDoc
	LastOf   string // plate of the last event; "" if it is Plate
	AtOrigin bool   // Last is where Current begins
	AtEnd    bool   // Last is where Current ends
	Original string // the bag before this one in the rush chain, or ""
	Missed   []legDoc
	Days     []eventDay
	Links    []chainLink
	Pictured *trail
	Others   []string // plates of the other bags of the passenger on the day of its leg
}

// eventDay is a sequence of events at one airport on one day, the latest first.
type eventDay struct {
	Airport string
	Day     time.Time
	Events  []trackedEvent
}

// trackedEvent is an event with its plate.
type trackedEvent struct {
	eventDoc
	Plate string    // "" for the bag of the page
	at    time.Time // orders the events of several bags
}

// chainLink is a plate of a rush chain.
type chainLink struct {
	Plate string
	Self  bool
	Rush  bool
	Leg   *legDoc
}

// Landed reports whether the bag was last seen at the destination of its leg, after the status of
// the leg was set. The bag must also be loaded, or an event must say that it has arrived with its
// flight, since the departure airport may not report loads.
func (t tracked) Landed() bool {
	arrived := func(e trackedEvent) bool { return e.arrivedWith(t.Current) }
	return t.AtEnd && t.Last.Happened.After(t.Current.StatusSince) && (t.Status.Class == "air" || t.Status.Class == "con" ||
		slices.ContainsFunc(t.Days, func(d eventDay) bool { return slices.ContainsFunc(d.Events, arrived) }))
}

// Final returns the last living leg of the bag, or nil.
func (t tracked) Final() *legDoc { return lastLiving(t.Legs) }

// bag shows the bags of a plate.
func (v *visit) bag() (view, *problem) {
	plate := v.r.PathValue("plate")
	shown := view{Title: "Bag " + plate, Section: "search"}
	type answer struct {
		Bags   []bagDoc `json:"bags"`
		Cursor string   `json:"changes_cursor"`
	}
	var found answer
	query := "/v1/bags/" + url.PathEscape(plate) + "?fields=raw"
	if p := v.ask(query, nil, &found); p != nil {
		return shown, p
	}
	follow := []string{plate}
	for _, b := range found.Bags {
		follow = append(follow, b.Chain...)
	}
	follow = smallmap.Distinct(follow)
	filter := url.Values{"plate": follow}
	cursor := found.Cursor
	if len(follow) > 1 { // a cursor belongs to its filter: get one for all plates, and then read the bags again
		cursor, found = v.cursor(filter), answer{}
		if p := v.ask(query, nil, &found); p != nil {
			return shown, p
		}
	}
	others, p := v.chained(follow[1:])
	if p != nil {
		return shown, p
	}
	data := bagPage{Plate: plate}
	for i := range slices.Backward(found.Bags) {
		t := v.track(found.Bags[i], others)
		t.Others = v.ofPassenger(t)
		data.Bags = append(data.Bags, t)
	}
	slices.SortStableFunc(data.Bags, func(a, b tracked) int { return b.Changed.Compare(a.Changed) })
	for i := 1; i < len(data.Bags); i++ {
		data.Bags[i].Nth = i + 1
	}
	if len(data.Bags) > 0 && data.Bags[0].Last != nil {
		shown.Airport = data.Bags[0].Last.Airport
	}
	shown.Data = data
	shown.Live = &live{Stream: "/v1/changes?" + filter.Encode(), Cursor: cursor}
	return shown, nil
}

// maxChained is the largest number of other plates of a rush chain that are read.
const maxChained = 20

// chained reads the bags of other plates of a rush chain.
func (v *visit) chained(plates []string) ([]bagDoc, *problem) {
	if len(plates) == 0 {
		return nil, nil
	}
	var found struct {
		Bags []bagDoc `json:"bags"`
	}
	query := url.Values{"plate": plates[:min(len(plates), maxChained)], "fields": {"raw"}}
	p := v.ask("/v1/bags?"+query.Encode(), nil, &found)
	if p != nil && p.Status == 403 { // the key may know the plates, but not their bags
		return nil, nil
	}
	return found.Bags, p
}

// ofPassenger returns the plates of the other bags of a bag's passenger that depart on the day of
// its current leg, without those of the rush chain. If the search fails, it returns none.
func (v *visit) ofPassenger(t tracked) (plates []string) {
	leg := current(t.Legs, v.now)
	if t.Passenger.PNR == "" || leg == nil {
		return nil
	}
	var found []hit
	if v.find(map[string]any{"pnr": t.Passenger.PNR, "date": leg.Date, "fields": "list", "limit": 200}, &found) != nil {
		return nil
	}
	for _, h := range found {
		same := h.Passenger.LastName == t.Passenger.LastName && h.Passenger.FirstName == t.Passenger.FirstName
		if same && h.Plate != t.Plate && !slices.Contains(t.Chain, h.Plate) {
			plates = append(plates, h.Plate)
		}
	}
	return smallmap.Distinct(plates)
}

// track arranges a bag and the bags of its chain.
func (v *visit) track(b bagDoc, others []bagDoc) tracked {
	t := tracked{bagDoc: b}
	var bags []bagDoc // in the order of the chain
	if !slices.Contains(b.Chain, b.Plate) {
		bags = []bagDoc{b}
	}
	for i, plate := range b.Chain {
		link, among := chainLink{Plate: plate, Self: plate == b.Plate, Rush: i > 0}, others
		if link.Self {
			among = []bagDoc{b}
		}
		if link.Self && link.Rush {
			t.Original = b.Chain[i-1]
		}
		if o := b.linked(plate, among); o != nil {
			bags = append(bags, *o)
			link.Leg = lastLiving(o.Legs)
		}
		t.Links = append(t.Links, link)
	}
	t.Missed = missed(bags, v.now)
	newest := bags[len(bags)-1]
	t.Current = current(newest.Legs, v.now)
	if t.Current != nil {
		t.Status = statusOf(t.Current.Status)
	}
	t.Days = days(bags, b.Plate)
	if len(t.Days) > 0 {
		last := t.Days[0].Events[0]
		t.Last, t.LastOf = &last.eventDoc, last.Plate
		if t.Current != nil {
			t.AtOrigin = v.airports.SamePlace(last.Airport, t.Current.From)
			t.AtEnd = last.Airport != t.Current.From && (last.Airport == t.Current.To || !t.AtOrigin && v.airports.SamePlace(last.Airport, t.Current.To))
		}
	}
	t.Pictured = v.picture(bags)
	return t
}

// linked returns the bag of a plate that is in the rush chain of b, or nil. Plates are reused, even
// by passengers of the same surname, so the best bag is one whose own chain has b. If an original
// has several rush bags, its chain has only the last one; then PNR and surname decide.
func (b *bagDoc) linked(plate string, among []bagDoc) (best *bagDoc) {
	most := 0
	for i := range among {
		o, fit := &among[i], 0
		if o.Plate != plate {
			continue
		}
		if slices.Contains(o.Chain, b.Plate) {
			fit += 4
		}
		if o.Passenger.PNR != "" && o.Passenger.PNR == b.Passenger.PNR {
			fit += 2
		}
		if o.Passenger.LastName != "" && o.Passenger.LastName == b.Passenger.LastName {
			fit++
		}
		if fit > most {
			best, most = o, fit
		}
	}
	return best
}

// current returns the current leg: the first living leg that the bag has not flown, counted from
// the last leg on which it is loaded. If there is none, it is the last living leg. A leg that is
// known only from an .I has no status and is skipped, since it only says where the bag comes from.
func current(legs []legDoc, now time.Time) *legDoc {
	from := 0
	for i, l := range legs {
		if l.Living && (l.Status == inContainer || l.Status == onAircraft) {
			from = i
		}
	}
	for i := from; i < len(legs); i++ {
		l := &legs[i]
		flown := l.Status == onAircraft && !l.Departure.Best().IsZero() && l.Departure.Best().Before(now)
		if l.Living && l.Status != "" && !flown && (l.Status != onAircraft || i == len(legs)-1 || !moved(legs[i+1:])) {
			return l
		}
	}
	return lastLiving(legs)
}

// moved reports whether a bag was loaded, offloaded or delayed on one of the living legs.
func moved(legs []legDoc) bool {
	return slices.ContainsFunc(legs, func(l legDoc) bool { return l.Living && l.Status != "" && l.Status != notLoaded })
}

func lastLiving(legs []legDoc) *legDoc {
	for i := range slices.Backward(legs) {
		if legs[i].Living {
			return &legs[i]
		}
	}
	return nil
}

// missed returns the legs that left without the bag.
func missed(bags []bagDoc, now time.Time) (legs []legDoc) {
	for _, b := range bags {
		for _, l := range b.Legs {
			if l.Living && l.Status == delayed && !l.Ahead(now) {
				legs = append(legs, l)
			}
		}
	}
	return legs
}

// dayAndOffset is the layout of the day and offset that the events under one heading share.
const dayAndOffset = "2006-01-02 -07:00"

// days arranges the events of bags by airport, day and offset from UTC, the latest first. Those of one
// bag stay in the order of /v1, in which a read time without seconds stands at the end of its minute.
func days(bags []bagDoc, own string) (runs []eventDay) {
	var all []trackedEvent
	for _, b := range bags {
		plate := b.Plate
		if plate == own {
			plate = ""
		}
		var at time.Time
		for _, e := range b.Events {
			if e.Happened.After(at) {
				at = e.Happened
			}
			all = append(all, trackedEvent{e, plate, at})
		}
	}
	slices.Reverse(all) // if two events have equal times, the later one of its bag comes first
	slices.SortStableFunc(all, func(a, b trackedEvent) int { return b.at.Compare(a.at) })
	for _, e := range all {
		last := len(runs) - 1
		if last < 0 || runs[last].Airport != e.Airport || runs[last].Day.Format(dayAndOffset) != e.Local.Format(dayAndOffset) {
			runs = append(runs, eventDay{Airport: e.Airport, Day: e.Local})
			last++
		}
		runs[last].Events = append(runs[last].Events, e)
	}
	return runs
}
