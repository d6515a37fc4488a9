package bag

import (
	"cmp"
	"slices"

	"bagtrail/internal/few"
)

// itinerary collects legs; two legs on one flight are one.
type itinerary struct {
	legs     []Leg
	byFlight few.Map[Flight, int] // index in legs
}

// add adds a leg. Where there is one on the same flight already, the airports are those of the first
// that knows its departure.
func (t *itinerary) add(l Leg) {
	if l.Flight.IsZero() {
		return
	}
	if i, there := t.byFlight.Get(l.Flight); there {
		have := &t.legs[i]
		if have.From == "" && l.From != "" {
			have.From, have.To = l.From, l.To
		}
		have.Status = max(have.Status, l.Status)
		return
	}
	t.byFlight.Set(l.Flight, len(t.legs))
	t.legs = append(t.legs, l)
}

// legs makes the legs of a bag: the living ones of rules §3, then the flights that its messages named besides.
func (r Rules) legs(b *Bag, messages []*Message) []Leg {
	current := sources{place: r.Place}
	var cut few.Map[string, *Message] // place → its latest DEL
	for _, m := range messages {
		if m.Kind == BSM {
			current.add(m)
			if m.Change == Delete {
				cut.Set(r.Place(m.Airport), m)
			}
		}
	}
	setting := r.settingEvents(b.Events, &cut)

	living := r.livingLegs(&current, messages, setting)
	for i := range living.legs {
		l := &living.legs[i]
		l.Living = true
		if l.Status != NoStatus {
			l.Status = r.status(*l, b, setting)
		}
		if m := current.at(r.Place(l.From)); m != nil && l.From != "" {
			l.Seat = m.Seat
		}
	}
	r.sortByTravel(living.legs, messages)

	var past itinerary
	for _, m := range slices.Backward(messages) {
		for l := range r.namedLegs(m) {
			if !living.byFlight.Has(l.Flight) {
				past.add(l)
			}
		}
	}
	r.sortByTravel(past.legs, messages)
	return append(living.legs, past.legs...)
}

// settingEvents returns the events that set a loading status and still count: not those at an airport
// before its latest DEL.
func (r Rules) settingEvents(events []Event, cut *few.Map[string, *Message]) []*Event {
	setting := make([]*Event, 0, min(len(events), few.Most/2))
	for i := range events {
		e := &events[i]
		if e.Sets == NoStatus {
			continue
		}
		if cut.Len() > 0 {
			if del, deleted := cut.Get(r.Place(e.Message.Airport)); deleted && e.Message.compare(del) < 0 {
				continue
			}
		}
		setting = append(setting, e)
	}
	return setting
}

// livingLegs applies the three rules of rules §3 to every place, and adds the flights on which the bag
// was loaded beside them. A leg that shall have no loading status has NoStatus, the others NotLoaded.
func (r Rules) livingLegs(current *sources, messages []*Message, setting []*Event) itinerary {
	var all itinerary
	var out few.Map[string, Flight] // place → flight of the leg out of it
	put := func(place string, l Leg, status Status) {
		l.Status = status
		out.Set(place, l.Flight)
		all.add(l)
	}
	latest := current.latestFirst()

	for _, m := range latest { // rule 1
		if !m.isDelete() {
			put(r.Place(m.Airport), current.outbound(m), NotLoaded)
		}
	}
	free := func(place string) bool {
		return !out.Has(place) && current.at(place) == nil
	}
	for _, m := range latest { // rule 2
		if m.isDelete() {
			continue
		}
		for l := range current.onward(m) {
			if place := r.Place(l.From); l.From != "" && free(place) {
				put(place, l, NotLoaded)
			}
		}
	}
	for _, m := range slices.Backward(messages) { // rule 3
		if in := m.Inbound; !in.IsZero() && free(r.Place(in.Airport)) {
			put(r.Place(in.Airport), Leg{Flight: in.Flight, From: in.Airport, To: m.Airport}, NoStatus)
		}
	}
	for _, m := range slices.Backward(messages) {
		if place := r.Place(m.Airport); m.Kind == BPM && !m.Outbound.IsZero() && free(place) {
			put(place, current.outbound(m), NotLoaded)
		}
	}

	var seen few.Map[string, struct{}] // places whose latest status-setting BPM is known
	for _, e := range slices.Backward(setting) {
		m := e.Message
		place := r.Place(m.Airport)
		if m.Kind != BPM || seen.Has(place) {
			continue
		}
		seen.Set(place, struct{}{})
		if leaving := out.Value(place); e.Sets.Loaded() && !m.Outbound.IsZero() && m.Outbound.Flight != leaving {
			l := current.outbound(m)
			l.Status = NotLoaded
			all.add(l)
		}
	}
	return all
}

