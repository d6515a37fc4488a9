package trail

import (
	"context"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/smallmap"
)

// cachedLists is how many plates, bags and containers a generation of cached lists holds: the lists
// of a day of 50,000 bags, in about 25 MB.
const cachedLists = 160_000

// Listed is a bag on a flight. Its Bag has only its place among the bags of its plate, and what lists
// show: plate, names, PNR, and whether it is a rush bag.
type Listed struct {
	Bag *bag.Bag
	Leg bag.Leg
	// Changed is when the newest message that counts for the bag on this flight was received. It is
	// the same for every asker. If every key that may ask for the flight sees the whole bag, all its
	// messages count. Otherwise only messages count that name the flight or set the status of the leg.
	Changed time.Time
	whole   bool // every key that may ask for the list sees the whole bag
}

// IsOf reports whether the entry is of b, a bag of the same plate, and shows its PNR and names. After
// new messages the bag may have another place among the bags of its plate.
func (l *Listed) IsOf(b *bag.Bag) bool {
	return b.Nth == l.Bag.Nth && b.PNR == l.Bag.PNR && b.Surname == l.Bag.Surname && b.GivenName == l.Bag.GivenName
}

// wholeAt says for each end of a leg whether every key that may ask for the flight at that airport
// sees the whole bag. As a rule both are true.
type wholeAt struct{ from, to bool }

// OfFlight returns the bags with a living leg on the flight that departs from the airport, or
// arrives there, in the order of lists by what the asker sees of them. Fields that the asker must
// not see are left out. It takes at most three round trips, and one if the list is cached and
// nothing has changed. Bags that may have been re-flighted are read whole, with their rush bags, in
// four more round trips as a rule.
func (r *Reader) OfFlight(ctx context.Context, airport string, arriving bool, f bag.Flight) ([]Listed, error) {
	at := end{r, airport, arriving}
	list, err := r.list(ctx, at, f)
	if err != nil {
		return nil, err
	}
	listed := make([]Listed, 0, len(list.plates))
	bags := make([]bag.Bag, 0, len(list.plates))
	r.eachAt(list, at, func(o *listedPlate, b *listedBag, leg bag.Leg) {
		bags = append(bags, bag.Bag{Plate: o.plate, Nth: b.nth, Rush: b.rush, Description: bag.Description{PNR: b.pnr, Surname: b.surname, GivenName: b.givenName}})
		whole := b.whole.from
		if arriving {
			whole = b.whole.to
		}
		listed = append(listed, Listed{Leg: leg, Changed: b.changed, whole: whole})
	})
	for i := range listed {
		listed[i].Bag = &bags[i]
	}
	if r.sight == nil {
		return listed, nil
	}
	return r.seen(ctx, listed)
}

// list returns the list of a flight. The legs at one end whose bags were re-flighted are Delayed.
func (r *Reader) list(ctx context.Context, at end, f bag.Flight) (list, error) {
	f.Airline, f.Number = strings.Clone(f.Airline), strings.Clone(f.Number) // the cache must not hold the request
	before, _ := r.lists.Get(f)
	s := r.newSession()
	s.uncached, s.listing = true, f // a list needs no messages later
	s.at, s.skipVersions = at, true // reading versions first could take one more round trip
	made, err := s.list(ctx, f, before)
	if err != nil {
		return list{}, err
	}
	r.lists.Put(f, made, made.weight())
	return s.withReflights(ctx, f, made)
}

// end is an airport where the legs of a list begin, or end.
type end struct {
	reader   *Reader
	airport  string
	arriving bool
}

// has reports whether a leg begins at the airport, or ends there.
func (e end) has(l bag.Leg) bool {
	code := l.From
	if e.arriving {
		code = l.To
	}
	return e.reader.settings.Airports.Listed(code, e.airport)
}

// eachAt calls do for each bag of a list that has a leg with that end. The leg has its current
// status.
func (r *Reader) eachAt(l list, at end, do func(*listedPlate, *listedBag, bag.Leg)) {
	for i := range l.plates {
		for j := range l.plates[i].bags {
			b := &l.plates[i].bags[j]
			now := bag.Bag{Legs: b.legs}
			r.delayDeparted(&now)
			for _, leg := range now.Legs {
				if at.has(leg) {
					do(&l.plates[i], b, leg)
					break // a list has each bag once
				}
			}
		}
	}
}

// list is the list of a flight for all of its airports. Nobody changes it after it was made.
type list struct {
	plates     []listedPlate   // in ascending order
	containers []bag.Container // the containers of all plates, each once
}

// weight returns how many plates, bags and containers a list holds.
func (l list) weight() (n int) {
	for i := range l.plates {
		n += 1 + len(l.plates[i].bags) + len(l.plates[i].containers)
	}
	return n
}

