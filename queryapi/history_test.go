package queryapi_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/flightref"
	"bagtrail/parser"
)

func TestHistoryChecksItsParameters(t *testing.T) {
	trails := &answers{}
	s := site(trails)
	for _, tc := range []struct {
		path string
		want []fault.ID
	}{
		{"tag//flightdate/2026-03-14", []fault.ID{fault.HistoryTagMissing}},
		{"tag/072410000/flightdate/2026-03-14", []fault.ID{fault.HistoryTagFormat}},
		{"tag/07241000011/flightdate/2026-03-14", []fault.ID{fault.HistoryTagFormat}},
		{"tag/072410000A/flightdate/2026-03-14", []fault.ID{fault.HistoryTagFormat}},
		{"tag/%D9%A0724100001/flightdate/2026-03-14", []fault.ID{fault.HistoryTagFormat}},
		{"tag/0724100001/flightdate/", []fault.ID{fault.HistoryDateMissing}},
		{"tag/0724100001/flightdate/2026-03-32", []fault.ID{fault.HistoryDateFormat}},
		{"tag/0724100001/flightdate/2026-03-14?pnr=ABC-12", []fault.ID{fault.HistoryPNRCharacters}},
		{"tag/0724100001/flightdate/2026-03-14?pnr=%C3%84BCDE", []fault.ID{fault.HistoryPNRCharacters}},
		{"tag/0724100001/flightdate/2026-03-14?pnr=%zzA", []fault.ID{fault.HistoryPNRCharacters, fault.HistoryPNRLength}},
		{"tag/0724100001/flightdate/2026-03-14?pnr=ABCD", []fault.ID{fault.HistoryPNRLength}},
		{"tag/0724100001/flightdate/2026-03-14?pnr=ABCDEFG", []fault.ID{fault.HistoryPNRLength}},
		{"tag/0724100001/flightdate/2026-03-14?pnr=A*", []fault.ID{fault.HistoryPNRCharacters, fault.HistoryPNRLength}},
		{"tag/0724100001/flightdate/2026-03-14?pax_surname=MUELLER2", []fault.ID{fault.HistorySurnameLetters}},
		{"tag/0724100001/flightdate/2026-03-14?pax_surname=VAN+DYK", []fault.ID{fault.HistorySurnameLetters}},
		{"tag/0724100001/flightdate/2026-03-14?pax_surname=%FF", []fault.ID{fault.HistorySurnameLetters}},
		{"tag/0724100001/flightdate/2026-03-14?pax_surname=" + strings.Repeat("A", 61), []fault.ID{fault.HistorySurnameLength}},
		{"tag/0724100001/flightdate/2026-03-14?pax_surname=" + strings.Repeat("1", 61), []fault.ID{fault.HistorySurnameLetters, fault.HistorySurnameLength}},
		{"tag/0724100001/flightdate/2026-03-14?include_bim=yes", []fault.ID{fault.HistoryIncludeBIM}},
		{"tag/0724100001/flightdate/2026-03-14?include_BIM=TRUE", []fault.ID{fault.HistoryIncludeBIM}},
		{"tag/0724100001/flightdate/2026-03-14?include_BIM=1&include_bim=true", []fault.ID{fault.HistoryIncludeBIM}},
		{"", []fault.ID{fault.HistoryTagMissing, fault.HistoryDateMissing}},
		{"tag/1/flightdate/2?callback=%28&include_bim=x&pax_surname=1&pnr=1", []fault.ID{
			fault.HistoryTagFormat, fault.HistoryDateFormat, fault.HistoryPNRLength, fault.HistorySurnameLetters, fault.HistoryIncludeBIM, fault.Callback}},
	} {
		trails.asked = ""
		if got := get(s, "demo", "/baggage/history/v1.0/"+tc.path); got != refusal(tc.want...) || trails.asked != "" {
			t.Errorf("%s: %s, want %s", tc.path, got, refusal(tc.want...))
		}
	}
}

