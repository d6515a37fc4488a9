package trail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"bagtrail/internal/bag"
)

func container(number, device string) bag.Container {
	return bag.Container{Flight: bag.Flight{Airline: "LX", Number: number, Day: 20_524}, Device: device}
}

func TestHintsTellWhatWasNotedAndNothingElse(t *testing.T) {
	h := newHints()
	first, second := container("14A", "AKE12345LX"), container("117", "A")
	h.note(&bag.Entry{Plate: "0724100001", PNRs: []string{"ABC123", "ABC12"}, Stowage: []bag.Container{first, second}})
	h.note(&bag.Entry{Plate: "0724100002", PNRs: []string{"ABC123"}, Stowage: []bag.Container{first}})
	if got := h.placesOf("0724100001"); len(got) != 2 || !slices.Contains(got, first) || !slices.Contains(got, second) {
		t.Errorf("places %v", got)
	}
	if got := h.bookingsOf("ABC123"); !slices.Equal(got, []bag.Plate{"0724100002", "0724100001"}) {
		t.Errorf("bookings %v", got)
	}
	if got := h.bookingsOf("ABC12"); !slices.Equal(got, []bag.Plate{"0724100001"}) {
		t.Errorf("bookings %v", got)
	}
	if h.placesOf("0724100003") != nil || h.bookingsOf("ABC124") != nil {
		t.Error("something that nobody noted")
	}
}

// What does not fit is left out: it costs a round trip, no more.
func TestHintsLeaveOutWhatDoesNotFit(t *testing.T) {
	h := newHints()
	h.note(&bag.Entry{Plate: "07241000011", PNRs: []string{"ABC123"}, Stowage: []bag.Container{container("12345A", "AKE"), container("1", "AKE12345678")}})
	if h.placesOf("07241000011") != nil || h.bookingsOf("ABC123") != nil {
		t.Error("it is there")
	}
}

func TestATableKeepsTheYoungestOfABucket(t *testing.T) {
	table := newTable[int]()
	const hash = 5 << 32
	for value := range ways + 3 {
		table.add(hash, value)
		table.add(hash, 3) // which stays young
	}
	got := table.find(hash, nil)
	want := []int{3, 10, 9, 8, 7, 6, 5, 4}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if other := table.find(hash+buckets, nil); len(other) != 8 {
		t.Errorf("the same bucket and tag: %v", other)
	}
	if other := table.find(7<<32, nil); other != nil {
		t.Errorf("the same bucket and another tag: %v", other)
	}
}

func TestATableRemembersNearlyAllThatIsLessThanItsRoom(t *testing.T) {
	h := newHints()
	const passengers = 40_000
	for i := range passengers {
		h.noteBookings(fmt.Sprintf("P%05d", i), bag.Plate(fmt.Sprintf("%010d", i)))
	}
	known := 0
	for i := range passengers {
		if slices.Contains(h.bookingsOf(fmt.Sprintf("P%05d", i)), bag.Plate(fmt.Sprintf("%010d", i))) {
			known++
		}
	}
	if known < passengers*95/100 {
		t.Errorf("%d of %d are known", known, passengers)
	}
}

type filer struct{ err error }

func (f filer) File(context.Context, []bag.Filing) ([]bool, error) { return []bool{true}, f.err }

func TestWhatIsFiledIsLearned(t *testing.T) {
	r := New(nil, nil, Settings{})
	filings := []bag.Filing{{Entries: []bag.Entry{{Plate: "0724100001", PNRs: []string{"ABC123"}}}}}
	if _, err := r.Learning(filer{errors.New("away")}).File(t.Context(), filings); err == nil || r.hints.bookingsOf("ABC123") != nil {
		t.Errorf("not filed: %v, %v", err, r.hints.bookingsOf("ABC123"))
	}
	if fresh, err := r.Learning(filer{}).File(t.Context(), filings); err != nil || !fresh[0] || len(r.hints.bookingsOf("ABC123")) != 1 {
		t.Errorf("filed: %v, %v, %v", fresh, err, r.hints.bookingsOf("ABC123"))
	}
}
