package simulate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"bagtrail/internal/bag"
)

// journey is the plan of one bag's journey. Its messages and its truth are made from it.
type journey struct {
	number     int // of the bag
	plate      string
	passenger  passenger
	disruption disruption
	trips      [][]flight // the first booking, then each rebooking
	steps      []step     // in the order in which they are sent
	next       int        // the next step to be sent

	rush     *journey // of the rush bag that it becomes, or nil
	original *journey // of the original, if this is a rush bag
	link     int      // how a rush bag names its original
}

// step is one message about a bag. A positioned step is no message of the bag: its container is
// loaded into the aircraft, and one message says so for all bags in it.
type step struct {
	kind     kind
	trip     uint8 // index in trips of the booking that the message names
	leg      uint8 // index in that booking of the flight that it names
	text     uint8 // number of the text in the journey; copies have the same
	named    bool  // it names passenger and booking
	copied   bool  // it repeats a message with other line ends
	mutation uint8 // 1 + index in mutations if it is malformed, else 0
	moment   int64 // time of the reading, or of the sending of a BSM; all times in milliseconds since 1970
	received int64
	sent     int64 // place in the feed; not before received
}

// kind is the kind of a step. It decides on the event that the message means.
type kind uint8

const (
	source     kind = iota // BSM
	changed                // BSM CHG
	boarded                // BSM CHG: the passenger has boarded
	deleted                // BSM DEL
	sorted                 // from here on BPM
	screened               // without a result
	cleared                // screened and cleared
	refused                // screened and not cleared
	handled                // hand-scanned on the way to the aircraft
	stowed                 // loaded into a container
	aboard                 // loaded into the aircraft
	taken                  // offloaded
	onHand                 // left behind
	arrived                // scanned below the aircraft
	claimed                // hand-scanned at the end
	positioned             // its container is loaded into the aircraft
)

// eventCodes holds the code of the event of each kind. The source of a rush bag is REFLIGHTED.
var eventCodes = [...]string{
	source: bag.EventExpected, changed: bag.EventRerouted, boarded: bag.EventPaxBoarded,
	deleted: bag.EventCancelled, sorted: bag.EventSorted, screened: bag.EventScreened,
	cleared: bag.EventScreeningPassed, refused: bag.EventScreeningFailed,
	handled: bag.EventHandScanned, stowed: bag.EventLoadedInContainer,
	aboard: bag.EventLoadedOnAircraft, taken: bag.EventOffloaded, onHand: bag.EventOnHand,
	arrived: bag.EventGroundTracked, claimed: bag.EventHandScanned,
	positioned: bag.EventLoadedOnAircraft,
}

func (k kind) isBSM() bool { return k < sorted }

// disruption is a fault of a journey.
type disruption uint8

const (
	undisturbed disruption = iota
	rerouted
	leftBehind
	offloaded
	unannounced
	cancelled
)

// trip returns the current booking.
func (j *journey) trip() []flight { return j.trips[len(j.trips)-1] }

// planner plans one journey.
type planner struct {
	*rand.Rand
	*journey
	table  *timetable
	faults Faults
}

// minutes draws a time between first and last minutes after at.
func (p planner) minutes(at time.Time, first, last int) time.Time {
	return at.Add(time.Duration(first)*time.Minute + time.Duration(p.IntN((last-first)*60))*time.Second)
}

// add adds a step about a flight of the current booking.
func (p planner) add(k kind, leg int, at time.Time) {
	moment := at.UnixMilli() / 1000 * 1000 // readings have whole seconds
	named := p.IntN(8) > 0
	if k.isBSM() {
		if p.disruption == unannounced {
			return
		}
		moment += 1 + p.Int64N(999) // never the time of a reading
		named = true
	}
	p.steps = append(p.steps, step{kind: k, trip: uint8(len(p.trips) - 1), leg: uint8(leg), text: uint8(len(p.steps)), named: named, moment: moment})
}

// plan adds the steps of the whole journey, which begins at a time.
func (p planner) plan(at time.Time) {
	where := p.IntN(len(p.trip()))
	if p.disruption == leftBehind {
		where = len(p.trip()) - 1
	}
	if p.disruption == cancelled {
		where = 0
	}
	for i := 0; i < len(p.trip()); i++ {
		d := undisturbed
		if i == where {
			d = p.disruption
		}
		if !p.depart(i, at, d) {
			return
		}
		at = p.trip()[i].arrives()
	}
	p.add(arrived, len(p.trip())-1, p.minutes(at, 4, 9))
	p.add(claimed, len(p.trip())-1, p.minutes(at, 25, 50))
}

// depart adds the steps before flight i, from the announcement of the bag on. It reports whether
// the bag flies.
func (p planner) depart(i int, at time.Time, d disruption) bool {
	p.add(source, i, at)
	if i > 0 {
		p.add(arrived, i-1, p.minutes(at, 4, 9))
		at = at.Add(10 * time.Minute)
	}
	at = p.minutes(at, 3, 10)
	p.add(sorted, i, at)
	at = p.screen(i, at)

	switch d {
	case cancelled:
		p.add(deleted, i, p.trip()[i].leaves.Add(-45*time.Minute))
		return false
	case rerouted:
		at = p.minutes(at, 2, 5)
		p.rebook(i, p.trip()[i].leaves.Add(time.Hour), at)
	}
	return p.load(i, d)
}