func TestARepeatedParameterIsRefused(t *testing.T) {
	trails := &answers{}
	s := site(trails)
	for query, want := range map[string]fault.ID{
		"pnr=ABC123&pnr=ABC124": fault.HistoryPNRCharacters, "pnr=ABC123&pnr=ABC123": fault.HistoryPNRCharacters, "pnr=&pnr=ABC123": fault.HistoryPNRCharacters,
		"pnr=AB&x=1&%70nr=ABC123": fault.HistoryPNRCharacters, "pax_surname=A&pax_surname=B": fault.HistorySurnameLetters,
		"include_bim=true&include_bim=false": fault.HistoryIncludeBIM, "include_bim=true&include_BIM=true": fault.HistoryIncludeBIM,
		"callback=a&callback=": fault.Callback,
	} {
		trails.asked = ""
		if got := get(s, "demo", historyPath+"?"+query); got != refusal(want) || trails.asked != "" {
			t.Errorf("%s: %s, want %s", query, got, refusal(want))
		}
	}
}

func TestAnEmptyOptionalParameterIsAbsent(t *testing.T) {
	s := site(&answers{plate: []*bag.Bag{newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")}})
	want := get(s, "demo", historyPath)
	for _, query := range []string{"?pnr=", "?pnr", "?pax_surname=&pnr=abc123", "?include_bim=", "?include_BIM", "?callback=", "?pnr=&pax_surname=&include_bim=&callback="} {
		if got := get(s, "demo", historyPath+query); got != want || !strings.HasPrefix(got, `200 {"success":true`) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestHistoryShowsTheBagAndItsEvents(t *testing.T) {
	b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	b.Pieces, b.Weight, b.WeightUnit = 2, 31, "K"
	later := *b.Events[0].Message
	later.Kind, later.Happened, later.Raw = parser.BPM, time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), "BPM"
	b.Events = append(b.Events, bag.Event{Code: "SORTED", Description: "Bag Sorted", Message: &later})
	s := site(&answers{plate: []*bag.Bag{b}})
	const (
		head   = `200 {"success":true,"bag":{"bagtag":"0724100001","passenger_first_name":"ANNA","passenger_last_name":"MUELLER","no_of_checked_bags":2,"total_weight_of_checkedin_bags":31,"weight_indicator":"K"},"events":[`
		first  = `{"airport":"ZRH","event_code":"EXPECTED","event_desc":"Bag Expected","local_date_time":"2026-03-14T09:00:00+01:00","utc_date_time":"2026-03-14T08:00:00Z","flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"100","airline":"LX"}}`
		second = `{"airport":"ZRH","event_code":"SORTED","event_desc":"Bag Sorted","local_date_time":"2026-03-29T03:00:00+02:00","utc_date_time":"2026-03-29T01:00:00Z","flight_info":{"outbound":{"date":"2026-03-14","dest_airport":"JFK","flight":"100","airline":"LX"}}`
		raw    = `,"raw_bim_msg":"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100001001\r\nENDBSM\r\n"`
	)
	place := func() string {
		got := get(s, "demo", historyPath)
		from, to := strings.Index(got, `,"longitude"`), strings.Index(got, `},{"airport"`)
		return got[from:to]
	}()
	if want := head + first + place + `},` + second + place + `}]}`; get(s, "demo", historyPath) != want {
		t.Errorf("%s\nwant %s", get(s, "demo", historyPath), want)
	}
	if !strings.HasPrefix(place, `,"longitude":"8.5`) || !strings.Contains(place, `,"latitude":"47.4`) {
		t.Errorf("place %s", place)
	}
	want := head + first + raw + place + `},` + second + `,"raw_bim_msg":"BPM"` + place + `}]}`
	for _, query := range []string{"?include_bim=true", "?include_BIM=true", "?x=1&include_bim=true&pnr=abc123&pax_surname=mueller"} {
		if got := get(s, "demo", historyPath+query); got != want {
			t.Errorf("%s: %s\nwant %s", query, got, want)
		}
	}
	if got := get(s, "demo", historyPath+"?include_bim=false"); strings.Contains(got, "raw_bim_msg") {
		t.Errorf("raw message though not asked for: %s", got)
	}
}

func TestHistoryMatchesDatePNRAndSurname(t *testing.T) {
	b := newBag(t, "0724100001", "ABC123", "Van-Der Berg", "LX", "100", "ZRH", "JFK")
	nameless := newBag(t, "0724100001", "", "", "LX", "100", "ZRH", "JFK")
	for query, want := range map[string]bool{
		"": true, "?pnr=ABC123": true, "?pnr=aBc123": true, "?pnr=ABC124": false, "?pax_surname=VANDERBERG": true,
		"?pax_surname=vanderberg&pnr=abc123": true, "?pax_surname=VANDERBERG&pnr=abc124": false, "?pax_surname=VANDER": false,
	} {
		got := get(site(&answers{plate: []*bag.Bag{b}}), "demo", historyPath+query)
		if want != strings.HasPrefix(got, `200 {"success":true`) || !want && got != refusal(fault.HistoryNoBag) {
			t.Errorf("%q: %s", query, got)
		}
		if got := get(site(&answers{plate: []*bag.Bag{nameless}}), "demo", historyPath+query); (query == "") != strings.HasPrefix(got, `200 {"success":true`) {
			t.Errorf("%q for a bag without names: %s", query, got)
		}
	}
	if got := get(site(&answers{plate: []*bag.Bag{b}}), "demo", "/baggage/history/v1.0/tag/0724100001/flightdate/2026-03-15"); got != refusal(fault.HistoryNoBag) {
		t.Errorf("other date: %s", got)
	}
}

func TestHistoryOfSeveralBagsIsNarrowedByPNRAndSurname(t *testing.T) {
	one := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	two := newBag(t, "0724100001", "DEF456", "MEIER", "LX", "100", "ZRH", "JFK")
	gone := newBag(t, "0724100001", "GHI789", "HUBER", "LX", "100", "ZRH", "JFK")
	gone.Cancelled, gone.Legs[0].Living = true, false
	for _, tc := range []struct {
		name, query string
		bags        []*bag.Bag
		want        string // answer, or surname of the bag that is shown
	}{
		{"two", "", []*bag.Bag{one, two}, refusal(fault.HistorySeveralBags)},
		{"two, by PNR", "?pnr=DEF456", []*bag.Bag{one, two}, "MEIER"},
		{"two, by surname", "?pax_surname=mueller", []*bag.Bag{one, two}, "MUELLER"},
		{"cancelled beside another", "", []*bag.Bag{one, gone}, "MUELLER"},
		{"cancelled beside two others", "", []*bag.Bag{one, gone, two}, refusal(fault.HistorySeveralBags)},
		{"cancelled, asked for by name", "?pnr=GHI789", []*bag.Bag{one, gone}, "HUBER"},
		{"cancelled alone", "", []*bag.Bag{gone}, "HUBER"},
		{"two cancelled", "", []*bag.Bag{gone, gone}, refusal(fault.HistorySeveralBags)},
	} {
		got := get(site(&answers{plate: tc.bags}), "demo", historyPath+tc.query)
		if got != tc.want && !strings.Contains(got, `"passenger_last_name":"`+tc.want+`"`) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestHistoryOutOfScopeIsNotThere(t *testing.T) {
	swiss := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	british := newBag(t, "0724100001", "DEF456", "MEIER", "BA", "712", "LHR", "ZRH")
	cancelled := newBag(t, "0724100001", "GHI789", "HUBER", "LX", "100", "ZRH", "JFK")
	cancelled.Cancelled, cancelled.Legs[0].Living = true, false
	for _, tc := range []struct {
		key  string
		bags []*bag.Bag
		want string
	}{
		{"demo", []*bag.Bag{swiss, british}, refusal(fault.HistorySeveralBags)},
		{"lx", []*bag.Bag{swiss, british}, "MUELLER"},
		{"lx-at-jfk", []*bag.Bag{swiss, british}, "MUELLER"},
		{"ba", []*bag.Bag{swiss, british}, "MEIER"},
		{"lhr", []*bag.Bag{swiss, british}, "MEIER"},
		{"no-airline", []*bag.Bag{swiss, british}, refusal(fault.HistoryNotAuthorised)},
		{"ba", []*bag.Bag{swiss}, refusal(fault.HistoryNotAuthorised)},
		{"ba", nil, refusal(fault.HistoryNoBag)},
		{"concealing", []*bag.Bag{british}, refusal(fault.HistoryNoBag)},
		{"concealing", nil, refusal(fault.HistoryNoBag)},
		{"concealing", []*bag.Bag{swiss, british}, "MUELLER"},
		{"demo", nil, refusal(fault.HistoryNoBag)},
		{"lx", []*bag.Bag{cancelled, british}, "HUBER"},
	} {
		got := get(site(&answers{plate: tc.bags}), tc.key, historyPath)
		if got != tc.want && !strings.Contains(got, `"passenger_last_name":"`+tc.want+`"`) {
			t.Errorf("%s: %s, want %s", tc.key, got, tc.want)
		}
	}
}

// rush is a rush bag of LX that re-flights a bag of BA.
func rush(t *testing.T, named bag.Plate) *bag.Bag {
	t.Helper()
	original := newBag(t, "0125100001", "ABC123", "MUELLER", "BA", "712", "LHR", "ZRH")
	b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	b.Rush, b.Events[0].Message.Original = true, named
	if named != "" {
		b.Originals = []bag.Plate{named}
	}
	b.Reflighted = []bag.Reflighted{{Plate: original.Plate, Flight: original.Legs[0].Flight, Carrier: original.Legs[0].Carrier, Bag: original}}
	b.Events = append(b.Events, bag.Event{Code: "REFLIGHTED", Description: "Bag Re-flighted", Message: b.Events[0].Message})
	return b
}

func TestReflightedInfoStandsOnTheReflightedEventAndShowsNothingOutOfScope(t *testing.T) {
	const shown, plate = `"reflighted_info":{"bagtag":"0125100001","flights":{"airline":"BA","flight":"712","date":"2026-03-14"}}`, `"reflighted_info":{"bagtag":"0125100001"}`
	for _, tc := range []struct {
		name, key string
		bag       *bag.Bag
		want      string
	}{
		{"in scope", "demo", rush(t, ""), shown},
		{"out of scope, joined by the passenger", "lx", rush(t, ""), ""},
		{"out of scope, named by the rush bag itself", "lx", rush(t, "0125100001"), plate},
	} {
		got := get(site(&answers{plate: []*bag.Bag{tc.bag}}), tc.key, historyPath)
		if strings.Count(got, "reflighted_info") != strings.Count(tc.want, "reflighted_info") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s", tc.name, got)
		}
		if expected := strings.Index(got, "reflighted_info"); expected >= 0 && expected < strings.Index(got, "REFLIGHTED") {
			t.Errorf("%s: reflighted_info stands on another event: %s", tc.name, got)
		}
	}
}

func TestHistoryTellsByPlateAndDateAloneWhetherTheKeyMayNotSeeABag(t *testing.T) {
	swiss := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	british := newBag(t, "0724100001", "DEF456", "MEIER", "BA", "712", "LHR", "ZRH")
	for _, query := range []string{"", "?pax_surname=MEIER", "?pax_surname=HUBER", "?pnr=DEF456", "?pnr=XXX999"} {
		if got := get(site(&answers{plate: []*bag.Bag{british}}), "lx", historyPath+query); got != refusal(fault.HistoryNotAuthorised) {
			t.Errorf("%q: a guessed name changes the answer: %s", query, got)
		}
		want := refusal(fault.HistoryNoBag)
		if got := get(site(&answers{plate: []*bag.Bag{british, swiss}}), "lx", historyPath+query); query != "" && got != want {
			t.Errorf("%q beside a bag in scope: %s, want %s", query, got, want)
		}
	}
	otherDay := strings.Replace(historyPath, "2026-03-14", "2026-03-15", 1)
	if got := get(site(&answers{plate: []*bag.Bag{british}}), "lx", otherDay); got != refusal(fault.HistoryNoBag) {
		t.Errorf("on another day there is no bag: %s", got)
	}
}

func TestRawMessageIsShownIfAllOfItsFlightsAreInScope(t *testing.T) {
	b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	several := *b.Events[0].Message
	several.Raw = "BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\n.P/1MUELLER\n.F/BA713/14MAR/LHR\n.N/0125100001001\n.P/1SECRET\nENDBSM\n"
	report := bag.Message{Head: parser.Head{Version: parser.Version{Airport: "ZRH"}}, Raw: `{"station":"ZRH"}`, Happened: several.Happened}
	b.Events = append(b.Events, bag.Event{Code: "EXPECTED", Message: &several}, bag.Event{Code: "MISHANDLED", Message: &report})
	for key, want := range map[string]int{"demo": 2, "lx": 1, "lx-at-jfk": 0} { // which does not cover its airport
		got := get(site(&answers{plate: []*bag.Bag{b}}), key, historyPath+"?include_bim=true")
		if strings.Count(got, "raw_bim_msg") != want || strings.Contains(got, "SECRET") != (key == "demo") {
			t.Errorf("%s: %s", key, got)
		}
	}
}

// A script that a page runs, or has between its own lines, must not end before the answer does.
// test/hostile runs scripts in engines of JavaScript.
func TestAScriptHoldsNothingThatEndsIt(t *testing.T) {
	b := newBag(t, "0724100001", "ABC123", "</script><script>alert(1)//\u2028\u2029\"'\\`${x}", "LX", "100", "ZRH", "JFK")
	b.Events[0].Message.Raw = "BSM\x00\r\n\xff*/-->]]><!--"
	s := site(&answers{plate: []*bag.Bag{b}, passenger: []*bag.Bag{b}})
	for _, target := range []string{rawPath + "&", passengerPath + "?"} {
		got, plain := get(s, "demo", target+"callback=a.b"), get(s, "demo", target)
		if got != "200 /**/a.b("+plain[4:]+");" || strings.ContainsAny(got, "<>\u2028\u2029\x00") || !utf8.ValidString(got) || !json.Valid([]byte(plain[4:])) {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// manyGroups returns a bag of LX with an event for each of so many groups of one text, which name BA.
func manyGroups(t *testing.T, groups int) *bag.Bag {
	t.Helper()
	b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	text := "BPM\n.V/1LZRH\n.F/BA713/14MAR/LHR\n" + strings.Repeat(".N/0724100001001\n.S/\n", groups) + "ENDBPM\n"
	for range groups {
		m := *b.Events[0].Message
		m.Raw = text
		b.Events = append(b.Events, bag.Event{Code: "TRACKED", Message: &m})
	}
	return b
}

const (
	rawPath   = historyPath + "?include_bim=true"
	rawPathV1 = "/v1/bags/0724100001?fields=raw"
)

func TestTheTextOfManyEventsIsParsedOnce(t *testing.T) {
	for _, path := range []string{rawPath, rawPathV1} {
		allocated := func(groups int) uint64 {
			s := site(&answers{plate: []*bag.Bag{manyGroups(t, groups)}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := get(s, "lx", path)
			runtime.ReadMemStats(&after)
			if strings.Contains(got, "BA713") || strings.Count(got, "TRACKED") != groups {
				t.Errorf("%s: %.200s", path, got)
			}
			return after.TotalAlloc - before.TotalAlloc
		}
		allocated(50) // the first answer fills caches
		if few, many := allocated(50), allocated(500); many > 20*few {
			t.Errorf("%s: %d bytes allocated for 50 groups, %d for 500", path, few, many)
		}
	}
}

func TestABagThatIsTooLargeForTheMemoryOfAnswersIsNotHeldWhole(t *testing.T) {
	b := manyGroups(t, 500) // 6 MB of texts, which a slow machine too writes within the limit of a query
	for _, path := range []string{rawPath, rawPathV1} {
		s := boundedSite(&answers{plate: []*bag.Bag{b}}, flightref.None(), 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := get(s, "demo", path)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; !strings.HasPrefix(got, "503") || allocated > 5<<20 {
			t.Errorf("%s: %d bytes allocated for %.200s", path, allocated, got)
		}
		if got := get(site(&answers{plate: []*bag.Bag{b}}), "demo", path); strings.Count(got, "raw_bim_msg") != 501 || !json.Valid([]byte(got[strings.IndexByte(got, '{'):])) {
			t.Errorf("%s in parts: %.200s", path, got)
		}
	}
}

func TestAnAnswerEndsWithItsContext(t *testing.T) {
	s := site(&answers{plate: []*bag.Bag{manyGroups(t, 5)}})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, key := range []string{"demo", "lx"} {
		for _, path := range []string{rawPath, rawPathV1} {
			if w := ask(gone, s, "GET", path, "", "api_key", key); w.Code != 503 {
				t.Errorf("%s, %s: %d %.200s", key, path, w.Code, w.Body)
			}
		}
	}
}

// timetable knows legs by flight number and origin.
type timetable map[string]*flightref.Reference

func (x timetable) Departure(f bag.Flight, from, _ string) (*flightref.Reference, bool) {
	return x.Lookup(f, from, "")
}

func (x timetable) Lookup(f bag.Flight, origin, _ string) (*flightref.Reference, bool) {
	r, known := x[f.Number+origin]
	return r, known
}

func TestHistoryShowsPaxInquiryInfoOfLivingLegsWithReferenceData(t *testing.T) {
	reference := func(number, from, to string) *flightref.Reference {
		at := flightref.Times{Scheduled: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)}
		return &flightref.Reference{Flight: bag.Flight{Airline: "LX", Number: number}, Carrier: "LX", Origin: from, Destination: to, Departure: at, Arrival: at}
	}
	flights := timetable{"100ZRH": reference("100", "ZRH", "JFK"), "8JFK": reference("8", "JFK", "BOS"), "9ZRH": reference("9", "ZRH", "LHR")}
	b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	leg := func(number, from, to string, living bool) bag.Leg {
		return bag.Leg{Flight: bag.Flight{Airline: "LX", Number: number}, From: from, To: to, Living: living}
	}
	b.Legs = append(b.Legs, leg("7", "GVA", "ZRH", true), leg("8", "JFK", "BOS", true), leg("9", "ZRH", "LHR", false))
	got := get(siteWith(&answers{plate: []*bag.Bag{b}}, flights), "demo", historyPath)
	const want = `}],"pax_inquiry_info":[{"airline":"LX","flight_no":"100","orig_airport":"ZRH","dept_datetime_local":"2026-03-14T13:00:00+01:00","dept_datetime_utc":"2026-03-14T12:00:00Z",` +
		`"datetime_type":"SCHEDULED","paxinquiry_subscription":false,"arr_datetime_local":"2026-03-14T08:00:00-04:00","arr_datetime_utc":"2026-03-14T12:00:00Z"},` +
		`{"airline":"LX","flight_no":"8","orig_airport":"JFK","dept_datetime_local":"2026-03-14T08:00:00-04:00","dept_datetime_utc":"2026-03-14T12:00:00Z",` +
		`"datetime_type":"SCHEDULED","paxinquiry_subscription":false,"arr_datetime_local":"2026-03-14T08:00:00-04:00","arr_datetime_utc":"2026-03-14T12:00:00Z"}]}`
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant …%s", got, want)
	}
}