// status returns the loading status of a living leg that has one.
func (r Rules) status(l Leg, b *Bag, setting []*Event) Status {
	status := NotLoaded
	var setBy *Message
	for _, e := range setting {
		m := e.Message
		flight := m.Outbound.Flight
		if flight == l.Flight || m.Kind == Report ||
			(flight.IsZero() && l.From != "" && r.Place(m.Airport) == r.Place(l.From)) {
			status, setBy = e.Sets, m
		}
	}
	if b.Rush && status != OnAircraft && (setBy == nil || setBy.compare(b.firstReflight()) < 0) {
		return Delayed
	}
	return status
}

// namedLegs yields every flight that m names, as a leg.
func (r Rules) namedLegs(m *Message) func(yield func(Leg) bool) {
	return func(yield func(Leg) bool) {
		s := sources{place: r.Place}
		if !m.Outbound.IsZero() && !yield(s.outbound(m)) {
			return
		}
		for l := range s.onward(m) {
			if !yield(l) {
				return
			}
		}
		if !m.Inbound.IsZero() {
			yield(Leg{Flight: m.Inbound.Flight, From: m.Inbound.Airport, To: m.Airport})
		}
	}
}

// longestChain is how many legs of one day are followed back at most.
const longestChain = 8

// sortByTravel orders legs by date; on one day a leg follows the leg that arrives where it departs, by the
// shortest way back to a leg that follows none. Round trips, which have no such way, and other ties stand as
// the latest message that names them has them.
func (r Rules) sortByTravel(legs []Leg, messages []*Message) {
	if len(legs) < 2 {
		return
	}
	if !shareDays(legs) {
		slices.SortFunc(legs, func(a, b Leg) int { return cmp.Compare(a.Day, b.Day) })
		return
	}
	var named few.Map[Flight, int]
	for _, m := range slices.Backward(messages) {
		for f := range m.Flights() {
			if !named.Has(f) {
				named.Set(f, named.Len())
			}
		}
	}
	type travelling struct {
		leg             Leg
		followed, named int
	}
	ordered := make([]travelling, len(legs))
	for i, followed := range r.followed(legs) {
		place := named.Value(legs[i].Flight)
		ordered[i] = travelling{legs[i], followed, place}
	}
	slices.SortFunc(ordered, func(a, b travelling) int {
		return cmp.Or(cmp.Compare(a.leg.Day, b.leg.Day), cmp.Compare(a.followed, b.followed), cmp.Compare(a.named, b.named))
	})
	for i := range ordered {
		legs[i] = ordered[i].leg
	}
}

// shareDays reports whether legs may have a day in common.
func shareDays(legs []Leg) bool {
	if len(legs) > few.Most {
		return true
	}
	for i := range legs {
		for j := range i {
			if legs[i].Day == legs[j].Day {
				return true
			}
		}
	}
	return false
}

// followed returns how many legs of its day each leg follows.
func (r Rules) followed(legs []Leg) []int {
	type moment struct {
		day   Day
		place string
	}
	var departing few.Map[moment, []int]
	var arriving few.Map[moment, int]
	for i, l := range legs {
		from, to := moment{l.Day, r.Place(l.From)}, moment{l.Day, r.Place(l.To)}
		before := departing.Value(from)
		departing.Set(from, append(before, i))
		n := arriving.Value(to)
		arriving.Set(to, n+1)
	}
	counts := make([]int, len(legs))
	var reached []int
	for i, l := range legs {
		counts[i] = longestChain
		feeders := arriving.Value(moment{l.Day, r.Place(l.From)})
		if r.Place(l.From) == r.Place(l.To) {
			feeders-- // itself
		}
		if feeders == 0 || l.From == "" {
			counts[i] = 0
			reached = append(reached, i)
		}
	}
	for len(reached) > 0 {
		this := reached[0]
		reached = reached[1:]
		behind := moment{legs[this].Day, r.Place(legs[this].To)}
		following := departing.Value(behind)
		for _, next := range following {
			if n := counts[this] + 1; n < counts[next] {
				counts[next] = n
				reached = append(reached, next)
			}
		}
		departing.Set(behind, nil) // the shortest way has been there
	}
	return counts
}
