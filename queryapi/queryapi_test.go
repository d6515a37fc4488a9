package queryapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/fault"
	"bagtrail/internal/flightref"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
)

var all = apikey.Scope{All: true}

func only(codes ...string) apikey.Scope { return apikey.Scope{Codes: codes} }

// keys is a key store that never changes.
type keys map[string]*apikey.Key

func (k keys) Lookup(text string, _ time.Time) (*apikey.Key, bool) {
	key, ok := k[text]
	return key, ok
}

func (k keys) Named(name string, now time.Time) (*apikey.Key, bool) {
	key, ok := k[name]
	return key, ok && key.State(now) == "active"
}

var testKeys = keys{
	"demo":         {Name: "demo", Customer: "DEMO", Airlines: all, Airports: all, Operations: all},
	"no-customer":  {Name: "no-customer", Airlines: all, Airports: all, Operations: all},
	"none-either":  {Name: "none-either", Airlines: all, Airports: all, Operations: all},
	"lx":           {Name: "lx", Customer: "LX", Airlines: only("LX"), Airports: all, Operations: all},
	"lx-at-jfk":    {Name: "lx-at-jfk", Customer: "LX", Airlines: only("LX"), Airports: only("JFK"), Operations: all},
	"ba":           {Name: "ba", Customer: "BA", Airlines: only("BA"), Airports: all, Operations: all},
	"lhr":          {Name: "lhr", Customer: "LHR", Airlines: all, Airports: only("LHR"), Operations: all},
	"concealing":   {Name: "concealing", Customer: "LX", Airlines: only("LX"), Airports: all, Operations: all, Conceal: true},
	"no-airline":   {Name: "no-airline", Customer: "X", Airlines: only(), Airports: all, Operations: all},
	"history-only": {Name: "history-only", Customer: "X", Airlines: all, Airports: all, Operations: only("history")},
	"bags-only":    {Name: "bags-only", Customer: "X", Airlines: all, Airports: all, Operations: only("bags")},
	"posts":        {Name: "posts", Customer: "X", Airlines: all, Airports: all, Operations: only("processbim", "delayedbags")},
}

// answers implements Trails with fixed results.
type answers struct {
	flight    []trail.Listed
	flights   []bag.Flight
	totals    map[bag.Flight]trail.Totals
	plate     []*bag.Bag
	passenger []*bag.Bag
	err       error
	asked     string
}

func (a *answers) OfFlight(_ context.Context, airport string, arriving bool, f bag.Flight) ([]trail.Listed, error) {
	a.asked = fmt.Sprint(airport, " ", arriving, " ", f.Airline, f.Number, " ", f.Day)
	return a.flight, a.err
}

func (a *answers) FlightsAt(_ context.Context, airport string, arriving bool, day bag.Day) ([]bag.Flight, error) {
	a.asked = fmt.Sprint(airport, " ", arriving, " ", day)
	return slices.Clone(a.flights), a.err
}

func (a *answers) Totals(_ context.Context, _ string, _ bool, flights []bag.Flight) ([]trail.Totals, error) {
	totals := make([]trail.Totals, len(flights))
	for i, f := range flights {
		totals[i] = a.totals[f]
	}
	return totals, a.err
}

func (a *answers) PlatesNamed(_ context.Context, flights []bag.Flight, surname string) ([]bag.Plate, error) {
	a.asked = fmt.Sprint(flights, " ", surname)
	return []bag.Plate{"0724100001"}, a.err
}

func (a *answers) PlatesEnding(ctx context.Context, flights []bag.Flight, digits string) ([]bag.Plate, error) {
	return a.PlatesNamed(ctx, flights, digits)
}

func (a *answers) OfPlates(_ context.Context, plates []bag.Plate) ([]*bag.Bag, error) {
	a.asked = fmt.Sprint(plates)
	return a.plate, a.err
}

func (a *answers) History(_ context.Context, plate bag.Plate) ([]*bag.Bag, error) {
	a.asked = string(plate)
	return a.plate, a.err
}

