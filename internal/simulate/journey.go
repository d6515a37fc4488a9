package simulate

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"bagtrail/internal/bag"
)

// journey is what is decided about one bag: its steps, from which both its messages and its truth are made.
type journey struct {
	number int // of the bag
	plate  string
	who    passenger
	twist  twist
	trips  [][]flight // as booked first, then as rebooked
	steps  []step     // in the order in which they are sent
	next   int        // in steps

	rush     *journey // sends the bag after its passenger
	original *journey // of a rush bag
	link     int      // how a rush bag names its original
}

// step is one message of a journey, or a positioning of its container, which is the message of others.
type step struct {
	kind     kind
	trip     uint8 // which of the trips, and
	leg      uint8 // which flight of it, the message names
	text     uint8 // number of the text in the journey; copies share it
	named    bool  // it names passenger and booking
	copied   bool  // it repeats a message, in other line ends
	spoiled  uint8 // 1 + which spoiler made it malformed; 0 none
	code     code
	moment   int64 // all in milliseconds since 1970: of the reading, or the sending of a BSM
	received int64
	sent     int64 // place in the feed; not before received
}

// kind is what a step tells.
type kind uint8

const (
	source     kind = iota // BSM
	changed                // BSM CHG
	boarded                // BSM CHG with the passenger on board
	deleted                // BSM DEL
	sorted                 // the rest are BPM
	screened               //
	handled                // scanned by hand on the way to the aircraft
	stowed                 // in a container
	aboard                 // loaded into the aircraft
	taken                  // off
	onHand                 // left behind
	arrived                // scanned below the aircraft
	claimed                // scanned by hand at the end
	positioned             // its container is loaded into the aircraft
)

func (k kind) isBSM() bool { return k < sorted }

// twist is what befalls a bag.
type twist uint8

const (
	asPlanned twist = iota
	rerouted
	leftBehind
	offloaded
	unannounced
	dropped
)

// code is the event that a message means.
type code uint8

const (
	expected code = iota
	reflighted
	reboarded
	reroutedTo
	cancelled
	sortedOut
	screenedOut
	passed
	failed
	hand
	ground
	inContainer
	onAircraft
	offload
	onHandCode
)

var codeNames = [...]string{
	expected: bag.EventExpected, reflighted: bag.EventReflighted, reboarded: bag.EventPaxBoarded, reroutedTo: bag.EventRerouted,
	cancelled: bag.EventCancelled, sortedOut: bag.EventSorted, screenedOut: bag.EventScreened, passed: bag.EventScreeningPassed,
	failed: bag.EventScreeningFailed, hand: bag.EventHandScanned, ground: bag.EventGroundTracked, inContainer: bag.EventLoadedInContainer,
	onAircraft: bag.EventLoadedOnAircraft, offload: bag.EventOffloaded, onHandCode: bag.EventOnHand,
}

// trip is the journey as it is booked now.
func (j *journey) trip() []flight { return j.trips[len(j.trips)-1] }

// player plays one journey.
type player struct {
	*rand.Rand
	*journey
	table  *timetable
	faults Faults
}

// minutes is a time after (or before) at: from first to last minutes, at any second.
func (p player) minutes(at time.Time, first, last int) time.Time {
	return at.Add(time.Duration(first)*time.Minute + time.Duration(p.IntN((last-first)*60))*time.Second)
}

func (p player) tell(k kind, leg int, at time.Time, c code) {
	moment := at.UnixMilli() / 1000 * 1000 // readings have whole seconds
	named := p.IntN(8) > 0
	if k.isBSM() {
		if p.twist == unannounced {
			return
		}
		moment += 1 + p.Int64N(999) // never the moment of a reading
		named = true
	}
	p.steps = append(p.steps, step{kind: k, trip: uint8(len(p.trips) - 1), leg: uint8(leg), text: uint8(len(p.steps)), named: named, code: c, moment: moment})
}

// play tells the whole journey.
func (p player) play(at time.Time) {
	where := p.IntN(len(p.trip()))
	if p.twist == leftBehind {
		where = len(p.trip()) - 1
	}
	if p.twist == dropped {
		where = 0
	}
	for i := 0; i < len(p.trip()); i++ {
		happens := asPlanned
		if i == where {
			happens = p.twist
		}
		if !p.depart(i, at, happens) {
			return
		}
		at = p.trip()[i].arrives()
	}
	p.tell(arrived, len(p.trip())-1, p.minutes(at, 4, 9), ground)
	p.tell(claimed, len(p.trip())-1, p.minutes(at, 25, 50), hand)
}

// depart tells what happens to the bag before flight i, from its announcement on; it is false where the bag does not fly.
func (p player) depart(i int, at time.Time, happens twist) bool {
	announced := expected
	if p.original != nil {
		announced = reflighted
	}
	p.tell(source, i, at, announced)
	if i > 0 {
		p.tell(arrived, i-1, p.minutes(at, 4, 9), ground)
		at = at.Add(10 * time.Minute)
	}
	at = p.minutes(at, 3, 10)
	p.tell(sorted, i, at, sortedOut)
	at = p.screen(i, at)

	switch happens {
	case dropped:
		p.tell(deleted, i, p.trip()[i].leaves.Add(-45*time.Minute), cancelled)
		return false
	case rerouted:
		at = p.minutes(at, 2, 5)
		p.rebook(i, p.trip()[i].leaves.Add(time.Hour), at)
	}
	return p.load(i, happens)
}

