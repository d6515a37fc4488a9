package journey_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/journey"
)

var start = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

func TestOneSeedMakesTheSameMessages(t *testing.T) {
	opt := journey.Crowded(start, 20)
	if !reflect.DeepEqual(journey.Make(7, opt), journey.Make(7, opt)) {
		t.Error("two runs of one seed differ")
	}
	if reflect.DeepEqual(journey.Make(7, opt), journey.Make(8, opt)) {
		t.Error("two seeds make the same messages")
	}
}

func TestMessagesComeInTheOrderOfTheirReceipt(t *testing.T) {
	for seed := range uint64(50) {
		messages := journey.Make(seed, journey.Crowded(start, 10))
		if !slices.IsSortedFunc(messages, func(a, b journey.Message) int { return a.Received.Compare(b.Received) }) {
			t.Fatalf("seed %d: out of order", seed)
		}
		for _, m := range messages {
			if m.Received.Location() != time.UTC || m.Received.Nanosecond()%int(time.Millisecond) != 0 {
				t.Fatalf("seed %d: received %v is not whole milliseconds of UTC", seed, m.Received)
			}
		}
	}
}

func TestCrowdedWorldsHoldWhatIsHardToTellApart(t *testing.T) {
	var all strings.Builder
	repeated := 0
	for seed := range uint64(200) {
		opt := journey.Crowded(journey.Awkward()[seed%uint64(len(journey.Awkward()))], 4)
		opt.Statuses = map[string][]string{"ZRH": {"LCK"}}
		seen := map[string]bool{}
		for _, m := range journey.Make(seed, opt) {
			if seen[m.Text] {
				repeated++
			}
			seen[m.Text] = true
			all.WriteString(m.Text)
		}
	}
	for _, piece := range []string{"CHG", "DEL", "ADD", ".E/RUSH", ".M/", ".R/", ".B/OFF/", ".B/NAL/", ".B/LCK/", ".V/1X", ".X/SEL/REJ", ".I/", ".O/",
		"/LON", "/NYC", "29FEB", "31DEC", "01JAN", ".N/2", "MSTR", "QU ZRHXHXH", "record_reference"} {
		if !strings.Contains(all.String(), piece) {
			t.Errorf("no message holds %q", piece)
		}
	}
	if repeated == 0 {
		t.Error("no message is repeated")
	}
}
