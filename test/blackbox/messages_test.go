package blackbox_test

import (
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// today is the day of flights in messages that are received now.
func today() time.Time { return began.Truncate(24 * time.Hour) }

// began is when the tests began. It is their present, also if they run past midnight.
var began = time.Now().UTC()

// ddmmm formats a day as messages do.
func ddmmm(day time.Time) string { return strings.ToUpper(day.Format("02Jan")) }

// bsmOn returns a valid source message for the plate on a flight of that day.
func bsmOn(plate string, day time.Time) string {
	return "BSM\n.V/1LZRH\n.F/LX100/" + ddmmm(day) + "/JFK/Y\n.N/" + plate + "001\nENDBSM\n"
}

// twin is a plate that two passengers hold on one day.
const twin = "0724100099"

// withTwins returns the shared service once it has both bags.
func withTwins(t testing.TB) *service.Service {
	s := common(t)
	for _, passenger := range []string{"\n.P/1MEIER/ANNA\n.L/TWIN01", "\n.P/1HUBER/BEAT\n.L/TWIN02"} {
		feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX199/14MAR/JFK\n.N/" + twin + "001" + passenger + "\nENDBSM"})
	}
	if !s.Until(patience, func() bool {
		return strings.Contains(s.Get(service.HistoryPath(twin, "2026-03-14")).Body, "SVCGBH001")
	}) {
		t.Fatal("the twins did not come in")
	}
	return s
}
