package bagjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/parser"
)

var library = airport.New()

func day(t *testing.T, s string) bag.Day {
	t.Helper()
	d, err := bag.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func segment(t *testing.T, airline, number, date, airport string) bag.Segment {
	t.Helper()
	return bag.Segment{Flight: bag.Flight{Airline: airline, Number: number, Day: day(t, date)}, Carrier: airline, Airport: airport}
}

// at is what a message says as a whole that was read at an airport.
func at(airport, read, sent string) parser.Head {
	return parser.Head{Version: parser.Version{Airport: airport}, Processing: parser.Processing{ReadLocation: read, SentLocation: sent}}
}

// full is an event with every member.
func full(t *testing.T) (*bag.Event, bagjson.EventContext) {
	e := &bag.Event{Code: "LOADED_ON_AIRCRAFT", Description: "Bag Loaded on Aircraft", Sets: bag.OnAircraft, Message: &bag.Message{
		Head: at("ZRH", "ZRHG1", "ZRHG2"), Happened: time.Date(2026, 3, 14, 11, 22, 33, 999_000_000, time.UTC), Raw: "BPM\r\n",
		Inbound: segment(t, "BA", "712", "2026-03-13", "LHR"), Outbound: segment(t, "LX", "100A", "2026-03-14", "JFK"),
		Onward:     []bag.Segment{segment(t, "AA", "1", "2026-03-14", "LAX"), segment(t, "AA", "2", "2026-03-15", "SFO")},
		Stowage:    parser.Stowage{Device: "AKE25219OZ", Compartment: "41"},
		Connection: &bag.Segment{Flight: bag.Flight{Airline: "AA", Number: "1"}, Carrier: "AA", Airport: "LAX"},
		Details:    parser.Details{PassengerStatus: "C", TagStatus: "A", PNR: "ABC123", FrequentFlyer: "LX123", AirlineData: []string{"ONE", "T\"WO"}},
	}}
	return e, bagjson.EventContext{Unknown: true, Raw: true, Reflighted: &bag.Reflighted{
		Plate: "0724100009", Flight: bag.Flight{Airline: "LX", Number: "14", Day: day(t, "2026-03-12")}, Carrier: "LX",
	}}
}

func TestEventShowsEveryMemberInTheOrderOfTheTable(t *testing.T) {
	e, shown := full(t)
	const want = `{"airport":"ZRH","event_code":"LOADED_ON_AIRCRAFT","event_desc":"Bag Loaded on Aircraft",` +
		`"local_date_time":"2026-03-14T12:22:33+01:00","utc_date_time":"2026-03-14T11:22:33Z","aircraft_compartment":"41",` +
		`"flight_info":{"inbound":{"date":"2026-03-13","flight":"712","airline":"BA","orig_airport":"LHR"},` +
		`"onward":[{"date":"2026-03-14","dest_airport":"LAX","flight":"1","airline":"AA"},{"date":"2026-03-15","dest_airport":"SFO","flight":"2","airline":"AA"}],` +
		`"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"100A","airline":"LX"}},` +
		`"flight_loading_info":{"dest_airport":"JFK","date":"2026-03-14","flight":"100A","airline":"LX"},` +
		`"connection_flight_info":{"dest_airport":"LAX","flight":"1","airline":"AA"},` +
		`"reflighted_info":{"bagtag":"0724100009","flights":{"airline":"LX","flight":"14","date":"2026-03-12"}},` +
		`"frequent_flyer":"LX123","passenger_status":"C","pnr":"ABC123","raw_bim_msg":"BPM\r\n","read_location":"ZRHG1","sent_location":"ZRHG2",` +
		`"stowage_device":"AKE25219OZ","unknown_bag_flag":"Y","bagtag_status":"A","longitude":"8.54917","latitude":"47.4647",` +
		`"airline_data_set":[{"airline_data":"ONE"},{"airline_data":"T\"WO"}]}`
	if got := string(bagjson.AppendEvent(nil, e, library, shown)); got != want {
		t.Errorf("event\n%s\nwant\n%s", got, want)
	}
}

func TestEventLeavesOutWhatIsAbsent(t *testing.T) {
	e := &bag.Event{Code: "TRACKED", Description: "Bag Tracked", Message: &bag.Message{Head: at("QQQ", "", ""), Happened: time.Date(2026, 3, 14, 11, 22, 33, 0, time.UTC), Raw: "BPM"}}
	const want = `{"airport":"QQQ","event_code":"TRACKED","event_desc":"Bag Tracked","local_date_time":"2026-03-14T11:22:33Z","utc_date_time":"2026-03-14T11:22:33Z"}`
	if got := string(bagjson.AppendEvent(nil, e, library, bagjson.EventContext{})); got != want {
		t.Errorf("event %s, want %s", got, want)
	}
}

func TestLoadingFlightIsShownOfEventsThatSetALoadedStatus(t *testing.T) {
	e, shown := full(t)
	for status := bag.NoStatus; status <= bag.Delayed; status++ {
		e.Sets = status
		if got := string(bagjson.AppendEvent(nil, e, library, shown)); strings.Contains(got, "flight_loading_info") != status.Loaded() {
			t.Errorf("%s: event %s", status, got)
		}
	}
}

func TestACompartmentThatIsTheAirportIsNotShown(t *testing.T) {
	e, shown := full(t)
	e.Message.Compartment = e.Message.Airport
	if got := string(bagjson.AppendEvent(nil, e, library, shown)); strings.Contains(got, "aircraft_compartment") {
		t.Errorf("event %s", got)
	}
}

func TestFlightsShowTheCodeOfTheAirlineAsSent(t *testing.T) {
	flight := segment(t, "LX", "14", "2026-03-12", "JFK")
	flight.Carrier = "SWR"
	e := &bag.Event{Code: "REFLIGHTED", Message: &bag.Message{
		Head: at("ZRH", "", ""), Outbound: flight, Inbound: flight, Onward: []bag.Segment{flight}, Connection: &flight,
	}}
	shown := bagjson.EventContext{Reflighted: &bag.Reflighted{Plate: "0724100009", Flight: flight.Flight, Carrier: flight.Carrier}}
	got := string(bagjson.AppendEvent(nil, e, library, shown))
	if strings.Count(got, `"airline":"SWR"`) != 5 || strings.Contains(got, `"LX"`) {
		t.Errorf("%s", got)
	}
}

func TestReflightedBagOfUnknownFlightHasNoFlights(t *testing.T) {
	e, _ := full(t)
	got := string(bagjson.AppendEvent(nil, e, library, bagjson.EventContext{Reflighted: &bag.Reflighted{Plate: "0724100009"}}))
	if !strings.Contains(got, `"reflighted_info":{"bagtag":"0724100009"},"frequent_flyer"`) {
		t.Errorf("event %s", got)
	}
}

func TestBagsShowTheirMembersInTheOrderOfTheirTables(t *testing.T) {
	whole := &bag.Bag{Plate: "0724100001", Rush: true, Description: bag.Description{PNR: "ABC123", Surname: "MUELLER", GivenName: "ANNA", Pieces: 2, Weight: 31, WeightUnit: "K"}}
	bare := &bag.Bag{Plate: "0724100001", Description: bag.Description{Pieces: -1, Weight: -1}}
	empty := &bag.Bag{Plate: "0724100001", Description: bag.Description{WeightUnit: "P"}}
	for name, tc := range map[string]struct{ got, want []byte }{
		"flight": {bagjson.AppendFlightBag(nil, whole, &bag.Leg{Status: bag.InContainer, Seat: "12A"}),
			[]byte(`{"bag":{"bagtag":"0724100001","rush_bag_indicator":"Y","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","loading_status":"Loaded in Container","seat_number":"12A","pnr":"ABC123"}}`)},
		"flight, bare":     {bagjson.AppendFlightBag(nil, bare, &bag.Leg{}), []byte(`{"bag":{"bagtag":"0724100001","rush_bag_indicator":"N"}}`)},
		"passenger":        {bagjson.AppendPassengerBag(nil, whole, "2724100001"), []byte(`{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","rush_bag_indicator":"Y","rushtag":"2724100001"}`)},
		"passenger, bare":  {bagjson.AppendPassengerBag(nil, bare, ""), []byte(`{"bagtag":"0724100001","rush_bag_indicator":"N"}`)},
		"history":          {bagjson.AppendBag(nil, whole), []byte(`{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","no_of_checked_bags":2,"total_weight_of_checkedin_bags":31,"weight_indicator":"K"}`)},
		"history, bare":    {bagjson.AppendBag(nil, bare), []byte(`{"bagtag":"0724100001"}`)},
		"history, nothing": {bagjson.AppendBag(nil, empty), []byte(`{"bagtag":"0724100001","no_of_checked_bags":0,"total_weight_of_checkedin_bags":0,"weight_indicator":"P"}`)},
	} {
		if string(tc.got) != string(tc.want) {
			t.Errorf("%s: %s, want %s", name, tc.got, tc.want)
		}
	}
}

func FuzzEventIsJSON(f *testing.F) {
	f.Add("ZRH", "BPM\r\n.V/1LZRH\x00\xff", "LX", "100A", int32(20500), "ONE", "\u2028</script>", int64(1_800_000_000_000), true)
	f.Add(`"`, `"`, `"`, `"`, int32(1), `"`, `"`, int64(1), false)
	f.Add("", "", "", "", int32(0), "", "", int64(0), false)
	f.Fuzz(func(t *testing.T, airport, raw, airline, number string, date int32, data, text string, ms int64, flag bool) {
		if ms < 0 || ms > 253_402_300_799_000 || date < 0 || date > 2_932_896 {
			t.Skip("no date of four digits")
		}
		flight := bag.Segment{Flight: bag.Flight{Airline: airline, Number: number, Day: bag.Day(date)}, Carrier: airline, Airport: airport}
		sets := bag.NoStatus
		if flag {
			sets = bag.InContainer
		}
		e := &bag.Event{Code: text, Description: data, Sets: sets, Message: &bag.Message{
			Head: at(airport, text, data), Raw: raw, Happened: time.UnixMilli(ms), Inbound: flight, Outbound: flight, Onward: []bag.Segment{flight, flight}, Connection: &flight,
			Stowage: parser.Stowage{Device: text, Compartment: data},
			Details: parser.Details{PassengerStatus: text, TagStatus: raw, PNR: text, FrequentFlyer: raw, AirlineData: []string{data, text}},
		}}
		shown := bagjson.EventContext{Unknown: flag, Raw: true, Reflighted: &bag.Reflighted{Plate: bag.Plate(text), Flight: flight.Flight, Carrier: airline}}
		prefix := []byte("kept")
		got := bagjson.AppendEvent(prefix, e, library, shown)
		if string(got[:4]) != "kept" {
			t.Fatal("what was in the buffer is gone")
		}
		if !json.Valid(got[4:]) {
			t.Fatalf("%s is no JSON", got[4:])
		}
	})
}
