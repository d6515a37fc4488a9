// Package journey makes the baggage messages of whole journeys, right and wrong ones, as feeds send them: check-in,
// sorting, screening, loading, transfer, arrival, and all that goes wrong between them. What it makes is a function of
// seed and options alone. It does not know what the messages mean to the service; only of malformed ones it says which
// codes they earn.
package journey

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Message is one message of a feed.
type Message struct {
	Text     string
	Received time.Time // UTC, whole milliseconds
	Plate    string    // a plate that it names, or ""; fit as a Kafka key
	Rejects  []int     // numbers of the SVCPRB codes of its errors, ascending; none: it is to be accepted
	Report   bool      // Text is a delayed-bag report, not a message
}

// Options say how many journeys there are, and how large the world is in which they happen. The smaller the world, the more
// often journeys collide: in plates, flights, names.
type Options struct {
	Start    time.Time     // when the first journey begins
	Span     time.Duration // over which the beginnings of journeys are spread evenly; 0: in leaps of days, for tests
	Journeys int

	Airports, Routes, Passengers, Plates int

	// Statuses are the baggage status codes that the configuration adds, by airport.
	Statuses map[string][]string

	// Faults is how often something goes wrong, in percent: twists of a journey, late and repeated messages. Malformed is the
	// share of malformed messages, Reports that of delayed-bag reports a journey, both in percent.
	Faults, Malformed, Reports int
}

// Crowded returns options for a world in which nearly everything collides.
func Crowded(start time.Time, journeys int) Options {
	return Options{Start: start, Journeys: journeys, Airports: 4, Routes: 6, Passengers: 3, Plates: 3,
		Faults: 30, Malformed: 3, Reports: 10}
}

// Realistic returns options for a world of the size of its traffic, in which little goes wrong.
func Realistic(start time.Time, span time.Duration, journeys int) Options {
	return Options{Start: start, Span: span, Journeys: journeys, Airports: len(airportTable), Routes: 40 + journeys/50,
		Passengers: max(50, journeys), Plates: max(100, 2*journeys), Faults: 2, Malformed: 1}
}

// Awkward returns moments around which dates and times are hard: New Year, 29 February, the changes of summer time.
func Awkward() []time.Time {
	var all []time.Time
	for _, s := range []string{
		"2026-06-10T08:00:00Z", "2026-12-30T18:00:00Z", "2026-12-31T22:30:00Z", "2027-02-26T09:00:00Z", "2028-02-27T20:00:00Z",
		"2027-03-27T22:00:00Z", "2026-10-24T21:00:00Z", "2026-11-01T02:00:00Z", "2027-03-14T03:00:00Z", "2027-04-03T12:00:00Z",
		"2026-10-03T12:00:00Z", "2030-02-27T10:00:00Z",
	} {
		t, err := time.Parse(time.RFC3339, s)
		if err == nil {
			all = append(all, t)
		}
	}
	return all
}

// Make returns the messages of opt.Journeys journeys, in the order in which they are received.
func Make(seed uint64, opt Options) []Message {
	r := rand.New(rand.NewPCG(seed, 0x6261677472616c))
	s := &stage{r: r, opt: opt, world: newWorld(r, opt)}
	begin := opt.Start
	for i := range opt.Journeys {
		if opt.Span > 0 {
			begin = opt.Start.Add(opt.Span / time.Duration(opt.Journeys) * time.Duration(i))
		} else if i > 0 {
			// Journeys that touch, and near misses of three and four days; plates reused months later.
			begin = begin.AddDate(0, 0, pick(r, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 13, 14, 15, 170))
			begin = begin.Add(time.Duration(r.IntN(180)) * time.Minute)
		}
		s.clock = begin
		s.play()
	}
	slices.SortStableFunc(s.messages, func(a, b Message) int {
		return cmp.Or(a.Received.Compare(b.Received), cmp.Compare(a.Text, b.Text))
	})
	return s.messages
}
