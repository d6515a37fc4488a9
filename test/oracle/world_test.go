package oracle_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/simulate/journey"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/parser"
	"bagtrail/test/oracle"
)

var (
	statuses = map[string][]string{"ZRH": {"LCK", "XRY"}, "JFK": {"LCK"}}
	library  = airport.New(airport.Extra{Statuses: statuses})
)

// departed is a flight reference: every flight with an odd number has left on odd days.
func departed(airline, number, date, from string) bool {
	return number[0]%2 == 1 && date[len(date)-1]%2 == 1
}

var settings = oracle.Settings{
	Window:    10 * time.Minute,
	Reference: library,
	Place:     library.Place,
	Zone:      library.Location,
	Departed:  departed,
}

// world answers for the service, over an index in memory.
type world struct {
	t      testing.TB
	reader *trail.Reader
}

func newWorld(t testing.TB, messages []journey.Message) world {
	t.Helper()
	ctx := context.Background()
	index := memory.New()
	enr := enricher.New(library)
	var filings []bag.Filing
	for _, m := range messages {
		if m.Report {
			filing, err := enr.ReportFiling(m.Text, m.Received)
			if err != nil {
				t.Fatalf("report %s: %v", m.Text, err)
			}
			filings = append(filings, filing)
			continue
		}
		var parsed parser.Message
		parsed.Parse(m.Text, library)
		if parsed.Accepted() {
			filings = append(filings, enr.Filing(&parsed, m.Text, m.Received))
		}
	}
	// The order of arrival must not matter, nor that something arrives twice.
	r := rand.New(rand.NewPCG(uint64(len(filings)), 1))
	filings = append(filings, filings[:len(filings)/2]...)
	r.Shuffle(len(filings), func(i, j int) { filings[i], filings[j] = filings[j], filings[i] })
	w := world{t, trail.New(index, enr, trail.Settings{
		Window:   settings.Window,
		Airports: library,
		Departed: func(f bag.Flight, from string, _ time.Time) bool {
			return departed(f.Airline, f.Number, f.Day.String(), from)
		},
		Now: func() time.Time { return time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC) },
	})}
	// What is asked while messages arrive is remembered, and must not show in the answers afterwards.
	for some := range slices.Chunk(filings, 1+len(filings)/3) {
		if _, err := index.File(ctx, some); err != nil {
			t.Fatal(err)
		}
		for _, f := range some {
			for _, e := range f.Entries {
				w.bags(string(e.Plate))
				w.shown(string(e.Plate))
				for _, flight := range e.Flights {
					w.flight("ZRH", false, flight)
				}
			}
		}
	}
	return w
}

func (w world) bags(plate string) []*bag.Bag {
	bags, err := w.reader.OfPlate(context.Background(), bag.Plate(plate))
	if err != nil {
		w.t.Fatal(err)
	}
	return bags
}

// shown is what a history shows of the bags of a plate, whose memory is used again behind it.
func (w world) shown(plate string) (shown []*oracle.Bag) {
	err := w.reader.ShowPlate(context.Background(), bag.Plate(plate), func(bags []*bag.Bag) { shown = plainAll(bags) })
	if err != nil {
		w.t.Fatal(err)
	}
	return shown
}

func (w world) flight(code string, arriving bool, f bag.Flight) []oracle.FlightEntry {
	listed, err := w.reader.OfFlight(context.Background(), code, arriving, f)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []oracle.FlightEntry
	for _, l := range listed {
		list = append(list, oracle.FlightEntry{Plate: string(l.Bag.Plate), Rush: yn(l.Bag.Rush), FirstName: l.Bag.GivenName,
			LastName: l.Bag.Surname, Status: l.Leg.Status.String(), Seat: l.Leg.Seat, PNR: l.Bag.PNR})
	}
	return list
}

func (w world) passenger(pnr string, day bag.Day) []oracle.PassengerEntry {
	bags, err := w.reader.OfPassenger(context.Background(), pnr, day)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []oracle.PassengerEntry
	for _, b := range bags {
		list = append(list, oracle.PassengerEntry{Plate: string(b.Plate), FirstName: b.GivenName, LastName: b.Surname,
			Rush: yn(b.Rush), RushTag: rushTag(b)})
	}
	return list
}

func rushTag(b *bag.Bag) string {
	if b.RushTag == nil {
		return ""
	}
	return string(b.RushTag.Plate)
}

