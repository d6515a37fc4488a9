package journey

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// stage holds the world and the journeys in it. The clock is that of the current journey.
type stage struct {
	r        *rand.Rand
	opt      Options
	world    *world
	clock    time.Time
	messages []Message
	trips    []trip // journeys so far
}

// trip is one journey: a passenger, tags, flights.
type trip struct {
	who     passenger
	plate   uint64
	count   int
	flights []flight
	device  string
}

// chance returns true in that percentage of calls.
func (s *stage) chance(percent int) bool { return s.r.IntN(100) < percent }

// fault returns true as often as something goes wrong.
func (s *stage) fault() bool { return s.chance(faults) }

// wait moves the clock on, usually by whole minutes, so that events have equal times.
func (s *stage) wait(most int) {
	s.clock = s.clock.Add(time.Duration(s.r.IntN(most+1)) * time.Minute)
	if s.chance(10) {
		s.clock = s.clock.Add(time.Duration(s.r.IntN(60)) * time.Second)
	}
}

// play makes the messages of one journey, from check-in to the last arrival or to an early end.
func (s *stage) play() {
	day := time.Date(s.clock.Year(), s.clock.Month(), s.clock.Day(), 0, 0, 0, 0, time.UTC)
	if s.fault() {
		day = day.AddDate(0, 0, pick(s.r, -1, 1, 2, 3, 4))
	}
	t := trip{who: s.world.someone(s.r), plate: pick(s.r, plates...), count: pick(s.r, 1, 1, 1, 1, 2, 3),
		flights: s.world.travel(s.r, day, s.world.routes), device: pick(s.r, containers...)}
	if len(s.trips) > 0 && s.chance(faults/3) {
		s.collide(&t)
	}
	for i := 0; i < len(t.flights); i++ { // a reroute changes the remaining flights
		if s.chance(faults / 4) {
			break // no feed from this airport and those after it
		}
		s.source(&t, i)
		s.handle(&t, i)
		s.arrive(t, i)
	}
	s.trips = append(s.trips, t)
	if s.fault() {
		s.rush(t)
	}
	if s.chance(reports) {
		s.report(t)
	}
}

// collide makes the trip share properties with an earlier one, so that their bags are hard to tell
// apart.
func (s *stage) collide(t *trip) {
	other := pick(s.r, s.trips...)
	switch s.r.IntN(4) {
	case 0: // two passengers, one plate, one flight
		t.plate, t.flights = other.plate, slices.Clone(other.flights)
	case 1: // another bag of the same passenger
		t.who, t.flights = other.who, slices.Clone(other.flights)
	case 2: // the same plate on other flights, some days later
		t.plate = other.plate
	case 3: // a name corrected
		t.plate, t.flights, t.who.pnr = other.plate, slices.Clone(other.flights), other.who.pnr
	}
}

// source sends the BSM at the departure of flight i, and changes of it.
func (s *stage) source(t *trip, i int) {
	s.wait(30)
	if s.fault() {
		if s.chance(50) {
			s.handle(t, i) // the bag is seen before it is announced, or is never announced
		}
		if s.chance(50) {
			return
		}
	}
	change := ""
	if i > 0 && s.fault() { // the transfer flight is not the announced one, or the passenger has boarded
		change = "CHG"
		if s.chance(50) {
			t.flights = append(t.flights[:i:i], s.detour(t.flights[i])...)
		}
	}
	first := s.bsm(change, *t, i)
	s.send(first, s.clock, t.plate)
	for s.fault() {
		s.wait(12)
		s.twist(t, i, first)
	}
}

