package bag_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
	"bagtrail/test/race"
)

// zurich sees what is said in Zurich.
type zurich struct{}

func (zurich) Leg(bag.Leg) bool            { return false }
func (zurich) Station(airport string) bool { return airport == "ZRH" }

// named is the messages of one bag: BPMs with one PNR, and with surnames. The first message is of
// another airport, so that zurich does not see the whole bag.
func named(messages, surnames int) []*bag.Message {
	day := bag.DayIn(2026, time.March, 12)
	all := make([]*bag.Message, messages)
	for i := range all {
		at := time.Date(2026, 3, 12, 6, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Millisecond)
		surname := strings.Map(func(r rune) rune { return r - '0' + 'A' }, fmt.Sprintf("%05d", i%surnames))
		all[i] = &bag.Message{
			Head:     parser.Head{Kind: parser.BPM, Version: parser.Version{Airport: "ZRH"}},
			Details:  parser.Details{PNR: "ABCDEF", Surname: surname},
			Received: at, Happened: at, Order: at, LocalDay: day, Raw: fmt.Sprint(i), Text: fmt.Sprint(i),
		}
	}
	all[0].Airport = "JFK"
	all[0].PNR, all[0].Surname = "", all[1].Surname
	return all
}

// The names of a bag are found in a time that grows with the messages, not with the square of them.
func TestManyNamesOfABagTakeLittleMoreTimeThanOne(t *testing.T) {
	race.SkipOneGoroutine(t)
	const messages, limit = 20_000, 12
	one, many := named(messages, 1), named(messages, messages)
	var fold, view float64
	for range 5 { // a pause of the machine is no fault of the fold
		oneFold, oneView := fastest(t, one)
		manyFold, manyView := fastest(t, many)
		if fold, view = float64(manyFold)/float64(oneFold), float64(manyView)/float64(oneView); max(fold, view) < limit {
			return
		}
	}
	t.Errorf("%d surnames take %.0f times the time of one to fold, and %.0f times to view", messages, fold, view)
}

// travelled is the messages of one bag, each with as many onward flights as a group may have. Together
// they name so many flights and places.
func travelled(messages, flights int) []*bag.Message {
	all := named(messages, 1)
	number := 0
	for _, m := range all {
		for range 99 {
			number = (number + 1) % flights
			flight := bag.Flight{Airline: "LX", Number: fmt.Sprint(number), Day: m.LocalDay}
			m.Onward = append(m.Onward, bag.Segment{Flight: flight, Airport: place(number)})
		}
	}
	return all
}

// place returns one of 17,576 codes of places.
func place(number int) string {
	return string([]byte{'A' + byte(number%26), 'A' + byte(number/26%26), 'A' + byte(number/676%26)})
}

// arrived is the messages of one bag: BSMs of as many airports about one flight. It departs from the
// first two, and arrives at the others.
func arrived(airports int) []*bag.Message {
	all := named(airports, 1)
	for i, m := range all {
		m.Kind, m.Airport, m.Arriving = parser.BSM, place(i), i > 1
		m.Outbound = bag.Segment{Flight: bag.Flight{Airline: "LX", Number: "14", Day: m.LocalDay}}
	}
	return all
}

// The legs of a bag are found in a time that grows with the flights, not with the square of them. So a
// sender that names many flights for a plate does not make it too expensive for everybody.
func TestManyFlightsOfABagTakeLittleMoreTimeThanFew(t *testing.T) {
	const messages, flights, limit = 100, 9900, 100
	expectFoldWithin(t, limit, travelled(messages, 99), travelled(messages, flights), flights)
}

// The arrivals of one flight are found in a time that grows with the airports, not with the square of
// them.
func TestAFlightThatArrivesAtManyAirportsTakesLittleMoreTimeThanAtFew(t *testing.T) {
	const airports, limit = 16_000, 50
	expectFoldWithin(t, limit, arrived(airports/16), arrived(airports), airports)
}

// expectFoldWithin fails if it takes limit times as long to fold many messages as few, or longer. The
// bag of many has as many legs as given.
func expectFoldWithin(t *testing.T, limit float64, few, many []*bag.Message, legs int) {
	t.Helper()
	race.SkipOneGoroutine(t)
	var fold float64
	for range 5 { // a pause of the machine is no fault of the fold
		_, fewFold := folded(t, few)
		b, manyFold := folded(t, many)
		if len(b.Legs) != legs {
			t.Fatalf("%d legs", len(b.Legs))
		}
		if fold = float64(manyFold) / float64(fewFold); fold < limit {
			return
		}
	}
	t.Errorf("%d legs take %.0f times the time of few to fold", legs, fold)
}

// fastest returns the time to fold messages, and to view their bag as zurich does.
func fastest(t *testing.T, messages []*bag.Message) (fold, view time.Duration) {
	t.Helper()
	fold, view = time.Hour, time.Hour
	for range 4 {
		b, took := folded(t, messages)
		fold = min(fold, took)
		start := time.Now()
		seen := bag.NewViewer(t.Context(), zurich{}).View(b)
		view = min(view, time.Since(start))
		if len(seen.Events) != len(messages)-1 || len(seen.Surnames) != len(b.Surnames) {
			t.Fatalf("%d of %d events are seen, and %d of %d surnames", len(seen.Events), len(messages), len(seen.Surnames), len(b.Surnames))
		}
	}
	return fold, view
}

// folded returns the bag of messages, and the time to fold them.
func folded(t *testing.T, messages []*bag.Message) (*bag.Bag, time.Duration) {
	t.Helper()
	start := time.Now()
	bags, err := rules.Fold(t.Context(), "0220000001", messages, nil)
	took := time.Since(start)
	if err != nil || len(bags) != 1 {
		t.Fatalf("%d bags, %v", len(bags), err)
	}
	return &bags[0], took
}