// screen tells what screening says, and returns when it is through.
func (p player) screen(i int, at time.Time) time.Time {
	at = p.minutes(at, 1, 5)
	switch p.IntN(20) {
	case 0:
		p.tell(screened, i, at, failed)
	case 1:
		p.tell(screened, i, at, screenedOut)
	default:
		p.tell(screened, i, at, passed)
		return at
	}
	at = p.minutes(at, 6, 10)
	p.tell(screened, i, at, passed)
	return at
}

// rebook changes the journey from flight i on to the next flights the same way, and announces it.
func (p player) rebook(i int, earliest, at time.Time) {
	later := p.table.after(p.trip()[i:], earliest)
	p.trips = append(p.trips, append(slices.Clone(p.trip()[:i]), later...))
	p.tell(changed, i, at, reroutedTo)
}

// load tells how the bag is loaded for flight i.
func (p player) load(i int, happens twist) bool {
	f := p.trip()[i]
	if p.original == nil {
		defer p.board(i)
	}
	if happens == leftBehind && p.IntN(2) == 0 {
		p.tell(onHand, i, p.minutes(f.leaves, -11, -9), onHandCode)
		return false
	}
	p.stow(i, -30, -22)
	switch happens {
	case leftBehind:
		p.tell(taken, i, p.minutes(f.leaves, -20, -19), offload)
		return false
	case offloaded:
		p.tell(taken, i, p.minutes(f.leaves, -20, -19), offload)
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
		p.tell(positioned, i, f.positioning(p.container(f)), onAircraft)
	case f.containers > 0:
		p.tell(aboard, i, p.minutes(f.leaves, -13, -6), onAircraft)
	}
	return true
}

// board tells that the passenger boards flight i.
func (p player) board(i int) {
	p.tell(boarded, i, p.minutes(p.trip()[i].leaves, -35, -20), reboarded)
}

// stow tells that the bag is put into its container, or into the hold where the flight has none, from first to last
// minutes after departure.
func (p player) stow(i, first, last int) {
	f := p.trip()[i]
	if first < -20 {
		p.tell(handled, i, p.minutes(f.leaves, first-4, first-1), hand)
	}
	if f.containers > 0 {
		p.tell(stowed, i, p.minutes(f.leaves, first, last), inContainer)
		return
	}
	p.tell(aboard, i, p.minutes(f.leaves, first, last), onAircraft)
}

// container is the number of the container of f that the bag is put into.
func (j *journey) container(f flight) int { return j.number % f.containers }

// positioning is when a container is loaded into the aircraft.
func (f flight) positioning(container int) time.Time {
	return f.leaves.Add(-15*time.Minute + time.Duration(3*container)*time.Second)
}

// deliver decides when each message is received and sent, which ones are sent again, and which malformed.
func (p player) deliver() {
	slices.SortFunc(p.steps, func(a, b step) int { return cmp.Compare(a.moment, b.moment) })
	told := len(p.steps)
	for i := range told {
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
			s.received += p.lateness(i, told)
		}
		s.sent = s.received
		if p.happens(p.faults.OutOfOrder) {
			s.sent += 60_000 + p.Int64N(9*60_000)
		}
		if p.happens(p.faults.Malformed) {
			bad := *s
			bad.spoiled = 1 + uint8(p.IntN(len(spoilers)))
			p.steps = append(p.steps, bad)
		}
		s = &p.steps[i] // append may have moved it
		if p.happens(p.faults.Duplicated) {
			p.steps = append(p.steps, p.repeat(*s))
		}
	}
	slices.SortStableFunc(p.steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.sent, b.sent), -cmp.Compare(a.spoiled, b.spoiled)) })
	for p.next < len(p.steps) && p.steps[p.next].sent < 0 {
		p.next++ // positionings, of which nothing is sent here
	}
}

// lateness is how much later than usual message i is received: never so late that two BSMs of a bag change places, which
// would change what they mean.
func (p player) lateness(i, told int) int64 {
	if !p.steps[i].kind.isBSM() {
		return 5*60_000 + p.Int64N(6*3600_000)
	}
	most := int64(30 * 60_000)
	for _, other := range p.steps[i+1 : told] {
		if other.kind.isBSM() {
			most = min(most, (other.moment-p.steps[i].moment)/2)
			break
		}
	}
	return p.Int64N(most) / 1000 * 1000
}

// repeat makes a copy that changes nothing: a BSM comes again within the ten minutes in which it counts as a copy, and
// before the next one of its bag.
func (p player) repeat(s step) step {
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

func (p player) happens(percent float64) bool { return p.Float64()*100 < percent }