// plain writes a bag of the service in the words of the oracle.
func plain(b *bag.Bag) *oracle.Bag {
	p := &oracle.Bag{Plate: string(b.Plate), FirstName: b.GivenName, LastName: b.Surname, Pieces: count(b.Pieces), Weight: count(b.Weight),
		WeightUnit: b.WeightUnit, PNR: b.PNR, Unknown: b.Unknown, Rush: b.Rush, Cancelled: b.Cancelled, RushTag: rushTag(b)}
	for _, l := range b.Legs {
		p.Legs = append(p.Legs, oracle.Leg{Airline: l.Airline, Number: l.Number, Date: l.Day.String(), From: l.From, To: l.To,
			Living: l.Living, Status: l.Status.String()})
	}
	for _, e := range b.Events {
		m := e.Message
		v := oracle.Event{Airport: m.Airport, Code: e.Code, Description: e.Description,
			Local: library.Local(m.Airport, m.Happened).Format("2006-01-02T15:04:05Z07:00"), UTC: m.Happened.UTC().Format("2006-01-02T15:04:05Z"),
			Compartment: m.Compartment, Device: m.Device,
			Inbound: segment(m.Inbound, true), Outbound: segment(m.Outbound, false), Connection: connection(m.Connection),
			FrequentFlyer: m.FrequentFlyer, PassengerStatus: m.PassengerStatus, TagStatus: m.TagStatus, PNR: m.PNR, Raw: m.Raw,
			ReadLocation: m.ReadLocation, SentLocation: m.SentLocation}
		for _, s := range m.Onward {
			v.Onward = append(v.Onward, *segment(s, false))
		}
		if e.Sets.Loaded() {
			v.Loading = v.Outbound
		}
		if b.Unknown {
			v.Unknown = "Y"
		}
		for _, line := range m.AirlineData {
			v.AirlineData = append(v.AirlineData, oracle.AirlineData{Data: line})
		}
		if r := b.ReflightedBy(&e); e.Code == "REFLIGHTED" && r != nil {
			v.Reflighted = &oracle.Reflighted{Plate: string(r.Plate)}
			if !r.Flight.IsZero() {
				v.Reflighted.Airline, v.Reflighted.Number, v.Reflighted.Date = r.Flight.Airline, r.Flight.Number, r.Flight.Day.String()
			}
		}
		p.Events = append(p.Events, v)
	}
	return p
}

func segment(s bag.Segment, inbound bool) *oracle.Flight {
	if s.IsZero() {
		return nil
	}
	f := &oracle.Flight{Airline: s.Airline, Number: s.Number}
	if s.Day != 0 {
		f.Date = s.Day.String()
	}
	if inbound {
		f.Origin = s.Airport
	} else {
		f.Destination = s.Airport
	}
	return f
}

func connection(s *bag.Segment) *oracle.Flight {
	if s == nil {
		return nil
	}
	return segment(*s, false)
}

func count(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func yn(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}

// question is one thing that was asked of both.
type question struct {
	name           string
	service, truth any
}

// compare asks service and oracle every question that the messages suggest and returns the first on which they differ.
func compare(t testing.TB, messages []journey.Message) (question, bool) {
	t.Helper()
	var inputs []oracle.Input
	for _, m := range messages {
		inputs = append(inputs, oracle.Input{Text: m.Text, Received: m.Received, Report: m.Report})
	}
	truth := oracle.New(inputs, settings)
	service := newWorld(t, messages)

	type asked struct {
		f       bag.Flight
		airport string
	}
	flights := map[asked]bool{}
	pnrs := map[string]map[bag.Day]bool{}
	for _, m := range messages {
		if m.Plate != "" && len(truth.Bags(m.Plate)) == 0 && len(service.bags(m.Plate)) > 0 {
			return question{"plate " + m.Plate, service.bags(m.Plate), nil}, true
		}
	}
	for _, plate := range truth.Plates() {
		bags, found := truth.Bags(plate), service.bags(plate)
		if shown := service.shown(plate); !reflect.DeepEqual(shown, plainAll(found)) {
			return question{"the same of " + plate, shown, plainAll(found)}, true
		}
		if len(bags) != len(found) {
			return question{"number of bags of " + plate, plainAll(found), bags}, true
		}
		for i, b := range bags {
			if q, differ := compareBag(plain(found[i]), b); differ {
				return q, true
			}
			dates := b.Dates()
			for _, e := range b.Events {
				dates = append(slices.Clone(dates), e.UTC[:len(time.DateOnly)])
			}
			for _, date := range dates {
				day, _ := bag.ParseDay(date)
				for d := day - 4; d <= day+4; d++ {
					if found[i].Names(d) != slices.Contains(b.Dates(), d.String()) {
						return question{"history of " + plate + " on " + d.String(), found[i].Names(d), b.Dates()}, true
					}
				}
			}
			for _, l := range b.Legs {
				day, _ := bag.ParseDay(l.Date)
				for _, a := range []string{l.From, l.To, "ZRH", "LHR", "LGW", "JFK"} {
					flights[asked{bag.Flight{Airline: l.Airline, Number: l.Number, Day: day}, a}] = true
				}
				for _, pnr := range []string{b.PNR} {
					if pnrs[pnr] == nil {
						pnrs[pnr] = map[bag.Day]bool{}
					}
					pnrs[pnr][day] = true
				}
			}
		}
	}
	for _, a := range sortedKeys(flights, func(a asked) string { return fmt.Sprint(a) }) {
		for _, arriving := range []bool{false, true} {
			if a.airport == "" {
				continue
			}
			got := service.flight(a.airport, arriving, a.f)
			want := truth.OfFlight(a.airport, arriving, a.f.Airline, a.f.Number, a.f.Day.String())
			if !slices.Equal(got, want) {
				return question{fmt.Sprintf("flight %v at %s, arriving %t", a.f, a.airport, arriving), got, want}, true
			}
		}
	}
	for _, pnr := range sortedKeys(pnrs, func(p string) string { return p }) {
		for _, day := range sortedKeys(pnrs[pnr], bag.Day.String) {
			if pnr == "" {
				continue
			}
			got, want := service.passenger(pnr, day), truth.OfPassenger(pnr, day.String())
			if !slices.Equal(got, want) {
				return question{fmt.Sprintf("passenger %s on %s", pnr, day), got, want}, true
			}
		}
	}
	return question{}, false
}

func plainAll(bags []*bag.Bag) []*oracle.Bag {
	var all []*oracle.Bag
	for _, b := range bags {
		all = append(all, plain(b))
	}
	return all
}

func sortedKeys[K comparable, V any](m map[K]V, text func(K) string) []K {
	var keys []K
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Compare(text(a), text(b)) })
	return keys
}
