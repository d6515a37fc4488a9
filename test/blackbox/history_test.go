package blackbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/test/service"
)

// where holds the position of airports, as every event there shows it.
var where = map[string]string{
	"ZRH": `"longitude":"8.54917","latitude":"47.4647"`,
	"LHR": `"longitude":"-0.46194","latitude":"51.4706"`,
	"JFK": `"longitude":"-73.778692","latitude":"40.639928"`,
}

// golden are the messages of one bag with everything that a message can hold (interface 2.3).
var golden = []record{
	{"2026-03-14T08:00:00Z", `BSM
.V/1TZRH
.F/LX8200A/14MAR/JFK/Y
.I/LH0184/13MAR/FRA/Y
.O/AA2034/14MAR/LAX/Y
.O/QF012/15MAR/SYD
.N/0724400001002
.S/Y/12A/C/023/1234//N/A
.W/K/2/31
.P/1MUELLER/ANNAMRS
.L/GOLD01
.Y/LX992003456789012/SEN
.R/TEXT ONE
.R/TEXT TWO
ENDBSM`},
	{"2026-03-14T08:15:30Z", "BPM\r\n.V/1TZRH\r\n.J/S/AG1/SC1/14MAR/0915L/BELT7/CHUTE3\r\n.F/LX8200A/14MAR/JFK\r\n.N/0724400001001\r\nENDBPM\r\n"},
	{"2026-03-14T09:15:40Z", `BPM
.V/1TZRH
.J/R//LDR1/14MAR/101520L/STAND
.F/LX8200A/14MAR/JFK
.U/AKE12345LX//B/Y/JFK/N/AA2034/14MAR/LAX
.N/0724400001001
ENDBPM`},
	{"2026-03-14T10:00:00Z", `BPM
.V/1TZRH
.J/R//LDR1/14MAR/0950Z
.F/LX8200A/14MAR/JFK
.U/AKE12345LX/41P
.N/0724400001001
ENDBPM`},
}

// A bag history shows every field of interface 2.3 that a message can supply, in the order of its
// tables.
func TestHistoryShowsEveryField(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, golden...)
	answer := func(raw func(i int) string) string {
		return `{"success":true,
		"bag":{"bagtag":"0724400001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","no_of_checked_bags":2,"total_weight_of_checkedin_bags":31,"weight_indicator":"K"},
		"events":[
		{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-14T09:00:00+01:00","utc_date_time":"2026-03-14T08:00:00Z",
		 "flight_info":{
			"inbound":{"date":"2026-03-13","flight":"184","airline":"LH","orig_airport":"FRA"},
			"onward":[{"date":"2026-03-14","dest_airport":"LAX","flight":"2034","airline":"AA"},{"date":"2026-03-15","dest_airport":"SYD","flight":"12","airline":"QF"}],
			"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8200A","airline":"LX"}},
		 "frequent_flyer":"LX992003456789012","passenger_status":"C","pnr":"GOLD01",` + raw(0) + `"bagtag_status":"A",` + where["ZRH"] + `,
		 "airline_data_set":[{"airline_data":"TEXT ONE"},{"airline_data":"TEXT TWO"}]},
		{"airport":"ZRH","event_code":"SORTED","event_desc":"Bag Sorted","local_date_time":"2026-03-14T09:15:00+01:00","utc_date_time":"2026-03-14T08:15:00Z",
		 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8200A","airline":"LX"}},
		 ` + raw(1) + `"read_location":"BELT7","sent_location":"CHUTE3",` + where["ZRH"] + `},
		{"airport":"ZRH","event_code":"LOADED_IN_CONTAINER","event_desc":"Bag Loaded in Container","local_date_time":"2026-03-14T10:15:20+01:00","utc_date_time":"2026-03-14T09:15:20Z",
		 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8200A","airline":"LX"}},
		 "flight_loading_info":{"dest_airport":"JFK","date":"2026-03-14","flight":"8200A","airline":"LX"},
		 "connection_flight_info":{"dest_airport":"LAX","date":"2026-03-14","flight":"2034","airline":"AA"},
		 ` + raw(2) + `"read_location":"STAND","stowage_device":"AKE12345LX",` + where["ZRH"] + `},
		{"airport":"ZRH","event_code":"LOADED_ON_AIRCRAFT","event_desc":"Bag Loaded on Aircraft","local_date_time":"2026-03-14T10:50:00+01:00","utc_date_time":"2026-03-14T09:50:00Z",
		 "aircraft_compartment":"41P",
		 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8200A","airline":"LX"}},
		 "flight_loading_info":{"dest_airport":"JFK","date":"2026-03-14","flight":"8200A","airline":"LX"},
		 ` + raw(3) + `"stowage_device":"AKE12345LX",` + where["ZRH"] + `}
		]}`
	}
	without := answer(func(int) string { return "" })
	with := answer(func(i int) string { return `"raw_bim_msg":` + service.Quoted(golden[i].text) + "," })
	target := service.HistoryPath("0724400001", "2026-03-14")
	settle(t, s, target, without)
	for _, query := range []string{"?include_bim=false", "?include_BIM=false", "?x=1", "?include_bims=true", "?pnr=GOLD01", "?pnr=gold01&pax_surname=mueller"} {
		expect(t, query, s.Get(target+query), 200, compact(t, without))
	}
	for _, query := range []string{"?include_bim=true", "?include_BIM=true", "?pnr=gOLD01&include_bim=true"} {
		expect(t, query, s.Get(target+query), 200, compact(t, with))
	}
	for _, day := range []string{"2026-03-13", "2026-03-15"} { // of the inbound flight, of the last onward flight
		expect(t, day, s.Get(service.HistoryPath("0724400001", day)), 200, compact(t, without))
	}
	for _, target := range []string{
		target + "?pnr=GOLD02", target + "?pax_surname=MUELLERX", target + "?pnr=GOLD01&pax_surname=MEIER",
		service.HistoryPath("0724400001", "2026-03-12"), service.HistoryPath("0724400001", "2026-03-16"), service.HistoryPath("0724400003", "2026-03-14"),
	} {
		expect(t, target, s.Get(target), 200, failure("SVCGBH002", "No matching bag found"))
	}
}

