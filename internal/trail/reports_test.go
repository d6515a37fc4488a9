package trail_test

import (
	"testing"

	"bagtrail/internal/bag"
)

// A report that is filed again stands in the log twice, and is one event. Another report of that moment is another event.
func TestReportThatIsFiledAgainIsOneEvent(t *testing.T) {
	w := newWorld(t)
	w.send("12T06:00", "BSM", ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724100001001", "ENDBSM")
	for i, reference := range []string{"JFKLX10001", "JFKLX10002", "JFKLX10001", "JFKLX10001"} {
		w.reportAs(reference, bag.Position{Known: true, Offset: int64(i)}, "12T20:00", "0724100001")
	}
	mishandled := 0
	for _, e := range w.one("0724100001").Events {
		if e.Code == "MISHANDLED" {
			mishandled++
		}
	}
	if mishandled != 2 {
		t.Errorf("%d events of 2 reports", mishandled)
	}
}
