package oracle_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/parser"
	"bagtrail/test/oracle"
)

var (
	statuses = map[string][]string{"ZRH": {"LCK", "XRY"}, "JFK": {"LCK"}}
	library  = airport.New(airport.Extra{Statuses: statuses})
	airlines = airline.New()
)

// departed is a flight reference: every flight with an odd number has left on odd days.
func departed(f oracle.Flight, _ string) bool {
	return f.Number[0]%2 == 1 && f.Date[len(f.Date)-1]%2 == 1
}

var settings = oracle.Settings{
	Window:      10 * time.Minute,
	Reference:   library,
	SamePlace:   library.SamePlace,
	Listed:      library.Listed,
	SameAirline: func(a, b string) bool { return airlines.Code(a) == airlines.Code(b) },
	Zone:        library.TimeZone,
	Location: func(code string) (latitude, longitude string) {
		latitude, longitude, _ = library.Coordinates(code)
		return latitude, longitude
	},
	Departed: departed,
}

// world answers for the service, over an index in memory.
type world struct {
	t      testing.TB
	reader *trail.Reader
}

func newWorld(t testing.TB, inputs []oracle.Input, set oracle.Settings) world {
	t.Helper()
	ctx := context.Background()
	index := memory.New()
	enr := enricher.New(library)
	var filings []bag.Filing
	for _, in := range inputs {
		filing, err := filingOf(enr, in)
		if err != nil {
			t.Fatalf("%v: %s", err, in.Text)
		}
		if filing != nil {
			filings = append(filings, *filing)
		}
	}
	// The order of arrival and repeated deliveries must not matter.
	r := rand.New(rand.NewPCG(uint64(len(filings)), 1))
	filings = append(filings, filings[:len(filings)/2]...)
	r.Shuffle(len(filings), func(i, j int) { filings[i], filings[j] = filings[j], filings[i] })
	w := world{t, trail.New(index, enr, trail.Settings{
		Window:   set.Window,
		Airports: library,
		Departed: func(f bag.Flight, from, _ string, _ time.Time) bool {
			return set.Departed(oracle.Flight{Airline: f.Airline, Number: f.Number, Date: f.Day.String()}, from)
		},
		Now: func() time.Time { return time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC) },
	})}
	// Answers to questions that are asked before the last message are cached. They must not affect
	// the later answers.
	for some := range slices.Chunk(filings, 1+len(filings)/3) {
		if _, err := index.File(ctx, some); err != nil {
			t.Fatal(err)
		}
		w.askAll(some)
	}
	return w
}

// askAll asks for all plates and flights of the filings.
func (w world) askAll(filings []bag.Filing) {
	plates, flights := map[bag.Plate]bool{}, map[bag.Flight]bool{}
	for _, f := range filings {
		for _, e := range f.Entries {
			plates[e.Plate] = true
			for _, flight := range e.Flights {
				flights[flight] = true
			}
		}
	}
	for plate := range plates {
		w.bags(string(plate))
		if _, err := w.reader.History(context.Background(), plate); err != nil {
			w.t.Fatal(err)
		}
	}
	for flight := range flights {
		w.flight("ZRH", false, flight)
	}
}

// filingOf returns the filing of a message; nil if the message is rejected.
func filingOf(enr *enricher.Enricher, in oracle.Input) (*bag.Filing, error) {
	var filing bag.Filing
	if in.Report {
		var err error
		if filing, err = enricher.FilingOfReport(in.Text, in.Received); err != nil {
			return nil, err
		}
	} else {
		var parsed parser.Message
		parsed.Parse(in.Text, library)
		if !parsed.Accepted() {
			return nil, nil
		}
		filing = enr.Filing(&parsed, in.Text, in.Received)
	}
	if p := in.Position; p != nil {
		filing.Position = bag.Position{Known: true, Partition: int32(p.Partition), Offset: p.Offset}
	}
	return &filing, nil
}