// pax_inquiry_info has one entry for each leg with reference data, with local times in the zones of
// its airports.
func TestHistoryShowsPaxInquiryInfoOfLegsWithReferenceData(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s,
		record{"2199-03-13T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8100/14MAR/JFK\n.O/AA1/14MAR/LAX\n.N/0724400011001\nENDBSM"},
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8101/14MAR/JFK\n.N/0724400012001\nENDBSM"})
	settle(t, s, service.HistoryPath("0724400011", "2199-03-14"), `{"success":true,"bag":{"bagtag":"0724400011"},"events":[
		{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2199-03-13T09:00:00+01:00","utc_date_time":"2199-03-13T08:00:00Z",
		 "flight_info":{"onward":[{"date":"2199-03-14","dest_airport":"LAX","flight":"1","airline":"AA"}],"outbound":{"date":"2199-03-14","dest_airport":"JFK","flight":"8100","airline":"LX"}},`+where["ZRH"]+`}],
		"pax_inquiry_info":[{"airline":"LX","flight_no":"8100","orig_airport":"ZRH",
		 "dept_datetime_local":"2199-03-14T13:25:00+01:00","dept_datetime_utc":"2199-03-14T12:25:00Z","datetime_type":"ESTIMATED","paxinquiry_subscription":true,
		 "blackout_start_local":"2199-03-14T11:10:00+01:00","blackout_start_utc":"2199-03-14T10:10:00Z",
		 "arr_datetime_local":"2199-03-14T16:15:00-04:00","arr_datetime_utc":"2199-03-14T20:15:00Z"}]}`)
	settle(t, s, service.HistoryPath("0724400012", "2026-03-14"), `{"success":true,"bag":{"bagtag":"0724400012"},"events":[
		{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-14T09:00:00+01:00","utc_date_time":"2026-03-14T08:00:00Z",
		 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8101","airline":"LX"}},`+where["ZRH"]+`}],
		"pax_inquiry_info":[{"airline":"LX","flight_no":"8101","orig_airport":"ZRH",
		 "dept_datetime_local":"2026-03-14T13:31:00+01:00","dept_datetime_utc":"2026-03-14T12:31:00Z","datetime_type":"ACTUAL","paxinquiry_subscription":false,
		 "arr_datetime_local":"2026-03-14T16:02:00-04:00","arr_datetime_utc":"2026-03-14T20:02:00Z"}]}`)
	// By the reference data the flight has departed, and the bag was not loaded.
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8101", "2026-03-14"),
		`{"success":true,"bags":[{"bag":{"bagtag":"0724400012","rush_bag_indicator":"N","loading_status":"Delayed"}}]}`)
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8100", "2199-03-14"),
		`{"success":true,"bags":[{"bag":{"bagtag":"0724400011","rush_bag_indicator":"N","loading_status":"Not Loaded"}}]}`)
}

