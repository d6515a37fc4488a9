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

// Options are the options of a feed.
type Options struct {
	Start     time.Time           // when the first journey begins
	Journeys  int                 // number of journeys
	Malformed int                 // share of malformed messages, in percent
	Statuses  map[string][]string // baggage status codes that the configuration adds, by airport
}

const (
	faults  = 30 // how often something goes wrong, in percent: changes of a journey, late messages
	reports = 10 // share of journeys with a delayed-bag report, in percent
)

// Crowded returns options with some malformed messages and no additional status codes.
func Crowded(start time.Time, journeys int) Options {
	return Options{Start: start, Journeys: journeys, Malformed: 3}
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
		if err != nil {
			panic(err)
		}
		all = append(all, t)
	}
	return all
}

// Make returns the messages of opt.Journeys journeys, in the order in which they are received.
func Make(seed uint64, opt Options) []Message {
	r := rand.New(rand.NewPCG(seed, 0x6261677472616c))
	s := &stage{r: r, opt: opt, world: newWorld(r)}
	begin := opt.Start
	for i := range opt.Journeys {
		if i > 0 {
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
