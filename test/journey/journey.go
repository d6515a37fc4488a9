// Package journey makes baggage messages of whole journeys, valid and malformed ones, as feeds send
// them: check-in, sorting, screening, loading, transfer and arrival, with everything that goes
// wrong between them. Its journeys share plates, flights and names, so that they are hard to tell
// apart. The same seed and options give the same messages. The package does not know what messages
// mean to the service; it only says which codes malformed ones get.
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
	Plate    string    // one of its plates, or ""; for use as a Kafka key
	Rejects  []int     // numbers of the SVCPRB codes of its errors, ascending; none if it must be accepted
	Report   bool      // Text is a delayed-bag report, not a message
}

// Options are the number of journeys and the size of the world in which they happen. In a small
// world, more journeys share plates, flights and names.
type Options struct {
	Start    time.Time     // when the first journey begins
	Span     time.Duration // time in which journeys begin, evenly; 0: with random gaps of days
	Journeys int

	Airports, Routes, Passengers, Plates int

	// Statuses are the baggage status codes that the configuration adds, by airport.
	Statuses map[string][]string

	// Percentages. Faults is how often something goes wrong: changes of a journey, late and
	// repeated messages. Malformed is the share of malformed messages. Reports is the share of
	// journeys with a delayed-bag report.
	Faults, Malformed, Reports int
}

// Crowded returns options for a world in which nearly all journeys share something.
func Crowded(start time.Time, journeys int) Options {
	return Options{Start: start, Journeys: journeys, Airports: 4, Routes: 6, Passengers: 3, Plates: 3,
		Faults: 30, Malformed: 3, Reports: 10}
}

// Realistic returns options for a world that grows with its traffic, in which little goes wrong.
func Realistic(start time.Time, span time.Duration, journeys int) Options {
	return Options{Start: start, Span: span, Journeys: journeys, Airports: len(airportTable), Routes: 40 + journeys/50,
		Passengers: max(50, journeys), Plates: max(100, 2*journeys), Faults: 2, Malformed: 1}
}

// Awkward returns times around which dates and times are difficult: New Year, 29 February, changes
// of the clocks.
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
			// Journeys that overlap, gaps of about three days, and plates that are used again
			// months later.
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