// listedPlate is the entry of one plate in a list.
type listedPlate struct {
	plate      bag.Plate
	version    uint64          // of the messages of the plate
	containers []bag.Container // the containers whose positionings can concern the bags
	positioned uint64          // version of these positionings
	several    bool            // the plate has several bags
	bags       []listedBag     // the bags with living legs on the flight
}

// listedBag holds the fields of a bag that lists show.
type listedBag struct {
	nth                     int // of the bag, as in bag.Bag
	rush                    bool
	whole                   wholeAt // true only if true for all of legs
	changed                 time.Time
	pnr, surname, givenName string
	pnrs                    []string  // the PNRs that find the bag
	legs                    []bag.Leg // the living legs on the flight
}

// mayBeDelayed reports whether a rush bag, if there is one, sets the status of a leg at that end to
// Delayed. A leg that is Delayed already counts: the message of the rush bag sets its status anew.
func (o *listedPlate) mayBeDelayed(at end) bool {
	return slices.ContainsFunc(o.bags, func(b listedBag) bool {
		return slices.ContainsFunc(b.legs, func(l bag.Leg) bool {
			return at.has(l) && l.Status != bag.NoStatus && l.Status != bag.OnAircraft
		})
	})
}

// isCurrent reports whether the entry was made from these versions.
func (o *listedPlate) isCurrent(version uint64, positioned *smallmap.Map[bag.Container, uint64]) bool {
	return o.version == version && o.positioned == versionOf(o.containers, positioned)
}

// newList returns the list of a flight with these plates.
func newList(plates []listedPlate) list {
	l := list{plates: plates}
	for i := range plates {
		l.containers = append(l.containers, plates[i].containers...)
	}
	l.containers = slices.Clip(smallmap.Distinct(l.containers))
	return l
}

// list makes the list of a flight. It takes the entries that have not changed from the cached list
// before.
func (s *session) list(ctx context.Context, f bag.Flight, before list) (list, error) {
	w := readPlan{session: s, Wanted: Wanted{Flights: []bag.Flight{f}, StowageVersions: before.containers, PlateVersions: make([]bag.Plate, len(before.plates))}}
	for i := range before.plates {
		w.PlateVersions[i] = before.plates[i].plate
		w.wantRushBagsOf(&before.plates[i])
	}
	now, err := s.ask(ctx, w.Wanted)
	if err != nil {
		return list{}, err
	}
	plates := now.Flights[0]
	made := make([]listedPlate, len(plates))
	var missing []bag.Plate
	old := before.plates
	for i, plate := range plates {
		for len(old) > 0 && old[0].plate < plate {
			old = old[1:]
		}
		if len(old) > 0 && old[0].plate == plate && old[0].isCurrent(s.trailVersions.Value(plate), &s.stowageVersions) {
			made[i] = old[0]
		} else {
			missing = append(missing, plate)
		}
	}
	if len(missing) == 0 && len(made) == len(before.plates) {
		return before, nil
	}
	found, err := s.read(ctx, missing, Wanted{})
	if err != nil {
		return list{}, err
	}
	for i := range made {
		if made[i].plate == "" {
			made[i] = listEntry(ctx, f, missing[0], found[0])
			missing, found = missing[1:], found[1:]
		}
	}
	if err := ctx.Err(); err != nil { // an entry that was made after the end of ctx may lack parts
		return list{}, err
	}
	return newList(made), nil
}

// listEntry returns the entry of a plate in the list of a flight. It keeps no memory of a message.
func listEntry(ctx context.Context, f bag.Flight, plate bag.Plate, from *plateState) listedPlate {
	if from.listed != nil {
		return *from.listed
	}
	made := listedPlate{plate: plate, version: from.version, positioned: from.positioned, containers: cloneContainers(from.containers), several: len(from.bags) > 1}
	least := leastSights{ctx: ctx, flight: f}
	for i := range from.bags {
		made.show(&least, &from.bags[i])
	}
	return made
}

// flightAt is the Sight of a key that covers only one flight at one airport. Every key that may ask for
// the list of that flight sees at least as much.
type flightAt struct {
	flight  bag.Flight
	airport string
}

// Leg implements bag.Sight.
func (s flightAt) Leg(l bag.Leg) bool {
	return l.Flight == s.flight && (l.From == s.airport || l.To == s.airport)
}

// Station implements bag.Sight.
func (flightAt) Station(string) bool { return false }

// leastSights finds out whether a key with the least rights sees a whole bag: a key that may ask
// for the list of the flight at one of its airports, and for nothing else.
type leastSights struct {
	ctx     context.Context
	flight  bag.Flight
	viewers smallmap.Map[string, *bag.Viewer] // by airport
}