// twist changes the announced journey.
func (s *stage) twist(t *trip, i int, first *sheet) {
	switch s.r.IntN(8) {
	case 0: // boarded
		boarded := s.bsm("CHG", *t, i)
		boarded.lines = slices.DeleteFunc(boarded.lines, func(l string) bool { return l[1] == 'S' })
		boarded.add(element('S', "Y", pick(s.r, "12A", "1F"), "B"))
		s.send(boarded, s.clock, t.plate)
	case 1, 2: // rerouted
		t.flights = append(t.flights[:i:i], s.detour(t.flights[i])...)
		s.send(s.bsm("CHG", *t, i), s.clock, t.plate)
	case 3: // cancelled
		s.send(s.bsm("DEL", *t, i), s.clock, t.plate)
	case 4: // cancelled and announced again, with the same text
		s.send(s.bsm("DEL", *t, i), s.clock, t.plate)
		s.wait(3)
		s.send(first, s.clock, t.plate)
	case 5: // a name corrected, or a booking split
		if s.chance(50) {
			t.who.surname = pick(s.r, surnames...)
		} else {
			t.who.pnr = pick(s.r, s.world.pnrs...)
		}
		s.send(s.bsm(pick(s.r, "CHG", "ADD"), *t, i), s.clock, t.plate)
	case 6: // tagged again
		t.plate, t.count = pick(s.r, plates...), 1
		s.send(s.bsm("", *t, i), s.clock, t.plate)
	case 7: // the same text again
		s.send(first, s.clock, t.plate)
	}
}

// detour returns other flights out of the airport of f.
func (s *stage) detour(f flight) []flight {
	day := f.day.AddDate(0, 0, pick(s.r, 0, 0, 1))
	if trip := s.world.travel(s.r, day, s.world.ways[f.from.place()]); len(trip) > 0 {
		return trip
	}
	return []flight{f}
}

// handle scans and loads the bag for flight i.
func (s *stage) handle(t *trip, i int) {
	from := t.flights[i].from
	for _, step := range []struct {
		percent int
		lines   []string
		code    string
	}{
		{50, nil, "S"},
		{30, []string{s.screening()}, pick(s.r, "S", "")},
		{10, nil, pick(s.r, "G", "H", "C", "R")},
	} {
		if s.chance(step.percent) {
			s.wait(15)
			s.scan(*t, i, from, step.code, "", step.lines...)
		}
	}
	if s.fault() {
		s.position(t.flights[i], from, t.device)
	}
	if s.chance(60) {
		s.wait(15)
		s.scan(*t, i, from, "R", "", element('U', t.device))
	}
	for s.fault() {
		s.wait(10)
		s.mishap(t, i)
	}
	if s.chance(35) {
		s.wait(10)
		s.position(t.flights[i], from, t.device)
	} else if s.chance(80) {
		s.wait(10)
		hold := pick(s.r, "", t.device)
		s.scan(*t, i, from, pick(s.r, "R", "R", ""), "", pick(s.r, "", element('U', hold, "41"), element('U', "", pick(s.r, "BULK", from.code)), s.connecting(*t, i)))
	}
	if s.fault() {
		s.mishap(t, i)
	}
}

// mishap adds something that goes wrong at the departure of flight i.
func (s *stage) mishap(t *trip, i int) {
	from := t.flights[i].from
	switch s.r.IntN(7) {
	case 0, 1:
		s.scan(*t, i, from, "R", "OFF", pick(s.r, "", "", element('U', t.device)))
	case 2:
		codes := append([]string{"OND", "ONA", "UNS", "NAL", "NAL"}, s.opt.Statuses[from.code]...)
		s.scan(*t, i, from, "R", pick(s.r, codes...), pick(s.r, "", element('U', t.device), element('U', "", "5"), element('U', t.device, "5")))
	case 3: // moved to another container
		t.device = pick(s.r, containers...)
		s.scan(*t, i, from, "R", "", element('U', t.device))
	case 4: // the container is emptied and goes on another flight
		s.position(s.detour(t.flights[i])[0], from, t.device)
	case 5: // loaded on a flight for which it is not booked
		other := *t
		other.flights = append(t.flights[:i:i], s.detour(t.flights[i])...)
		s.scan(other, i, from, "R", "", pick(s.r, element('U', t.device), element('U', "", "3"), ""))
	case 6:
		s.scan(*t, i, from, "R", "", element('U', t.device, from.code))
	}
	s.wait(5)
}