func (a *answers) TracePlates(_ context.Context, plates []bag.Plate) ([]trail.Traced, error) {
	a.asked = fmt.Sprint(plates)
	return a.traced(a.plate), a.err
}

func (a *answers) TracePassenger(ctx context.Context, pnr string, day bag.Day) ([]trail.Traced, error) {
	bags, err := a.OfPassenger(ctx, pnr, day)
	return a.traced(bags), err
}

func (*answers) traced(bags []*bag.Bag) []trail.Traced {
	traced := make([]trail.Traced, len(bags))
	for i, b := range bags {
		traced[i] = trail.Traced{Bag: b, Chain: []bag.Plate{b.Plate}}
	}
	return traced
}

func (a *answers) OfPassenger(_ context.Context, pnr string, day bag.Day) ([]*bag.Bag, error) {
	a.asked = pnr + " " + day.String()
	return a.passenger, a.err
}

func site(trails queryapi.Trails) *web.Site { return siteWith(trails, flightref.None()) }

func siteWith(trails queryapi.Trails, flights bagdoc.References) *web.Site {
	return boundedSite(trails, flights, 0)
}

func boundedSite(trails queryapi.Trails, flights bagdoc.References, answerBytes int64) *web.Site {
	queries := queryapi.Queries{Trails: func(bag.Sight) queryapi.Trails { return trails }, Airports: airport.New(), Airlines: airline.New(), Flights: flights, ChangesRetention: 72 * time.Hour, Clock: time.Now}
	return web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now, AnswerBytes: answerBytes}, queries.Operations(), nil)
}

// ask sends a request with headers, each a name and a value. A header without a value is left out.
func ask(ctx context.Context, s http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body)), httptest.NewRecorder()
	for header := range slices.Chunk(headers, 2) {
		if header[1] != "" {
			r.Header.Set(header[0], header[1])
		}
	}
	s.ServeHTTP(w, r)
	return w
}

// get asks with a key and returns status and body.
func get(s *web.Site, key, target string) string {
	w := ask(context.Background(), s, "GET", target, "", "api_key", key)
	return fmt.Sprint(w.Code, " ", w.Body)
}

// refusal is the answer that carries the codes.
func refusal(ids ...fault.ID) string {
	var errors []string
	for _, id := range ids {
		errors = append(errors, fmt.Sprintf(`{"error_code":"%s","error_description":"%s"}`, id.Code, id.Text))
	}
	return fmt.Sprintf(`%d {"success":false,"errors":[%s]}`, ids[0].Status, strings.Join(errors, ","))
}

func date(t *testing.T, s string) bag.Day {
	t.Helper()
	day, err := bag.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// bsm is a message that names one flight.
func bsm(t *testing.T, airline, number, day, from, to string) *bag.Message {
	t.Helper()
	at := time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)
	return &bag.Message{
		Head:     parser.Head{Kind: parser.BSM, Version: parser.Version{Source: 'L', Airport: from}},
		Received: at, Happened: at, LocalDay: date(t, day),
		Outbound: bag.Segment{Flight: bag.Flight{Airline: airline, Number: number, Day: date(t, day)}, Carrier: airline, Airport: to},
		Raw:      "BSM\r\n.V/1L" + from + "\r\n.F/" + airline + number + "/14MAR/" + to + "\r\n.N/0724100001001\r\nENDBSM\r\n",
	}
}

// newBag returns a bag with one living leg and the event of its message.
func newBag(t *testing.T, plate bag.Plate, pnr, surname, airline, number, from, to string) *bag.Bag {
	t.Helper()
	m := bsm(t, airline, number, "2026-03-14", from, to)
	return &bag.Bag{
		Plate: plate, PNRs: []string{pnr}, Surnames: []string{bag.FoldName(surname)}, FirstDay: date(t, "2026-03-14"),
		Description: bag.Description{PNR: pnr, Surname: surname, GivenName: "ANNA", Pieces: -1, Weight: -1},
		Legs:        []bag.Leg{{Flight: m.Outbound.Flight, Carrier: airline, From: from, To: to, Living: true, Status: bag.NotLoaded}},
		Events:      []bag.Event{{Code: "EXPECTED", Description: "Bag Expected", Message: m}},
	}
}

