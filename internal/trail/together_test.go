package trail_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
	"bagtrail/parser"
)

// Nobody sees another bag's messages, whether a bag was asked for never, once or often.
func TestQuestionsAskedAtOnceGetTheirOwnAnswers(t *testing.T) {
	airports := airport.New()
	index, plates := fifteen(t, airports, 1000)
	r := trail.New(index, enricher.New(airports), trail.Settings{Window: time.Minute, Airports: airports, Now: time.Now})
	day, _ := bag.ParseDay("2026-03-12")
	check := func(plate bag.Plate, bags []*bag.Bag) {
		if len(bags) != 1 || len(bags[0].Events) != 15 || bags[0].PNR != "ABC"+string(plate[7:]) {
			t.Errorf("%s: %d bags", plate, len(bags))
			return
		}
		seen := map[time.Time]bool{}
		for _, e := range bags[0].Events {
			m := e.Message
			seen[m.Received] = true
			if !strings.Contains(m.Raw, ".N/"+string(plate)) || m.Airport != "ZRH" || (m.Kind == parser.BSM) != (m.PNR == bags[0].PNR) {
				t.Errorf("%s: event %+v", plate, m)
			}
		}
		if len(seen) != 15 {
			t.Errorf("%s: %d times", plate, len(seen))
		}
	}
	var asking sync.WaitGroup
	for worker := range uint64(4) {
		asking.Go(func() {
			random := rand.New(rand.NewPCG(1, worker))
			for i := range 2000 {
				plate := plates[random.IntN(1+random.IntN(len(plates)))] // some are asked for often
				shown, err := r.History(t.Context(), plate)
				if err != nil {
					t.Error(err)
				}
				check(plate, shown)
				if i%16 == 0 {
					kept, err := r.OfPlates(t.Context(), []bag.Plate{plate})
					if err != nil {
						t.Error(err)
					}
					defer check(plate, kept) // what is handed out stays
				}
				if i%1000 == 999 {
					listed, err := r.OfFlight(t.Context(), "ZRH", false, bag.Flight{Airline: "LX", Number: "100", Day: day})
					if err != nil || len(listed) != len(plates) {
						t.Errorf("%d listed, %v", len(listed), err)
					}
					for j, l := range listed {
						if b := l.Bag; b.Plate != plates[j] || b.PNR != "ABC"+string(b.Plate[7:]) || l.Leg.From != "ZRH" || l.Leg.To != "FRA" {
							t.Errorf("listed %d: %+v, %+v", j, *b, l.Leg)
							break
						}
					}
				}
			}
		})
	}
	asking.Wait()
}
