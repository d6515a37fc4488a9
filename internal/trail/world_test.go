package trail_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/parser"
)

// world is a service without servers: messages go in as texts, answers come out as bags.
type world struct {
	t        *testing.T
	airports *airport.Library
	enricher *enricher.Enricher
	index    *memory.Index
	settings trail.Settings
	keep     *trail.Reader // the one that answers all questions; nil for a new one each time
}

func newWorld(t *testing.T) *world {
	airports := airport.New()
	return &world{
		t: t, airports: airports, enricher: enricher.New(airports), index: memory.New(),
		settings: trail.Settings{
			Window:   10 * time.Minute,
			Airports: airports,
			Now:      func() time.Time { return at("2026-03-20T00:00:00Z") },
		},
	}
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

// send files a message, written with blanks for line ends, received at a UTC time of March 2026 ("12T06:00").
func (w *world) send(received string, lines ...string) {
	w.t.Helper()
	w.sendText(at("2026-03-"+received+":00Z"), strings.Join(lines, "\n")+"\n")
}

func (w *world) sendText(received time.Time, text string) {
	w.t.Helper()
	var m parser.Message
	m.Parse(text, w.airports)
	if !m.Accepted() {
		w.t.Fatalf("message refused: %v\n%s", m.Errors, text)
	}
	if _, err := w.index.File(context.Background(), []bag.Filing{w.enricher.Filing(&m, text, received)}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) report(received string, plates ...bag.Plate) {
	w.t.Helper()
	w.reportAs("JFKLX10001", bag.Position{}, received, plates...)
}

// reportAs files a report with a reference, which stands somewhere in the log.
func (w *world) reportAs(reference string, place bag.Position, received string, plates ...bag.Plate) {
	w.t.Helper()
	document := enricher.Report{Reference: reference, Station: "JFK", Plates: plates}.Document()
	filing, err := enricher.FilingOfReport(document, at("2026-03-"+received+":00Z"))
	if err != nil {
		w.t.Fatal(err)
	}
	filing.Position = place
	if _, err := w.index.File(context.Background(), []bag.Filing{filing}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) reader() *trail.Reader {
	if w.keep != nil {
		return w.keep
	}
	return trail.New(w.index, w.enricher, w.settings)
}

func (w *world) bags(plate bag.Plate) []*bag.Bag {
	w.t.Helper()
	bags, err := w.reader().OfPlates(context.Background(), []bag.Plate{plate})
	if err != nil {
		w.t.Fatal(err)
	}
	return bags
}

func (w *world) one(plate bag.Plate) *bag.Bag {
	w.t.Helper()
	bags := w.bags(plate)
	if len(bags) != 1 {
		w.t.Fatalf("plate %s has %d bags, want 1", plate, len(bags))
	}
	return bags[0]
}

// flight returns the plates and statuses listed for a flight of March 2026: "LX100/12".
func (w *world) flight(airportCode string, arriving bool, flight string) []string {
	w.t.Helper()
	var number, day string
	name, day, _ := strings.Cut(flight, "/")
	airline := name[:2]
	number = name[2:]
	d, err := bag.ParseDay("2026-03-" + day)
	if err != nil {
		w.t.Fatal(err)
	}
	listed, err := w.reader().OfFlight(context.Background(), airportCode, arriving,
		bag.Flight{Airline: airline, Number: number, Day: d})
	if err != nil {
		w.t.Fatal(err)
	}
	out := []string{}
	for _, l := range listed {
		out = append(out, strings.TrimSpace(string(l.Bag.Plate)+" "+l.Leg.Status.String()))
	}
	return out
}

func (w *world) passenger(pnr, day string) []*bag.Bag {
	w.t.Helper()
	d, err := bag.ParseDay("2026-03-" + day)
	if err != nil {
		w.t.Fatal(err)
	}
	bags, err := w.reader().OfPassenger(context.Background(), pnr, d)
	if err != nil {
		w.t.Fatal(err)
	}
	return bags
}

func codes(b *bag.Bag) string {
	var out []string
	for _, e := range b.Events {
		out = append(out, e.Code)
	}
	return strings.Join(out, " ")
}

// legs describes legs: "LX100/12 ZRH-JFK Not Loaded"; in brackets where they do not live.
func legs(b *bag.Bag) []string {
	out := []string{}
	for _, l := range b.Legs {
		s := fmt.Sprintf("%s%s/%s %s-%s %s", l.Airline, l.Number, l.Day.String()[8:], l.From, l.To, l.Status)
		s = strings.TrimSpace(s)
		if !l.Living {
			s = "(" + s + ")"
		}
		out = append(out, s)
	}
	return out
}

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func expectList(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
