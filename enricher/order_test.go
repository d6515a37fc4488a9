package enricher_test

import (
	"fmt"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
)

const plate = "0724123456"

// read returns what the enricher makes of a text that was received then, for one plate.
func read(t *testing.T, text, received string) *bag.Message {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, received)
	if err != nil {
		t.Fatal(err)
	}
	stored := bag.Stored{Raw: text, Received: at}
	if text[0] == '{' {
		stored.Report = true
	}
	made := enricher.New(airport.New()).Messages(plate, []bag.Stored{stored})
	if len(made) != 1 {
		t.Fatalf("%d messages of %q", len(made), text)
	}
	return made[0]
}

func processed(kind, processing string) string {
	return fmt.Sprintf("%s\n.V/1LZRH\n.F/LX14/22NOV/JFK\n.N/%s001\n%s\nEND%[1]s", kind, plate, processing)
}

func TestAReadTimeDoesNotLieAfterReceipt(t *testing.T) {
	for _, c := range []struct{ what, processing, received, happened, read string }{
		{"before", ".J/S///22NOV/110000Z", "2026-11-22T12:00:00.5Z", "2026-11-22T11:00:00Z", "2026-11-22T11:00:00Z"},
		{"long before", ".J/S///21NOV/110000Z", "2026-11-22T12:00:00.5Z", "2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z"},
		{"local time", ".J/S///22NOV/120000L", "2026-11-22T12:00:00.5Z", "2026-11-22T11:00:00Z", "2026-11-22T11:00:00Z"},
		{"at the same moment", ".J/S///22NOV/120000Z", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z"},
		{"a second after", ".J/S///22NOV/120001Z", "2026-11-22T12:00:00.5Z", "2026-11-22T12:00:00.5Z", "2026-11-22T12:00:01Z"},
		{"in the same minute after", ".J/S///22NOV/1201Z", "2026-11-22T12:00:00.5Z", "2026-11-22T12:00:00.5Z", "2026-11-22T12:01:00Z"},
		{"an hour after", ".J/S///22NOV/130000Z", "2026-11-22T12:00:00.5Z", "2026-11-22T12:00:00.5Z", "2026-11-22T13:00:00Z"},
	} {
		m := read(t, processed("BPM", c.processing), c.received)
		checkTime(t, c.what+": happened", m.Happened, c.happened)
		checkTime(t, c.what+": read", m.Read, c.read)
	}
}

func TestAReadTimeWithoutSecondsStandsAtTheEndOfItsMinute(t *testing.T) {
	for _, c := range []struct{ what, kind, processing, received, order string }{
		{"without seconds", "BPM", ".J/S///22NOV/1159Z", "2026-11-22T12:30:00Z", "2026-11-22T11:59:59.999Z"},
		{"local, without seconds", "BPM", ".J/S///22NOV/1259L", "2026-11-22T12:30:00Z", "2026-11-22T11:59:59.999Z"},
		{"not after receipt", "BPM", ".J/S///22NOV/1200Z", "2026-11-22T12:00:20.25Z", "2026-11-22T12:00:20.25Z"},
		{"at receipt", "BPM", ".J/S///22NOV/1200Z", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00Z"},
		{"with seconds", "BPM", ".J/S///22NOV/115900Z", "2026-11-22T12:30:00Z", "2026-11-22T11:59:00Z"},
		{"after receipt", "BPM", ".J/S///22NOV/1300Z", "2026-11-22T12:30:00Z", "2026-11-22T12:30:00Z"},
		{"no read time", "BPM", ".J/S", "2026-11-22T12:30:00Z", "2026-11-22T12:30:00Z"},
		{"of a BSM", "BSM", ".J/S///22NOV/1159Z", "2026-11-22T12:30:00Z", "2026-11-22T12:30:00Z"},
	} {
		checkTime(t, c.what, read(t, processed(c.kind, c.processing), c.received).Order, c.order)
	}
	report := read(t, `{"record_reference":"ZRHLX10001","station":"ZRH","bags":["`+plate+`"]}`, "2026-11-22T12:30:00Z")
	checkTime(t, "of a report", report.Order, "2026-11-22T12:30:00Z")
}

func TestAMessageHoldsTheOriginLineWithDayAndTime(t *testing.T) {
	const text = "QU LONRMBA\r\n.ZRHXXLX 201200 \r\n"
	if m := read(t, text+processed("BPM", ".J/S"), "2026-11-22T12:30:00Z"); m.Origin != ".ZRHXXLX 201200" {
		t.Errorf("origin %q", m.Origin)
	}
	if m := read(t, processed("BPM", ".ZRHXXLX 201200"), "2026-11-22T12:30:00Z"); m.Origin != "" {
		t.Errorf("origin %q behind the identifier", m.Origin)
	}
}

func checkTime(t *testing.T, what string, got time.Time, want string) {
	t.Helper()
	if got.Format(time.RFC3339Nano) != want {
		t.Errorf("%s: %s, want %s", what, got.Format(time.RFC3339Nano), want)
	}
}