const (
	flightPath    = "/baggage/bagsforflight/v1.0/airport_code/ZRH/arr_dep_indicator/D/airline_code/LX/flight_no/100/dep_flight_date/2026-03-14"
	historyPath   = "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-14"
	passengerPath = "/baggage/bagsforpassenger/v1.0/pnr/ABC123/dep_flight_date/2026-03-14"
)

func TestKeyFaultsOfEachQuery(t *testing.T) {
	s := site(&answers{})
	for _, tc := range []struct {
		path             string
		missing, unknown fault.ID
		noCustomer       string
	}{
		{flightPath, fault.FlightKeyMissing, fault.FlightKeyUnknown, refusal(fault.FlightNoBags)},
		{historyPath, fault.HistoryKeyMissing, fault.HistoryKeyUnknown, refusal(fault.HistoryNoCustomer)},
		{passengerPath, fault.PassengerKeyMissing, fault.PassengerKeyUnknown, refusal(fault.PassengerNoBags)},
	} {
		if got := get(s, "", tc.path); got != refusal(tc.missing) {
			t.Errorf("%s without key: %s", tc.path, got)
		}
		if got := get(s, "nobody", tc.path); got != refusal(tc.unknown) {
			t.Errorf("%s with unknown key: %s", tc.path, got)
		}
		if got := get(s, "no-customer", tc.path); got != tc.noCustomer {
			t.Errorf("%s without customer: %s", tc.path, got)
		}
	}
}

func TestQueryThatTheKeyMayNotUseIsNotAuthorisedAfterItsParameters(t *testing.T) {
	s := site(&answers{err: errors.New("must not be asked")})
	for path, want := range map[string]string{
		flightPath:    refusal(fault.FlightNotAuthorised),
		historyPath:   refusal(fault.HistoryNotAuthorised),
		passengerPath: refusal(fault.PassengerNotAuthorised),
		"/baggage/history/v1.0/tag/1/flightdate/2026-03-14": refusal(fault.HistoryTagFormat),
	} {
		if got := get(s, "posts", path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestUnreadableIndexIsUnavailable(t *testing.T) {
	s := site(&answers{err: context.DeadlineExceeded})
	for path, want := range map[string]fault.ID{flightPath: fault.FlightUnavailable, historyPath: fault.Unavailable, passengerPath: fault.Unavailable} {
		if got := get(s, "demo", path); got != refusal(want) {
			t.Errorf("%s: %s", path, got)
		}
		if got := get(s, "demo", path+"?callback=f"); got != "503 /**/f("+strings.TrimPrefix(refusal(want), "503 ")+");" {
			t.Errorf("%s as script: %s", path, got)
		}
	}
}

func TestQueryEndsWithinASecond(t *testing.T) {
	var stuck stuckTrails
	if got := get(site(&stuck), "demo", historyPath); got != refusal(fault.Unavailable) {
		t.Errorf("%s", got)
	}
	if stuck.limit <= 0 || stuck.limit >= time.Second {
		t.Errorf("the query may take %v", stuck.limit)
	}
}

// stuckTrails returns only when its context ends, as the contract of Trails requires.
type stuckTrails struct {
	answers
	limit time.Duration // how long the last query might take
}

func (s *stuckTrails) OfPlates(ctx context.Context, _ []bag.Plate) ([]*bag.Bag, error) {
	return s.History(ctx, "")
}

func (s *stuckTrails) History(ctx context.Context, _ bag.Plate) ([]*bag.Bag, error) {
	end, _ := ctx.Deadline()
	s.limit = time.Until(end)
	<-ctx.Done()
	return nil, ctx.Err()
}