// Several bags of a plate and date are SVCGBH001; PNR and surname narrow the query (interface 4.2).
func TestSeveralBagsAreNarrowedByPNRAndSurname(t *testing.T) {
	t.Parallel()
	s := withTwins(t)
	target := service.HistoryPath(twin, "2026-03-14")
	several := failure("SVCGBH001", "Multiple bags found, a single bag history cannot be returned")
	expect(t, "both", s.Get(target), 200, several)
	for query, surname := range map[string]string{
		"?pnr=TWIN01": "MEIER", "?pnr=twin02": "HUBER", "?pax_surname=Meier": "MEIER", "?pax_surname=huber&pnr=TWIN02": "HUBER",
	} {
		got := s.Get(target + query)
		if got.Status != 200 || !strings.HasPrefix(got.Body, `{"success":true,"bag":{"bagtag":"`+twin+`"`) || !strings.Contains(got.Body, `"passenger_last_name":"`+surname+`"`) {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
		}
	}
	expect(t, "neither", s.Get(target+"?pnr=TWIN01&pax_surname=HUBER"), 200, failure("SVCGBH002", "No matching bag found"))
}

// The surname is compared without case, blanks and hyphens (rules §4).
func TestSurnameIsComparedWithoutBlanksAndHyphens(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8201/14MAR/JFK\n.N/0724400021001\n.P/2VAN-DER BERG/JAN PIETMR\nENDBSM"})
	target := service.HistoryPath("0724400021", "2026-03-14")
	want := `{"success":true,"bag":{"bagtag":"0724400021","passenger_first_name":"JAN PIET","passenger_last_name":"VAN-DER BERG"},"events":[
		{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-14T09:00:00+01:00","utc_date_time":"2026-03-14T08:00:00Z",
		 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8201","airline":"LX"}},` + where["ZRH"] + `}]}`
	settle(t, s, target+"?pax_surname=vanderberg", want)
	expect(t, "beginning", s.Get(target+"?pax_surname=vander"), 200, failure("SVCGBH002", "No matching bag found"))
}

// shape holds the parts of a history that tests of rules check.
type shape struct {
	Success bool
	Errors  []struct {
		Code string `json:"error_code"`
	}
	Bag struct {
		Last string `json:"passenger_last_name"`
	}
	Events []struct {
		Airport    string
		Code       string          `json:"event_code"`
		Desc       string          `json:"event_desc"`
		Local      string          `json:"local_date_time"`
		UTC        string          `json:"utc_date_time"`
		Unknown    string          `json:"unknown_bag_flag"`
		Device     string          `json:"stowage_device"`
		Reflighted json.RawMessage `json:"reflighted_info"`
	}
}

func (h shape) codes() string {
	var list []string
	for _, e := range h.Events {
		list = append(list, e.Code)
	}
	return strings.Join(list, " ")
}

// historyOf asks until the bag's events have those codes, oldest first; "" means no bag.
func historyOf(t testing.TB, s *service.Service, plate, day, codes string) shape {
	t.Helper()
	var got service.Answer
	var h shape
	s.Until(patience, func() bool {
		got, h = s.Get(service.HistoryPath(plate, day)), shape{}
		if err := json.Unmarshal([]byte(got.Body), &h); err != nil {
			t.Fatalf("%v: %s", err, got.Body)
		}
		return h.codes() == codes
	})
	if h.codes() != codes {
		t.Errorf("history of %s: %q, want %q: %s", plate, h.codes(), codes, got.Body)
	}
	return h
}

// listedAs waits until a list of bags for a flight shows the status of a plate, or does not have the
// plate if the status is "gone". The history may be there a moment earlier, on a cluster.
func listedAs(t testing.TB, s *service.Service, target, plate, status string) {
	t.Helper()
	var got service.Answer
	if !s.Until(patience, func() bool {
		var answer struct {
			Bags []struct {
				Bag struct {
					Plate  string `json:"bagtag"`
					Status string `json:"loading_status"`
				}
			}
		}
		got = s.Get(target)
		if err := json.Unmarshal([]byte(got.Body), &answer); err != nil {
			t.Fatalf("%v: %s", err, got.Body)
		}
		found := "gone"
		for _, b := range answer.Bags {
			if b.Bag.Plate == plate {
				found = b.Bag.Status
			}
		}
		return found == status
	}) {
		t.Errorf("%s: %s is not %q: %s", target, plate, status, got.Body)
	}
}

