package trail_test

import (
	"math/rand/v2"
	"reflect"
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

// The memory of what is shown is used again for the next question, and by lists; nobody may see another bag's messages, whether
// a bag was asked for never, once or often.
func TestMemoryThatIsUsedAgainShowsInNoAnswer(t *testing.T) {
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
				if err := r.ShowPlate(t.Context(), plate, func(bags []*bag.Bag) { check(plate, bags) }); err != nil {
					t.Error(err)
				}
				if i%16 == 0 {
					kept, err := r.OfPlate(t.Context(), plate)
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

func TestRoomGivesEachMessageOnceUntilItIsCleared(t *testing.T) {
	room := bag.NewRoom(3)
	for round := range 3 {
		given := map[*bag.Message]bool{}
		for n := range 1000 * (round + 1) {
			m := room.Add()
			if given[m] {
				t.Fatalf("message %d was given before", n)
			}
			given[m] = true
			if !reflect.DeepEqual(*m, bag.Message{}) {
				t.Fatalf("message %d is not empty: %+v", n, *m)
			}
			*m = bag.Message{Raw: "text", Details: parser.Details{PNR: "ABC123", AirlineData: []string{"A"}}}
		}
		room.Clear()
	}
}