// screen adds the screening before flight i, and returns when it is passed.
func (p planner) screen(i int, at time.Time) time.Time {
	at = p.minutes(at, 1, 5)
	switch p.IntN(20) {
	case 0:
		p.add(refused, i, at)
		at = p.minutes(at, 6, 10)
	case 1:
		p.add(screened, i, at)
		at = p.minutes(at, 6, 10)
	}
	p.add(cleared, i, at)
	return at
}

// rebook books the next flights on the same way from flight i on, and adds the announcement.
func (p planner) rebook(i int, earliest, at time.Time) {
	later := p.table.rebook(p.trip()[i:], earliest)
	p.trips = append(p.trips, append(slices.Clone(p.trip()[:i]), later...))
	p.add(changed, i, at)
}

// load adds the loading for flight i. It reports whether the bag flies.
func (p planner) load(i int, d disruption) bool {
	f := p.trip()[i]
	if p.original == nil {
		defer p.board(i)
	}
	if d == leftBehind && p.IntN(2) == 0 {
		p.add(onHand, i, p.minutes(f.leaves, -11, -9))
		return false
	}
	p.stow(i, -30, -22)
	switch d {
	case leftBehind:
		p.add(taken, i, p.minutes(f.leaves, -20, -19))
		return false
	case offloaded:
		p.add(taken, i, p.minutes(f.leaves, -20, -19))
		if p.IntN(2) == 0 {
			p.stow(i, -18, -17)
			break
		}
		p.board(i)
		p.rebook(i, f.leaves.Add(3*time.Hour), p.minutes(f.leaves, 20, 40))
		p.stow(i, -30, -22)
	}
	f = p.trip()[i]
	switch {
	case f.positioned:
		p.add(positioned, i, f.positioning(p.container(f)))
	case f.containers > 0:
		p.add(aboard, i, p.minutes(f.leaves, -13, -6))
	}
	return true
}

// board adds that the passenger boards flight i.
func (p planner) board(i int) {
	p.add(boarded, i, p.minutes(p.trip()[i].leaves, -35, -20))
}

// stow adds that the bag is loaded into its container, or into the hold if the flight has no
// containers, between first and last minutes after departure.
func (p planner) stow(i, first, last int) {
	f := p.trip()[i]
	if first < -20 {
		p.add(handled, i, p.minutes(f.leaves, first-4, first-1))
	}
	if f.containers > 0 {
		p.add(stowed, i, p.minutes(f.leaves, first, last))
		return
	}
	p.add(aboard, i, p.minutes(f.leaves, first, last))
}

// container returns the number of the bag's container on f.
func (j *journey) container(f flight) int { return j.number % f.containers }

// positioning returns when a container is loaded into the aircraft.
func (f flight) positioning(container int) time.Time {
	return f.leaves.Add(-15*time.Minute + time.Duration(3*container)*time.Second)
}

// schedule draws when each message is received and sent, and which ones are duplicated or
// malformed.
func (p planner) schedule() {
	slices.SortFunc(p.steps, func(a, b step) int { return cmp.Compare(a.moment, b.moment) })
	var more []step
	for i := range p.steps {
		s := &p.steps[i]
		if s.kind == positioned {
			s.received, s.sent = s.moment, -1
			continue
		}
		s.received = s.moment
		if !s.kind.isBSM() {
			s.received += 1000 + p.Int64N(14000)
		}
		if p.happens(p.faults.Late) {
			s.received += p.lateness(i)
		}
		s.sent = s.received
		if p.happens(p.faults.OutOfOrder) {
			s.sent += 60_000 + p.Int64N(9*60_000)
		}
		if p.happens(p.faults.Malformed) {
			bad := *s
			bad.mutation = 1 + uint8(p.IntN(len(mutations)))
			more = append(more, bad)
		}
		if p.happens(p.faults.Duplicated) {
			more = append(more, p.repeat(*s))
		}
	}
	p.steps = append(p.steps, more...)
	slices.SortStableFunc(p.steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.sent, b.sent), -cmp.Compare(a.mutation, b.mutation)) })
	for p.next < len(p.steps) && p.steps[p.next].sent < 0 {
		p.next++ // positioned steps are no messages of the bag
	}
}

// lateness draws the delay of message i. BSMs of a bag never change places, since that would change
// their meaning.
func (p planner) lateness(i int) int64 {
	if !p.steps[i].kind.isBSM() {
		return 5*60_000 + p.Int64N(6*3600_000)
	}
	most := int64(30 * 60_000)
	for _, other := range p.steps[i+1:] {
		if other.kind.isBSM() {
			most = min(most, (other.moment-p.steps[i].moment)/2)
			break
		}
	}
	return p.Int64N(most) / 1000 * 1000
}

// repeat returns a copy of a message that changes no answer. A BSM is repeated within the ten
// minutes in which it counts as a duplicate.
func (p planner) repeat(s step) step {
	span := int64(6 * 3600_000)
	if s.kind.isBSM() {
		span = 8 * 60_000
	}
	again := 1000 + p.Int64N(span)
	s.copied = true
	s.received += again
	s.sent = max(s.sent, s.received)
	return s
}

// happens reports true in that percentage of calls.
func (p planner) happens(percent float64) bool { return p.Float64()*100 < percent }