// Every row of the event table makes its event, and sets the loading status of its leg (rules §2).
func TestEveryEventHasItsCodeTextAndLoadingStatus(t *testing.T) {
	t.Parallel()
	s := common(t)
	const (
		bsm = "BSM\n%s.V/1LZRH\n.F/LX8300/14MAR/JFK\n.N/%s001\n%sENDBSM"
		bpm = "BPM\n.V/1LZRH\n.F/LX8300/14MAR/JFK\n%[3]sENDBPM"
	)
	source := func(plate, status, more string) string { return fmt.Sprintf(bsm, status, plate, more) }
	processed := func(plate, body string) string {
		return fmt.Sprintf(bpm, "", "", strings.ReplaceAll(body, "PLATE", plate+"001"))
	}
	cases := []struct {
		name, before, message, code, desc, status string // before: a BSM that is sent first
	}{
		{"DEL", "new", "DEL", "CANCELLED", "Bag Cancelled", "gone"},
		{"BSM with .E/RUSH", "", ".E/RUSH\n", "REFLIGHTED", "Bag Re-flighted", "Not Loaded"},
		{"CHG to another flight", "other flight", "CHG", "REROUTED", "Bag Rerouted", "Not Loaded"},
		{"CHG, boarded", ".S/Y/12A/C\n", "CHG .S/Y/12A/B\n", "PAX_BOARDED", "Passenger Boarded", "Not Loaded"},
		{"CHG, boarded, without predecessor", "", "CHG .S/Y/12A/B\n", "PAX_BOARDED", "Passenger Boarded", "Not Loaded"},
		{"CHG", "new", "CHG .S/Y/12A/C\n", "EXPECTED", "Bag Expected", "Not Loaded"},
		{"BSM", "", "", "EXPECTED", "Bag Expected", "Not Loaded"},
		{"ADD", "", "ADD", "EXPECTED", "Bag Expected", "Not Loaded"},
		{".B/OFF", "new", "BPM .B/OFF/PLATE\n", "OFFLOADED", "Bag Offloaded", "Offloaded"},
		{".B/OND", "new", "BPM .B/OND/PLATE\n", "OND", "Bag on Hand, Not Authorised to Load", "Not Loaded"},
		{".B/ONA", "new", "BPM .B/ONA/PLATE\n", "ONA", "Bag on Hand, Authorised to Load", "Not Loaded"},
		{".B/UNS", "new", "BPM .B/UNS/PLATE\n", "UNS", "Bag Unseen", "Not Loaded"},
		{".B/NAL", "new", "BPM .B/NAL/PLATE\n", "NAL", "Bag Loaded, Not Authorised to Load", "Loaded on Aircraft"},
		{".B/NAL in a container", "new", "BPM .U/AKE8300LX\n.B/NAL/PLATE\n", "NAL", "Bag Loaded, Not Authorised to Load", "Loaded in Container"},
		{".B/NAL in a compartment", "new", "BPM .U/AKE8300LX/41P\n.B/NAL/PLATE\n", "NAL", "Bag Loaded, Not Authorised to Load", "Loaded on Aircraft"},
		{".B of the configuration", "new", "BPM .B/LCK/PLATE\n", "LCK", "Bag Irregularity", "Not Loaded"},
		{".B before .N", "new", "BPM .N/PLATE\n.B/OFF/PLATE\n", "OFFLOADED", "Bag Offloaded", "Offloaded"},
		{".U compartment", "new", "BPM .J/S\n.U//41P\n.N/PLATE\n", "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", "Loaded on Aircraft"},
		{".U device", "new", "BPM .J/S\n.U/AKE8300LX\n.N/PLATE\n", "LOADED_IN_CONTAINER", "Bag Loaded in Container", "Loaded in Container"},
		{".U device, field 2 the airport", "new", "BPM .J/S\n.U/AKE8300LX/ZRH\n.N/PLATE\n", "LOADED_IN_CONTAINER", "Bag Loaded in Container", "Loaded in Container"},
		{".X REJ", "new", "BPM .J/S\n.X/SEL/REJ\n.N/PLATE\n", "SCREENING_FAILED", "Bag Screening Failed", "Not Loaded"},
		{".X REF", "new", "BPM .X/SEL/CLR\n.X/SEL/REF\n.N/PLATE\n", "SCREENING_FAILED", "Bag Screening Failed", "Not Loaded"},
		{".X CLR", "new", "BPM .J/S\n.X/SEL/CLR\n.N/PLATE\n", "SCREENING_PASSED", "Bag Screening Passed", "Not Loaded"},
		{".X else", "new", "BPM .J/S\n.X/SEL/UCL\n.N/PLATE\n", "SCREENED", "Bag Screened", "Not Loaded"},
		{".J/S", "new", "BPM .J/S\n.N/PLATE\n", "SORTED", "Bag Sorted", "Not Loaded"},
		{".J/G", "new", "BPM .J/G\n.N/PLATE\n", "GROUND_TRACKED", "Bag Ground Tracked", "Not Loaded"},
		{".J/H", "new", "BPM .J/H\n.N/PLATE\n", "HAND_SCANNED", "Bag Hand Scanned", "Not Loaded"},
		{".J/R", "new", "BPM .J/R\n.N/PLATE\n", "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", "Loaded on Aircraft"},
		{"no .J", "new", "BPM .N/PLATE\n", "LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", "Loaded on Aircraft"},
		{".J else", "new", "BPM .J/Q\n.N/PLATE\n", "TRACKED", "Bag Tracked", "Not Loaded"},
	}
	made := map[string]bool{bag.EventArrived: true, bag.EventMishandled: true, bag.EventCheckedIn: true} // ARRIVED in internal/trail, MISHANDLED by a report, CHECKED_IN never
	for _, tc := range cases {
		made[tc.code] = true
	}
	for _, e := range bag.EventCodes() {
		if !made[e.Code] {
			t.Errorf("no message makes %s", e.Code)
		}
	}
	for i, tc := range cases {
		plate := fmt.Sprintf("07244100%02d", i)
		codes := tc.code
		if tc.before != "" {
			first := source(plate, "", tc.before)
			switch tc.before {
			case "new":
				first = source(plate, "", "")
			case "other flight":
				first = strings.Replace(source(plate, "", ""), "LX8300", "LX8301", 1)
			}
			feed(t, s, record{"2026-03-14T07:00:00Z", first})
			codes = "EXPECTED " + codes
		}
		var message string
		switch status, more, _ := strings.Cut(tc.message, " "); status {
		case "BPM":
			message = processed(plate, more)
		case "CHG", "DEL", "ADD":
			message = source(plate, status+"\n", more)
		default:
			message = source(plate, "", tc.message)
		}
		feed(t, s, record{"2026-03-14T08:00:00Z", message})
		t.Run(tc.name, func(t *testing.T) {
			s := s.For(t)
			h := historyOf(t, s, plate, "2026-03-14", codes)
			if last := len(h.Events) - 1; last < 0 || h.Events[last].Desc != tc.desc {
				t.Errorf("events %+v, want %q", h.Events, tc.desc)
			}
			listedAs(t, s, service.FlightPath("ZRH", "D", "LX", "8300", "2026-03-14"), plate, tc.status)
		})
	}
}