// all reports whether such a key for an airport sees the whole bag.
func (l *leastSights) all(b *bag.Bag, airport string) bool {
	viewer, have := l.viewers.Get(airport)
	if !have {
		viewer = bag.NewViewer(l.ctx, flightAt{l.flight, airport})
		l.viewers.Set(airport, viewer)
	}
	return viewer.View(b) == b
}

// show adds a bag to the entry, if it has living legs on the flight.
func (o *listedPlate) show(least *leastSights, b *bag.Bag) {
	var legs []bag.Leg
	var changed time.Time
	whole := wholeAt{true, true}
	for _, l := range b.Legs {
		if l.Living && l.Flight == least.flight {
			if l.SetBy != nil && l.SetBy.Received.After(changed) { // may be a message of a rush bag
				changed = l.SetBy.Received
			}
			whole.from = whole.from && least.all(b, l.From)
			whole.to = whole.to && least.all(b, l.To)
			l.Flight, l.SetBy = least.flight, nil
			clone(&l.Carrier, &l.From, &l.To, &l.Seat)
			legs = append(legs, l)
		}
	}
	if legs == nil {
		return
	}
	short := listedBag{nth: b.Nth, rush: b.Rush, whole: whole, pnr: b.PNR, surname: b.Surname, givenName: b.GivenName, legs: legs, changed: changed}
	clone(&short.pnr, &short.surname, &short.givenName)
	for _, pnr := range b.PNRs {
		short.pnrs = append(short.pnrs, strings.Clone(pnr))
	}
	for i := range b.Events {
		m := b.Events[i].Message
		if m.Received.After(short.changed) && (whole.from && whole.to || m.Names(least.flight)) {
			short.changed = m.Received
		}
	}
	o.bags = append(o.bags, short)
}

// withReflights returns the list with the entries of bags that may have been re-flighted made anew,
// since a rush bag makes legs of them Delayed. Such bags are few and depend on other plates, so they
// are not cached.
func (s *session) withReflights(ctx context.Context, f bag.Flight, l list) (list, error) {
	var suspects []int // places in l.plates
	var plates []bag.Plate
	var pnrs []string
	for i := range l.plates {
		if o := &l.plates[i]; o.mayBeDelayed(s.at) && s.mayBeReflighted(o) {
			suspects, plates = append(suspects, i), append(append(plates, o.plate), s.rush.Value(o.plate)...)
			for j := range o.bags {
				pnrs = append(pnrs, o.bags[j].pnrs...)
			}
		}
	}
	if len(suspects) == 0 {
		return l, nil
	}
	pnrs = smallmap.Distinct(pnrs)
	s.listing, s.trails = bag.Flight{}, smallmap.Map[bag.Plate, *plateState]{} // from now on read whole bags
	if err := s.load(ctx, plates, Wanted{PNRs: pnrs, Originals: s.unasked(plates)}); err != nil {
		return list{}, err
	}
	if err := s.loadPNRs(ctx, pnrs); err != nil {
		return list{}, err
	}
	l.plates = slices.Clone(l.plates)
	for _, i := range suspects {
		made := listedPlate{plate: l.plates[i].plate}
		least := leastSights{ctx: ctx, flight: f}
		for _, b := range s.bags.Value(made.plate) {
			if !slices.ContainsFunc(b.Legs, func(l bag.Leg) bool { return l.Flight == f }) {
				continue
			}
			if _, err := s.leaveBehind(ctx, b); err != nil {
				return list{}, err
			}
			made.show(&least, b)
		}
		l.plates[i] = made
	}
	return l, nil
}

// mayBeReflighted reports whether the index knows rush bags of a plate, or of its passengers. The
// bag itself does not count.
func (s *session) mayBeReflighted(o *listedPlate) bool {
	others := func(plates []bag.Plate) bool {
		return slices.ContainsFunc(plates, func(p bag.Plate) bool { return o.several || p != o.plate })
	}
	return others(s.rush.Value(o.plate)) || slices.ContainsFunc(o.bags, func(b listedBag) bool {
		return slices.ContainsFunc(b.pnrs, func(pnr string) bool { return others(s.rushPNRs.Value(pnr)) })
	})
}

// cloneContainers returns a copy that shares no memory with messages.
func cloneContainers(containers []bag.Container) []bag.Container {
	own := slices.Clone(containers)
	for i := range own {
		clone(&own[i].Flight.Airline, &own[i].Flight.Number, &own[i].Device)
	}
	return own
}

// clone replaces texts by copies that share no memory with messages.
func clone(texts ...*string) {
	for _, t := range texts {
		*t = strings.Clone(*t)
	}
}
