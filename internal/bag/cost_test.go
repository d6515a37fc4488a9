package bag_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
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

// fastest returns the time to fold messages, and to view their bag as zurich does.
func fastest(t *testing.T, messages []*bag.Message) (fold, view time.Duration) {
	t.Helper()
	fold, view = time.Hour, time.Hour
	for range 4 {
		start := time.Now()
		bags, err := rules.Fold(t.Context(), "0220000001", messages, nil)
		fold = min(fold, time.Since(start))
		if err != nil || len(bags) != 1 {
			t.Fatalf("%d bags, %v", len(bags), err)
		}
		start = time.Now()
		seen := bag.NewViewer(t.Context(), zurich{}).View(&bags[0])
		view = min(view, time.Since(start))
		if len(seen.Events) != len(messages)-1 || len(seen.Surnames) != len(bags[0].Surnames) {
			t.Fatalf("%d of %d events are seen, and %d of %d surnames", len(seen.Events), len(messages), len(seen.Surnames), len(bags[0].Surnames))
		}
	}
	return fold, view
}