// A cancelled bag is not listed. Its history is shown only if no other bag matches. The same BSM
// after a DEL creates it again.
func TestACancelledBagIsNotListed(t *testing.T) {
	t.Parallel()
	s := common(t)
	const create = "BSM\n.V/1LZRH\n.F/LX8310/14MAR/JFK\n.N/0724420001001\n.P/GONE/ANNA\n.L/GONE01\nENDBSM"
	cancel := strings.Replace(create, "BSM\n", "BSM\nDEL\n", 1)
	feed(t, s, record{"2026-03-14T08:00:00Z", create}, record{"2026-03-14T08:01:00Z", cancel})
	historyOf(t, s, "0724420001", "2026-03-14", "EXPECTED CANCELLED")
	flight, passenger := service.FlightPath("ZRH", "D", "LX", "8310", "2026-03-14"), service.PassengerPath("GONE01", "2026-03-14")
	expect(t, "flight", s.Get(flight), 200, failure("SVCGBF001", "No bags found for flight"))
	expect(t, "passenger", s.Get(passenger), 200, failure("SVCGBH002", "No matching bags found"))

	feed(t, s, record{"2026-03-14T08:02:00Z", "BSM\n.V/1LZRH\n.F/LX8310/14MAR/JFK\n.N/0724420001001\n.P/OTHER/BEAT\n.L/GONE02\nENDBSM"})
	if h := historyOf(t, s, "0724420001", "2026-03-14", "EXPECTED"); h.Bag.Last != "OTHER" {
		t.Errorf("history of %q, want that of the bag that lives", h.Bag.Last)
	}
	feed(t, s, record{"2026-03-14T08:03:00Z", create}) // within the window of duplicates, but after a DEL
	settle(t, s, flight, `{"success":true,"bags":[
		{"bag":{"bagtag":"0724420001","rush_bag_indicator":"N","passenger_first_name":"ANNA","passenger_last_name":"GONE","loading_status":"Not Loaded","pnr":"GONE01"}},
		{"bag":{"bagtag":"0724420001","rush_bag_indicator":"N","passenger_first_name":"BEAT","passenger_last_name":"OTHER","loading_status":"Not Loaded","pnr":"GONE02"}}]}`)
	settle(t, s, passenger, `{"success":true,"bags":[{"bagtag":"0724420001","passenger_first_name":"ANNA","passenger_last_name":"GONE","rush_bag_indicator":"N"}]}`)
}