// arrive scans the bag at the end of flight i.
func (s *stage) arrive(t trip, i int) {
	f := t.flights[i]
	s.clock = s.clock.Add(time.Duration(1+s.r.IntN(9)) * time.Hour)
	switch s.r.IntN(6) {
	case 0, 1: // the arriving flight as .F
		there := newSheet("BPM", "", s.version(pick(s.r, "L", "T"), f.to), s.processing(pick(s.r, "S", "R"), s.clock, f.to.zone),
			s.flight('F', f, f.to), s.tags("", t))
		s.send(there, s.late(s.clock), t.plate)
	case 2: // a terminating BSM
		there := newSheet("BSM", "", s.version("X", f.to), s.flight('F', f, pick(s.r, f.to, f.to, f.from)), s.tags("", t))
		there.add(s.person(t.who, 60)...)
		s.send(there, s.clock, t.plate)
	case 3: // the arriving flight as .I only
		there := newSheet("BPM", "", s.version("T", f.to), s.processing("S", s.clock, f.to.zone),
			s.flight('I', f, f.from), s.tags("", t))
		s.send(there, s.late(s.clock), t.plate)
	}
}

// rush sends a rush bag, or a chain of them, under new tags.
func (s *stage) rush(t trip) {
	for range pick(s.r, 1, 1, 2, 3) {
		s.clock = s.clock.Add(time.Duration(s.r.IntN(40)) * time.Hour)
		original := t
		t.plate = pick(s.r, plates...)
		second := s.chance(40)
		if second {
			t.plate = t.plate%1_000_000_000 + 2_000_000_000
		}
		t.count = 1
		day := time.Date(s.clock.Year(), s.clock.Month(), s.clock.Day(), 0, 0, 0, 0, time.UTC)
		t.flights = s.detour(flight{from: t.flights[0].from, day: day})
		if t.flights[0].airline == "" {
			return // no flights from there
		}
		b := s.bsm(pick(s.r, "", "", "CHG"), t, 0)
		if !second || s.chance(30) {
			b.add(element('E', "RUSH"))
		}
		b.add(s.link(original)...)
		s.send(b, s.clock, t.plate)
		s.handle(&t, 0)
		s.arrive(t, 0)
		s.trips = append(s.trips, t)
	}
}

// link returns elements that name the original of a rush bag; nil leaves it to the passenger.
func (s *stage) link(original trip) []string {
	plate := fmt.Sprintf("%010d", original.plate)
	if s.chance(20) {
		plate = fmt.Sprintf("%010d", pick(s.r, plates...))
	}
	switch s.r.IntN(5) {
	case 0:
		return []string{element('M', plate, "T", "7")}
	case 1:
		return []string{element('R', pick(s.r, "TAG ", "", "12345 ")+plate+pick(s.r, "", " LATE"))}
	case 2:
		return []string{element('M', "X9"), element('R', "VIP"), element('R', "WAS "+plate)}
	}
	return nil
}

// report sends a delayed-bag report for the bag.
func (s *stage) report(t trip) {
	plate := fmt.Sprintf("%010d", t.plate)
	s.wait(600)
	station := t.flights[len(t.flights)-1].to.code
	if s.fault() { // reported at the airport of departure, whose BSM is withdrawn afterwards
		station = t.flights[0].from.code
		defer func() {
			s.wait(60)
			s.send(s.bsm("DEL", t, 0), s.clock, t.plate)
		}()
	}
	s.messages = append(s.messages, Message{Report: true, Received: s.clock, Plate: plate, Text: fmt.Sprintf(
		`{"record_reference":"%s%s%05d","station":%q,"bags":[%q]}`, station, t.flights[0].airline, 1+len(s.messages), station, plate)})
}
