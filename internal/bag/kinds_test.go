package bag_test

import (
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// identified returns a message with every required element and that identifier.
func identified(identifier string) string {
	return strings.Join([]string{identifier, ".V/1LZRH", ".F/LX14/12MAR/JFK", ".N/0724123456001", "END" + identifier}, "\n")
}

// Of all identifiers the parser accepts those in its table of kinds alone, and each of them makes
// an event by rules of its own. So a name that was added without an entry is not accepted as
// something else.
func TestAnIdentifierIsAcceptedOnlyAsTheKindThatHasItsEvents(t *testing.T) {
	airports := airport.New()
	read := enricher.New(airports)
	received := time.Date(2026, 3, 12, 6, 0, 0, 0, time.UTC)
	events := map[string]string{"BSM": bag.EventExpected, "BPM": bag.EventLoadedOnAircraft}
	if len(events) != parser.KindCount-1 {
		t.Errorf("%d kinds of %d are in events: add the others, each with an event that it makes", len(events), parser.KindCount-1)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for i := range len(letters) * len(letters) * len(letters) {
		identifier := string([]byte{letters[i/26/26], letters[i/26%26], letters[i%26]})
		text := identified(identifier)
		var m parser.Message
		m.Parse(text, airports)
		want, known := events[identifier]
		if m.Accepted() != known || known && m.Kind.String() != identifier {
			t.Errorf("%s: accepted %t as %q, with %v", identifier, m.Accepted(), m.Kind, m.Errors)
		}
		if !known || !m.Accepted() {
			continue
		}
		filing := read.Filing(&m, text, received)
		stored := []bag.Stored{{Raw: text, Received: received}}
		bags, err := rules.Fold(t.Context(), filing.Entries[0].Plate, read.Messages(filing.Entries[0].Plate, stored), nil)
		if err != nil || len(bags) != 1 || len(bags[0].Events) != 1 || bags[0].Events[0].Code != want {
			t.Errorf("%s: bags %+v, %v", identifier, bags, err)
		}
	}
}