// A bag is unknown while no BSM belongs to it: unknown_bag_flag is "Y" on its events, and absent
// once a BSM explains it.
func TestABagIsUnknownUntilABSMExplainsIt(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s, record{"2026-03-14T08:00:00Z", "BPM\n.V/1LZRH\n.J/S//S1/14MAR/0830L\n.F/LX8311/14MAR/JFK\n.N/0724430001001\nENDBPM"})
	target := service.HistoryPath("0724430001", "2026-03-14")
	event := func(flag string) string {
		return `{"airport":"ZRH","event_code":"SORTED","event_desc":"Bag Sorted","local_date_time":"2026-03-14T08:30:00+01:00","utc_date_time":"2026-03-14T07:30:00Z",
			"flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8311","airline":"LX"}},` + flag + where["ZRH"] + `}`
	}
	settle(t, s, target, `{"success":true,"bag":{"bagtag":"0724430001"},"events":[`+event(`"unknown_bag_flag":"Y",`)+`]}`)
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8311", "2026-03-14"), `{"success":true,"bags":[{"bag":{"bagtag":"0724430001","rush_bag_indicator":"N","loading_status":"Not Loaded"}}]}`)
	feed(t, s, record{"2026-03-14T09:00:00Z", "BSM\n.V/1LZRH\n.F/LX8311/14MAR/JFK\n.N/0724430001001\nENDBSM"})
	settle(t, s, target, `{"success":true,"bag":{"bagtag":"0724430001"},"events":[`+event("")+`,
		{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-14T10:00:00+01:00","utc_date_time":"2026-03-14T09:00:00Z",
		 "flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"8311","airline":"LX"}},`+where["ZRH"]+`}]}`)
}

