package bagstore

import (
	"strconv"
	"testing"

	"bagtrail/internal/bag"
)

// learn has a round of its own ask for an entry, and reports whether Redis would be asked.
func learn(s *settled, name string) bool {
	r := s.begin()
	needs := r.needs(passengerKind, bag.Flight{}, name, "0220000001", 1000)
	r.keep()
	return needs
}

func TestSettledGrowsWithWhatItIsToldAndNoFurther(t *testing.T) {
	const most = 4 * fewestMarks
	s := newSettled(most, func() uint64 { return 0 })
	if !learn(s, "FIRST") || learn(s, "FIRST") {
		t.Error("an entry is not remembered")
	}
	for i := range fewestMarks {
		learn(s, strconv.Itoa(i))
	}
	if size := len(s.table.Load().slots); size != 2*fewestMarks {
		t.Errorf("%d slots after %d entries, want %d", size, fewestMarks, 2*fewestMarks)
	}
	if last := strconv.Itoa(fewestMarks - 1); learn(s, last) {
		t.Error("the last entry is not remembered")
	}
	r := s.begin()
	for i := range 2 * most { // in one round: each is asked for once, though nothing is kept yet
		if r.needs(flightKind, bag.Flight{Airline: "LX"}, strconv.Itoa(i), "0220000001", 1000); i%1000 == 0 {
			r.keep()
			r = s.begin()
		}
	}
	if size := len(s.table.Load().slots); size != most {
		t.Errorf("%d slots in the end, want %d", size, most)
	}
	learn(s, "LAST")
	if s.forget(); !learn(s, "LAST") {
		t.Error("what was forgotten is remembered")
	}
}