func (w world) bags(plate string) []*bag.Bag {
	bags, err := w.reader.OfPlates(context.Background(), []bag.Plate{bag.Plate(plate)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.checkOrder(bags)
	return bags
}

// traced returns the bags of a plate as /v1, streams and the topic of changes show them.
func (w world) traced(plate string) []*bag.Bag {
	traced, err := w.reader.TracePlates(context.Background(), []bag.Plate{bag.Plate(plate)})
	if err != nil {
		w.t.Fatal(err)
	}
	bags := make([]*bag.Bag, len(traced))
	for i := range traced {
		bags[i] = traced[i].Bag
	}
	return bags
}

// checkOrder fails the test if bags are not in the order of lists (rules §4).
func (w world) checkOrder(bags []*bag.Bag) {
	if !slices.IsSortedFunc(bags, func(a, b *bag.Bag) int {
		return cmp.Or(cmp.Compare(a.Plate, b.Plate), cmp.Compare(a.PNR, b.PNR), cmp.Compare(a.Surname, b.Surname))
	}) {
		var list []string
		for _, b := range bags {
			list = append(list, fmt.Sprintf("%s/%s/%s", b.Plate, b.PNR, b.Surname))
		}
		w.t.Fatalf("a list is not in the order plate, PNR, surname: %q", list)
	}
}

// shown returns the bags of a plate as a history shows them.
func (w world) shown(plate string) []*oracle.Bag {
	bags, err := w.reader.History(context.Background(), bag.Plate(plate))
	if err != nil {
		w.t.Fatal(err)
	}
	return plainAll(bags)
}

func (w world) flight(code string, arriving bool, f bag.Flight) []oracle.FlightEntry {
	listed, err := w.reader.OfFlight(context.Background(), code, arriving, f)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []oracle.FlightEntry
	var bags []*bag.Bag
	for _, l := range listed {
		bags = append(bags, l.Bag)
		list = append(list, oracle.FlightEntry{Plate: string(l.Bag.Plate), Rush: yn(l.Bag.Rush), FirstName: l.Bag.GivenName,
			LastName: l.Bag.Surname, Status: l.Leg.Status.String(), Seat: l.Leg.Seat, PNR: l.Bag.PNR})
	}
	w.checkOrder(bags)
	return list
}

// checkTotals fails the test if the flights of the airport lack a flight that has bags there, or if
// its totals are not those of the bags.
func (w world) checkTotals(code string, arriving bool, f bag.Flight) {
	listed, err := w.reader.OfFlight(context.Background(), code, arriving, f)
	if err != nil {
		w.t.Fatal(err)
	}
	flights, err := w.reader.FlightsAt(context.Background(), code, arriving, f.Day)
	if err != nil || !slices.Contains(flights, f) {
		w.t.Fatalf("flights at %s, arriving %t: %v, %v lack %v", code, arriving, flights, err, f)
	}
	totals, err := w.reader.Totals(context.Background(), code, arriving, []bag.Flight{f})
	var want trail.Totals
	for i := range listed {
		want.Add(&listed[i], arriving)
	}
	if err != nil || totals[0] != want {
		w.t.Fatalf("flight %v at %s, arriving %t: %+v, %v, want %+v", f, code, arriving, totals[0], err, want)
	}
}

func (w world) passenger(pnr string, day bag.Day) []oracle.PassengerEntry {
	bags, err := w.reader.OfPassenger(context.Background(), pnr, day)
	if err != nil {
		w.t.Fatal(err)
	}
	w.checkOrder(bags)
	var list []oracle.PassengerEntry
	for _, b := range bags {
		list = append(list, oracle.PassengerEntry{Plate: string(b.Plate), FirstName: b.GivenName, LastName: b.Surname,
			Rush: yn(b.Rush), RushTag: rushTag(b)})
	}
	return list
}

// Bags, OfFlight, OfPassenger and History answer as those of the oracle.

func (w world) Bags(plate string) []*oracle.Bag { return plainAll(w.bags(plate)) }

func (w world) OfFlight(airport string, arriving bool, airline, number, date string) []oracle.FlightEntry {
	day, _ := bag.ParseDay(date)
	return w.flight(airport, arriving, bag.Flight{Airline: airlines.Code(airline), Number: number, Day: day})
}

func (w world) OfPassenger(pnr, date string) []oracle.PassengerEntry {
	day, _ := bag.ParseDay(date)
	return w.passenger(pnr, day)
}

func (w world) History(plate, date, pnr, surname string) []*oracle.Bag {
	day, _ := bag.ParseDay(date)
	var live, cancelled []*oracle.Bag
	for _, b := range w.bags(plate) {
		switch {
		case !b.IsOfDay(day) || pnr != "" && !b.HasPNR(pnr) || surname != "" && !b.HasSurname(surname):
		case b.Cancelled:
			cancelled = append(cancelled, plain(b))
		default:
			live = append(live, plain(b))
		}
	}
	if len(live) > 0 {
		return live
	}
	return cancelled
}

func rushTag(b *bag.Bag) string {
	if b.RushTag == nil {
		return ""
	}
	return string(b.RushTag.Plate)
}

// plain converts a bag of the service to one of the oracle.
func plain(b *bag.Bag) *oracle.Bag {
	p := &oracle.Bag{Plate: string(b.Plate), FirstName: b.GivenName, LastName: b.Surname, Pieces: count(b.Pieces), Weight: count(b.Weight),
		WeightUnit: b.WeightUnit, PNR: b.PNR, Unknown: b.Unknown, Rush: b.Rush, Cancelled: b.Cancelled, RushTag: rushTag(b)}
	for _, l := range b.Legs {
		p.Legs = append(p.Legs, oracle.Leg{Airline: l.Carrier, Number: l.Number, Date: l.Day.String(), From: l.From, To: l.To,
			Living: l.Living, Status: l.Status.String()})
	}
	for _, e := range b.Events {
		p.Events = append(p.Events, shownEvent(b, &e))
	}
	return p
}

// shownEvent converts an event to the form in which the interface shows it.
func shownEvent(b *bag.Bag, e *bag.Event) oracle.Event {
	shown := bagjson.EventContext{Unknown: b.Unknown, Raw: true}
	if e.Code == "REFLIGHTED" {
		shown.Reflighted = b.OriginalOf(e)
	}
	var v struct {
		oracle.Event
		Flights struct {
			Inbound, Outbound *oracle.Flight
			Onward            []oracle.Flight
		} `json:"flight_info"`
		Reflighted *struct {
			Plate   string `json:"bagtag"`
			Flights oracle.Flight
		} `json:"reflighted_info"`
	}
	text := bagjson.AppendEvent(nil, e, library, shown)
	if err := json.Unmarshal(text, &v); err != nil {
		panic(fmt.Sprintf("%v: %s", err, text))
	}
	v.Inbound, v.Outbound, v.Onward = v.Flights.Inbound, v.Flights.Outbound, v.Flights.Onward
	if r := v.Reflighted; r != nil {
		v.Event.Reflighted = &oracle.Reflighted{Plate: r.Plate, Airline: r.Flights.Airline, Number: r.Flights.Number, Date: r.Flights.Date}
	}
	return v.Event
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

// question is a question with both answers.
type question struct {
	name           string
	service, truth any
}

// questions asks service and oracle the questions that the messages of a world suggest.
type questions struct {
	service world
	truth   *oracle.Oracle
	names   []person // of all messages
	asked   int
}

// compare asks service and oracle every question that the messages suggest. It returns the first
// one with different answers.
func compare(t testing.TB, inputs []oracle.Input) (differing question, asked int) {
	t.Helper()
	truth := oracle.New(inputs, settings)
	q := &questions{service: newWorld(t, inputs, settings), truth: truth, names: namesOf(inputs)}
	for _, ask := range []func() question{q.bags, q.flights, q.passengers} {
		if differing := ask(); differing.name != "" {
			return differing, q.asked
		}
	}
	return question{}, q.asked
}

// namesOf returns the PNRs and surnames of all messages, each once.
func namesOf(inputs []oracle.Input) []person {
	names := map[person]bool{}
	for _, in := range inputs {
		var parsed parser.Message
		parsed.Parse(in.Text, library)
		for _, g := range parsed.Groups {
			names[person{pnr: strings.Clone(g.PNR)}] = true
			names[person{surname: strings.Clone(g.Surname)}] = true
		}
	}
	delete(names, person{})
	return sortedKeys(names, func(p person) string { return p.pnr + "/" + p.surname })
}

// bags compares the bags of each plate, and the days, PNRs and surnames by which a history finds
// them.
func (q *questions) bags() question {
	for _, plate := range q.truth.Plates() {
		bags, found := q.truth.Bags(plate), slices.Clone(q.service.bags(plate))
		q.asked += 2
		if shown, same := inHistory(q.service.shown(plate)), inHistory(plainAll(found)); !reflect.DeepEqual(shown, same) {
			return question{"shown of " + plate, shown, same}
		}
		sortTies(bags, found)
		if traced := q.service.traced(plate); !q.truth.MissedByLists(plate) {
			q.asked++
			sortTies(bags, traced)
			if !slices.EqualFunc(traced, bags, func(b *bag.Bag, same *oracle.Bag) bool { _, differ := compareBag(plain(b), same); return !differ }) {
				return question{"trace of " + plate, plainAll(traced), bags}
			}
		}
		if len(bags) != len(found) {
			return question{"number of bags of " + plate, plainAll(found), bags}
		}
		for i, b := range bags {
			if differing, differ := compareBag(plain(found[i]), b); differ {
				return differing
			}
			if differing := q.finding(found[i], b); differing.name != "" {
				return differing
			}
		}
	}
	return question{}
}

// finding compares the dates, PNRs and surnames by which a history finds a bag.
func (q *questions) finding(found *bag.Bag, b *oracle.Bag) question {
	dates := slices.Clone(b.Dates())
	for _, e := range b.Events {
		dates = append(dates, e.UTC[:len(time.DateOnly)])
	}
	days := map[bag.Day]bool{}
	for _, date := range dates {
		day, _ := bag.ParseDay(date)
		for d := day - 4; d <= day+4; d++ {
			days[d] = true
		}
	}
	for d := range days {
		q.asked++
		if got := found.IsOfDay(d); got != slices.Contains(b.Dates(), d.String()) {
			return question{"history of " + b.Plate + " on " + d.String(), got, b.Dates()}
		}
	}
	for _, p := range q.names {
		q.asked++
		got, want := found.HasPNR(p.pnr), b.FoundByPNR(p.pnr)
		if p.pnr == "" {
			got, want = found.HasSurname(p.surname), b.FoundBySurname(p.surname)
		}
		if got != want {
			return question{fmt.Sprintf("history of %s by %v", b.Plate, p), got, want}
		}
	}
	return question{}
}

// flights compares the lists of every flight of a bag, departing and arriving, at the ends of its
// legs and at other airports.
func (q *questions) flights() question {
	type asked struct {
		f       bag.Flight
		airport string
	}
	flights := map[asked]bool{}
	for _, l := range q.legs() {
		day, _ := bag.ParseDay(l.Date)
		for _, a := range []string{l.From, l.To, "ZRH", "LHR", "LGW", "JFK"} {
			flights[asked{bag.Flight{Airline: airlines.Code(l.Airline), Number: l.Number, Day: day}, a}] = a != ""
		}
	}
	for _, a := range sortedKeys(flights, func(a asked) string { return fmt.Sprint(a) }) {
		for _, arriving := range []bool{false, true} {
			if !flights[a] {
				continue
			}
			q.asked++
			got := q.service.flight(a.airport, arriving, a.f)
			want := q.truth.OfFlight(a.airport, arriving, a.f.Airline, a.f.Number, a.f.Day.String())
			for _, list := range [][]oracle.FlightEntry{got, want} {
				for i := range list {
					if q.truth.MissedByLists(list[i].Plate) {
						list[i].Status = ""
					}
				}
				sortEntries(list)
			}
			if len(got) > 0 {
				q.service.checkTotals(a.airport, arriving, a.f)
			}
			if !slices.Equal(got, want) {
				return question{fmt.Sprintf("flight %v at %s, arriving %t", a.f, a.airport, arriving), got, want}
			}
		}
	}
	return question{}
}

// passengers compares the lists of every PNR on every day of a leg.
func (q *questions) passengers() question {
	days := map[bag.Day]bool{}
	for _, l := range q.legs() {
		day, _ := bag.ParseDay(l.Date)
		days[day] = true
	}
	for _, p := range q.names {
		for _, day := range sortedKeys(days, bag.Day.String) {
			if p.pnr == "" {
				continue
			}
			q.asked++
			got, want := q.service.passenger(p.pnr, day), q.truth.OfPassenger(p.pnr, day.String())
			sortPassengers(got)
			sortPassengers(want)
			if !slices.Equal(got, want) {
				return question{fmt.Sprintf("passenger %s on %s", p.pnr, day), got, want}
			}
		}
	}
	return question{}
}

// legs returns the legs of all bags.
func (q *questions) legs() []oracle.Leg {
	var all []oracle.Leg
	for _, plate := range q.truth.Plates() {
		for _, b := range q.truth.Bags(plate) {
			all = append(all, b.Legs...)
		}
	}
	return all
}

// sortTies sorts bags by plate, PNR and surname, and by their events where these are equal: the
// rules give no order then.
func sortTies(truth []*oracle.Bag, service []*bag.Bag) {
	texts := func(plate, pnr, surname string, events []oracle.Event) string {
		text, _ := json.Marshal(events)
		return plate + " " + pnr + " " + surname + " " + string(text)
	}
	slices.SortStableFunc(truth, func(a, b *oracle.Bag) int {
		return cmp.Compare(texts(a.Plate, a.PNR, a.LastName, a.Events), texts(b.Plate, b.PNR, b.LastName, b.Events))
	})
	slices.SortStableFunc(service, func(a, b *bag.Bag) int {
		return cmp.Compare(texts(string(a.Plate), a.PNR, a.Surname, plain(a).Events), texts(string(b.Plate), b.PNR, b.Surname, plain(b).Events))
	})
}

// sortEntries sorts the entries of a list in the same way, with their members in place of events.
func sortEntries(list []oracle.FlightEntry) {
	slices.SortStableFunc(list, func(a, b oracle.FlightEntry) int {
		return cmp.Or(cmp.Compare(a.Plate, b.Plate), cmp.Compare(a.PNR, b.PNR), cmp.Compare(a.LastName, b.LastName),
			cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
}

func sortPassengers(list []oracle.PassengerEntry) {
	slices.SortStableFunc(list, func(a, b oracle.PassengerEntry) int {
		return cmp.Or(cmp.Compare(a.Plate, b.Plate), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
}

// inHistory removes from bags what a history does not show: loading statuses and rush tags.
func inHistory(bags []*oracle.Bag) []*oracle.Bag {
	for _, b := range bags {
		b.RushTag = ""
		for i := range b.Legs {
			b.Legs[i].Status = ""
		}
	}
	return bags
}

func plainAll(bags []*bag.Bag) []*oracle.Bag {
	var all []*oracle.Bag
	for _, b := range bags {
		all = append(all, plain(b))
	}
	return all
}

func sortedKeys[K comparable, V any](m map[K]V, text func(K) string) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return cmp.Compare(text(a), text(b)) })
}