// A rush bag re-flights an original: reflighted_info on its event, rushtag on the original, the
// indicator on itself (rules §3).
func TestARushBagReflightsItsOriginal(t *testing.T) {
	t.Parallel()
	s := common(t)
	feed(t, s,
		record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8320/14MAR/JFK\n.N/0724440001001\n.P/RUSHED/ANNA\n.L/RUSH01\nENDBSM"},
		record{"2026-03-15T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8321/15MAR/JFK\n.N/2724440002001\n.E/RUSH\n.R/0724440001\n.P/RUSHED/ANNA\n.L/RUSH01\nENDBSM"},
		record{"2026-03-16T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8322/16MAR/JFK\n.N/2724440003001\n.M/0724440001\n.P/RUSHED/ANNA\n.L/RUSH01\nENDBSM"})
	settle(t, s, service.HistoryPath("2724440002", "2026-03-15"), `{"success":true,"bag":{"bagtag":"2724440002","passenger_first_name":"ANNA","passenger_last_name":"RUSHED"},"events":[
		{"airport":"ZRH","event_code":"REFLIGHTED","event_desc":"Bag Re-flighted","local_date_time":"2026-03-15T09:00:00+01:00","utc_date_time":"2026-03-15T08:00:00Z",
		 "flight_info":{"outbound":{"date":"2026-03-15","dest_airport":"JFK","flight":"8321","airline":"LX"}},
		 "reflighted_info":{"bagtag":"0724440001","flights":{"airline":"LX","flight":"8320","date":"2026-03-14"}},
		 "pnr":"RUSH01",`+where["ZRH"]+`,"airline_data_set":[{"airline_data":"0724440001"}]}]}`)
	settle(t, s, service.PassengerPath("rush01", "2026-03-14"),
		`{"success":true,"bags":[{"bagtag":"0724440001","passenger_first_name":"ANNA","passenger_last_name":"RUSHED","rush_bag_indicator":"N","rushtag":"2724440003"}]}`)
	settle(t, s, service.PassengerPath("RUSH01", "2026-03-16"),
		`{"success":true,"bags":[{"bagtag":"2724440003","passenger_first_name":"ANNA","passenger_last_name":"RUSHED","rush_bag_indicator":"Y"}]}`)
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8322", "2026-03-16"),
		`{"success":true,"bags":[{"bag":{"bagtag":"2724440003","rush_bag_indicator":"Y","passenger_first_name":"ANNA","passenger_last_name":"RUSHED","loading_status":"Not Loaded","pnr":"RUSH01"}}]}`)
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8320", "2026-03-14"),
		`{"success":true,"bags":[{"bag":{"bagtag":"0724440001","rush_bag_indicator":"N","passenger_first_name":"ANNA","passenger_last_name":"RUSHED","loading_status":"Delayed","pnr":"RUSH01"}}]}`)
	feed(t, s, record{"2026-03-16T09:00:00Z", "BPM\n.V/1LZRH\n.J/R\n.F/LX8322/16MAR/JFK\n.U//41P\n.N/2724440003001\nENDBPM"})
	settle(t, s, service.FlightPath("ZRH", "D", "LX", "8322", "2026-03-16"),
		`{"success":true,"bags":[{"bag":{"bagtag":"2724440003","rush_bag_indicator":"Y","passenger_first_name":"ANNA","passenger_last_name":"RUSHED","loading_status":"Loaded on Aircraft","pnr":"RUSH01"}}]}`)
	// An original without messages is shown by its plate alone.
	feed(t, s, record{"2026-03-15T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8323/15MAR/JFK\n.N/2724440004001\n.M/0724440999\nENDBSM"})
	if h := historyOf(t, s, "2724440004", "2026-03-15", "REFLIGHTED"); len(h.Events) == 1 && string(h.Events[0].Reflighted) != `{"bagtag":"0724440999"}` {
		t.Errorf("reflighted_info %s", h.Events[0].Reflighted)
	}
}

// A BPM with a stowage device and no tags positions a container: every bag in it gets the event
// (rules §2).
func TestAContainerPositioningIsAnEventOfEveryBagInIt(t *testing.T) {
	t.Parallel()
	s := common(t)
	load := func(plate, device, moment string) record {
		return record{moment, "BPM\n.V/1LZRH\n.J/R//L1/14MAR/1000L\n.F/LX8330/14MAR/JFK\n.U/" + device + "\n.N/" + plate + "001\nENDBPM"}
	}
	position := record{"2026-03-14T10:00:00Z", "BPM\n.V/1LZRH\n.J/R//L1/14MAR/1045L\n.F/LX8330/14MAR/JFK\n.U/AKE8330LX/32L\nENDBPM"}
	feed(t, s, load("0724450001", "AKE8330LX", "2026-03-14T09:00:00Z"), position, // the container is positioned before the second bag is known
		load("0724450002", "AKE8330LX", "2026-03-14T11:00:00Z"), load("0724450003", "AKE8331LX", "2026-03-14T09:00:00Z"))
	for _, plate := range []string{"0724450001", "0724450002"} {
		h := historyOf(t, s, plate, "2026-03-14", "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT")
		if len(h.Events) == 2 && (h.Events[1].Device != "AKE8330LX" || h.Events[1].UTC != "2026-03-14T09:45:00Z") {
			t.Errorf("%s: %+v", plate, h.Events[1])
		}
	}
	historyOf(t, s, "0724450003", "2026-03-14", "LOADED_IN_CONTAINER")
	target := service.FlightPath("ZRH", "D", "LX", "8330", "2026-03-14")
	for plate, want := range map[string]string{"0724450001": "Loaded on Aircraft", "0724450002": "Loaded on Aircraft", "0724450003": "Loaded in Container"} {
		listedAs(t, s, target, plate, want)
	}
}

// Local times have the airport's offset at that instant. Local times that exist twice or not at all
// are read with the offset before the change (rules §2).
func TestLocalTimesHaveTheOffsetOfTheirInstant(t *testing.T) {
	t.Parallel()
	s := common(t)
	for i, tc := range []struct{ name, airport, day, read, received, local, utc string }{
		{"before the spring gap", "ZRH", "29MAR", "0159L", "2026-03-29T02:00:00Z", "2026-03-29T01:59:00+01:00", "2026-03-29T00:59:00Z"},
		{"in the spring gap", "ZRH", "29MAR", "0230L", "2026-03-29T02:00:00Z", "2026-03-29T03:30:00+02:00", "2026-03-29T01:30:00Z"},
		{"behind the spring gap", "ZRH", "29MAR", "0300L", "2026-03-29T02:00:00Z", "2026-03-29T03:00:00+02:00", "2026-03-29T01:00:00Z"},
		{"before the double hour", "ZRH", "25OCT", "0159L", "2026-10-25T02:00:00Z", "2026-10-25T01:59:00+02:00", "2026-10-24T23:59:00Z"},
		{"the double hour", "ZRH", "25OCT", "0230L", "2026-10-25T02:00:00Z", "2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00Z"},
		{"the double hour, second time, as UTC", "ZRH", "25OCT", "0130Z", "2026-10-25T02:00:00Z", "2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00Z"},
		{"behind the double hour", "ZRH", "25OCT", "0300L", "2026-10-25T03:00:00Z", "2026-10-25T03:00:00+01:00", "2026-10-25T02:00:00Z"},
		{"offset zero is Z", "LHR", "14JAN", "1200L", "2026-01-14T12:30:00Z", "2026-01-14T12:00:00Z", "2026-01-14T12:00:00Z"},
		{"London in summer", "LHR", "14JUL", "1200L", "2026-07-14T12:30:00Z", "2026-07-14T12:00:00+01:00", "2026-07-14T11:00:00Z"},
		{"seconds, half-hours, an airport of the configuration", "XQZ", "14MAR", "120015L", "2026-03-14T12:30:00Z", "2026-03-14T12:00:15+05:45", "2026-03-14T06:15:15Z"},
		{"a second after it was received", "ZRH", "14MAR", "090001L", "2026-03-14T08:00:00Z", "2026-03-14T09:00:00+01:00", "2026-03-14T08:00:00Z"},
		{"no such time", "ZRH", "14MAR", "2560L", "2026-03-14T08:00:00Z", "2026-03-14T09:00:00+01:00", "2026-03-14T08:00:00Z"},
	} {
		plate := fmt.Sprintf("07244600%02d", i)
		feed(t, s, record{tc.received, "BPM\n.V/1L" + tc.airport + "\n.J/S//S1/" + tc.day + "/" + tc.read + "\n.F/LX8340/" + tc.day + "/JFK\n.N/" + plate + "001\nENDBPM"})
		t.Run(tc.name, func(t *testing.T) {
			h := historyOf(t, s.For(t), plate, at(t, tc.utc).Format("2006")+at(t, tc.received).Format("-01-")+tc.day[:2], "SORTED")
			if len(h.Events) == 1 && (h.Events[0].Local != tc.local || h.Events[0].UTC != tc.utc) {
				t.Errorf("%s, %s; want %s, %s", h.Events[0].Local, h.Events[0].UTC, tc.local, tc.utc)
			}
		})
	}
}

// 01JAN received on 31 December is next year; 31DEC received on 1 January is last year; 29FEB is in
// a leap year.
func TestAMissingYearIsThatOfTheNearestDate(t *testing.T) {
	t.Parallel()
	s := common(t)
	for i, tc := range []struct{ received, written, day string }{
		{"2026-12-31T22:00:00Z", "01JAN", "2027-01-01"},
		{"2027-01-01T00:10:00Z", "31DEC", "2026-12-31"},
		{"2027-01-01T00:10:00Z", "01JAN", "2027-01-01"},
		{"2026-12-31T23:59:59Z", "31DEC", "2026-12-31"},
		{"2027-02-27T08:00:00Z", "29FEB", "2028-02-29"},
		{"2025-03-01T08:00:00Z", "29FEB", "2024-02-29"},
		{"2026-03-14T08:00:00Z", "14mar", "2026-03-14"},
	} {
		plate := fmt.Sprintf("07244700%02d", i)
		feed(t, s, record{tc.received, "BSM\n.V/1LZRH\n.F/LX8350/" + tc.written + "/JFK\n.N/" + plate + "001\nENDBSM"})
		t.Run(tc.written+" received "+tc.received, func(t *testing.T) {
			historyOf(t, s.For(t), plate, tc.day, "EXPECTED")
			listedAs(t, s.For(t), service.FlightPath("ZRH", "D", "LX", "8350", tc.day), plate, "Not Loaded")
		})
	}
}
