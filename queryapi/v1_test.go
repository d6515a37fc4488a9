package queryapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/flightref"
	"bagtrail/internal/trail"
	"bagtrail/internal/web"
	"bagtrail/test/race"
	"bagtrail/test/service"
)

// askV1 asks with a key, by POST if there is a body.
func askV1(s *web.Site, key, target, body string) *httptest.ResponseRecorder {
	if body == "" {
		return ask(context.Background(), s, "GET", target, "", "Authorization", "Bearer "+key)
	}
	return ask(context.Background(), s, "POST", target, body, "Authorization", "Bearer "+key, "Content-Type", "application/json")
}

// faultsV1 returns the faults of an answer 400: of each its parameter or pointer, and its code.
func faultsV1(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var p struct {
		Errors []struct{ Parameter, Pointer, Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 400 {
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	var all []string
	for _, e := range p.Errors {
		all = append(all, e.Parameter+e.Pointer+" "+e.Code)
	}
	return strings.Join(all, ", ")
}

func TestEveryFaultOfAQuestionOfV1IsTold(t *testing.T) {
	s := site(&answers{err: errors.New("must not be asked")})
	const plate = "/v1/bags/0724100001"
	plates := url.Values{}
	for i := range 101 {
		plates.Add("plate", fmt.Sprintf("0724%06d", i))
	}
	for _, tc := range []struct{ target, body, want string }{
		{"/v1/bags/724100001", "", "plate malformed"},
		{"/v1/bags/07241000011?date=14MAR&fields=all&limit=1&date=2026-03-14", "", "limit unknown, plate malformed, date repeated, fields malformed"},
		{plate + "?plate=0724100001", "", "plate unknown, plate too_many"},
		{plate + "?Date=2026-03-14", "", "Date unknown"},
		{plate + "?=x&=", "", "=x unknown, = unknown"},
		{plate + "?date=", "", "date malformed"},
		{plate + "?date=2026-02-30", "", "date malformed"},
		{"/v1/bags", "", "plate missing"},
		{"/v1/bags?pnr=ABC123", "", "date missing"},
		{"/v1/bags?date=2026-03-14", "", "plate missing"},
		{"/v1/bags?pnr=ABC-12&date=2026-03-14", "", "pnr malformed"},
		{"/v1/bags?plate=0724100001&pnr=ABC123&date=2026-03-14", "", "pnr conflict, date conflict"},
		{"/v1/bags?" + plates.Encode(), "", "plate too_many"},
		{"/v1/bags?last_name=MUELLER&plate=1", "", "plate malformed, last_name conflict"},
		{"/v1/bags?last_name=MUELLER", "", "airport missing, date missing"},
		{"/v1/bags?last_name=MUELLER&airline=LX&airport=ZRH&pnr=ABC123", "", "last_name conflict, airline conflict, airport conflict, date missing"},
		{"/v1/bags?last_name=MUELLER&airline=LX&airport=ZRH", "", "flight missing, airport conflict, date missing"},
		{"/v1/bags?last_name=%20-1&airport=QQQ&date=2026-03-14", "", "last_name malformed, airport no_such"},
		{"/v1/bags?last_name=" + strings.Repeat("X", 61) + "&flight=LX1&airline=L&date=x", "", "last_name malformed, airline malformed, flight malformed, date malformed"},
		{"/v1/bags?plate_end=12345&airport=zrh", "", "plate_end malformed, airport malformed, date missing"},
		{"/v1/bags?plate_end=123456&airport=ZRH&date=2026-03-14&flight=1&airline=LX", "", "airline conflict, flight conflict"},
		{"/v1/bags?airport=ZRH&date=2026-03-14", "", "plate missing"},
		{"/v1/bags?surname=MUELLER&airport=ZRH&date=2026-03-14", "", "surname unknown, plate missing"},
		{"/v1/bags/search", `{"last_name":["MUELLER","MEIER"],"airport":"ZRH","date":"2026-03-14"}`, "/last_name malformed"},
		{"/v1/bags?plate=0724100001&limit=0", "", "limit malformed"},
		{"/v1/bags?plate=0724100001&limit=%2B5", "", "limit malformed"},
		{"/v1/bags?plate=0724100001&limit=05", "", "limit malformed"},
		{"/v1/bags?plate=0724100001&limit=1001&cursor=x&cursor=y", "", "limit malformed, cursor repeated"},
		{"/v1/bags?plate=0724100001&cursor=AAAA", "", "cursor cursor"},
		{"/v1/bags?plate=0724100001&cursor=%00", "", "cursor cursor"},
		{"/v1/bags?plate=0724100001&cursor=", "", "cursor cursor"},
		{"/v1/bags?plate=0724100001&limit=0&cursor=x", "", "limit malformed, cursor cursor"},
		{"/v1/bags/search", `{}`, "/plate missing"},
		{"/v1/bags/search", `{"plate":["0724100001","1"],"plates":[],"pnr":"ABC123","limit":2}`, "/plates unknown, /plate/1 malformed, /pnr conflict"},
		{"/v1/bags/search", `{"pnr":["ABC123"],"date":"2026-03-14","a/b":1}`, "/pnr malformed, /a~1b unknown"},
		{"/v1/bags/search", `{"plate":"0724100001"}`, "/plate malformed"},
		{"/v1/bags/search", `{"plate":["0724100001"],"limit":"2"}`, "/limit malformed"},
		{"/v1/bags/search", `{"plate":["0724100001"],"limit":2.5}`, "/limit malformed"},
		{"/v1/bags/search", `{"plate":["0724100001",724100002]}`, "/plate/1 malformed"},
		{"/v1/bags/search", `{"plate":["0724100001"],"Date":"x"}`, "/Date unknown"},
		{"/v1/bags/search", `{"pnr":"ABC123","pnr":"ABC124","date":"2026-03-14"}`, "/pnr repeated"},
		{"/v1/bags/search", `{"pnr":"ABC123"}`, "/date missing"},
		{"/v1/bags/search", `{"plate":[["0724100001"],{"a":1},null,true,1.5]}`, "/plate/0 malformed, /plate/1 malformed, /plate/2 malformed, /plate/3 malformed, /plate/4 malformed"},
		{"/v1/bags/search", `{"plate":{"0":"0724100001"}}`, "/plate malformed"},
		{"/v1/bags/search?plate=0724100001", `{"plate":["0724100001"]}`, "plate unknown"},
		{"/v1/bags/search", `[]`, " malformed"},
		{"/v1/bags/search?x=1", `{"limit":"2",`, "x unknown,  malformed"},
		{"/v1/bags/search", `{"plate":["0724100001"]} x`, " malformed"},
		{"/v1/bags/search", "\xef\xbb\xbf{}", " malformed"},
		{"/v1/flights/zrh/d/11/12345/14MAR?page=2", "", "page unknown, airport malformed, direction malformed, airline malformed, flight malformed, date malformed"},
		{"/v1/flights/QQQ/D/LX/100/2026-03-14?limit=x", "", "airport no_such, limit malformed"},
		{"/v1/changes?cursor=x", "", "cursor cursor"},
		{"/v1/changes?cursor=" + strings.Repeat("A", 401), "", "cursor cursor"},
		{"/v1/changes?since=yesterday&cursor=AAAA", "", "since malformed, cursor conflict"},
		{"/v1/changes?since=2026-03-14T00:00:00Z", "", "since malformed"},
		{"/v1/changes?since=2999-03-14T00:00:00Z", "", "since malformed"},
		{"/v1/changes?airline=lx&airport=QQQ&plate=1&pnr=ABC-12&date=x", "", "airline malformed, airport no_such, pnr malformed, date malformed, plate malformed"},
		{"/v1/changes?pnr=ABC123", "", "date missing"},
		{"/v1/changes?date=2026-03-14", "", "pnr missing"},
		{"/v1/changes?" + plates.Encode(), "", "plate too_many"},
		{"/v1/changes?flight=ZRH/D/LX/14", "", "flight malformed"},
		{"/v1/changes?flight=QQQ/X/L/14000/14MAR", "", "flight no_such, flight malformed, flight malformed, flight malformed, flight malformed"},
		{"/v1/changes?limit=0&wait=61&fields=raw&page=1", "", "page unknown, fields malformed, limit malformed, wait malformed"},
		{"/v1/flights", "", "airport missing, direction missing, date missing"},
		{"/v1/flights?airport=zrh&direction=d&date=14MAR&airline=LX&limit=1001&limit=2", "", "airline unknown, airport malformed, direction malformed, date malformed, limit repeated"},
		{"/v1/flights?airport=QQQ&direction=A&date=2026-03-14&date=2026-03-14", "", "airport no_such, date repeated"},
		{"/v1/flights?airport=ZRH&direction=A&date=2026-03-14&cursor=AAAA", "", "cursor cursor"},
		{"/v1/airports/zrh?x=1", "", "x unknown, code malformed"},
	} {
		if got := faultsV1(t, askV1(s, "demo", tc.target, tc.body)); got != tc.want {
			t.Errorf("%s %s: %s\nwant %s", tc.target, tc.body, got, tc.want)
		}
	}
	if w := askV1(s, "demo", "/v1/flights?airport=&direction=D", ""); strings.Count(w.Body.String(), `"got":""`) != 1 { // date was not sent
		t.Errorf("an empty value: %s", w.Body)
	}
}

// A conflict names the arguments that go together. Without others last_name goes with airport.
func TestArgumentsThatDoNotGoTogetherNameThoseThatDo(t *testing.T) {
	s := site(&answers{err: errors.New("must not be asked")})
	for target, want := range map[string]string{
		"last_name=MUELLER&airline=LX&flight=100&airport=ZRH&date=2026-03-14": `"last_name with airline, flight, date"`,
		"plate=0724100001&date=2026-03-14":                                    `"plate alone"`,
	} {
		w := askV1(s, "demo", "/v1/bags?"+target, "")
		if strings.Count(w.Body.String(), `"code"`) != 1 || !strings.Contains(w.Body.String(), `"expected":`+want) {
			t.Errorf("%s: %s", target, w.Body)
		}
	}
}

func TestTheFaultsOfAQuestionAreBounded(t *testing.T) {
	s := site(&answers{err: errors.New("must not be asked")})
	for _, tc := range []struct{ target, body string }{
		{"/v1/bags?" + strings.Repeat("a&", 5000), ""},
		{"/v1/bags/search", `{"x":1` + strings.Repeat(`,"a":1`, 50_000) + `}`},
		{"/v1/bags/search", `{"plate":[` + strings.Repeat("0,", 50_000) + `0]}`},
	} {
		w := askV1(s, "demo", tc.target, tc.body)
		if n := strings.Count(w.Body.String(), `"got"`); w.Code != 400 || n > 1000 || !strings.Contains(w.Body.String(), "More than 1000 faults") {
			t.Errorf("%.40s %.40s: %d with %d faults in %d bytes: %.200s", tc.target, tc.body, w.Code, n, w.Body.Len(), w.Body)
		}
	}
}

func TestSinceAllowsForClocksThatDiffer(t *testing.T) {
	s := site(&answers{err: errors.New("must not be asked")})
	for age, allowed := range map[time.Duration]bool{
		-2 * time.Minute: false, -30 * time.Second: true, 72*time.Hour + 30*time.Second: true, 72*time.Hour + 2*time.Minute: false,
	} {
		since := url.QueryEscape(time.Now().Add(-age).Format(time.RFC3339))
		if w := askV1(s, "demo", "/v1/changes?since="+since, ""); (w.Code != http.StatusBadRequest) != allowed {
			t.Errorf("%v ago: %d %s", age, w.Code, w.Body)
		}
	}
}

func TestWhatAKeyMayNotAskOfV1(t *testing.T) {
	hidden := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	s := site(&answers{plate: []*bag.Bag{hidden}, passenger: []*bag.Bag{hidden}})
	none := site(&answers{})
	for _, q := range []struct{ target, body string }{
		{"/v1/bags/0724100001", ""}, {"/v1/bags?plate=0724100001", ""}, {"/v1/bags/search", `{"pnr":"abc123","date":"2026-03-14"}`},
	} {
		for key, want := range map[string]int{
			"demo": 200, "lx": 200, "ba": 403, "lhr": 403, "no-airline": 403, "no-customer": 403, "history-only": 403, "posts": 403, "nobody": 401,
		} {
			if w := askV1(s, key, q.target, q.body); w.Code != want || want != 200 && strings.Contains(w.Body.String(), "MUELLER") {
				t.Errorf("%s %s: %d %s", key, q.target, w.Code, w.Body)
			}
		}
		if w := askV1(none, "ba", q.target, q.body); w.Body.String() != `{"bags":[]}` {
			t.Errorf("%s: nothing is there: %d %s", q.target, w.Code, w.Body)
		}
		hidden := site(&answers{plate: []*bag.Bag{newBag(t, "0724100001", "ABC123", "X", "BA", "1", "LHR", "JFK")}, passenger: []*bag.Bag{newBag(t, "0724100001", "ABC123", "X", "BA", "1", "LHR", "JFK")}})
		if w := askV1(hidden, "concealing", q.target, q.body); w.Code != 200 || w.Body.String() != `{"bags":[]}` {
			t.Errorf("%s: a key that conceals: %d %s", q.target, w.Code, w.Body)
		}
		if w := askV1(site(&answers{err: context.DeadlineExceeded}), "demo", q.target, q.body); w.Code != 503 {
			t.Errorf("%s: the index is away: %d %s", q.target, w.Code, w.Body)
		}
	}
	for code, want := range map[string]string{
		"ZRH": `{"code":"ZRH","name":"Zurich Airport","city":"Zurich","country":"CH","time_zone":"Europe/Zurich","latitude":47.4647,"longitude":8.54917}`,
		"LON": `{"code":"LON","city":"London","country":"GB","time_zone":"Europe/London","latitude":51.57674,"longitude":-0.146054}`,
		"XRF": `{"code":"XRF","time_zone":"Europe/Paris","latitude":43.30285,"longitude":5.38068}`,
	} {
		if w := askV1(s, "demo", "/v1/airports/"+code, ""); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if w := askV1(s, "demo", "/v1/airports/QQQ", ""); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPagesGoThroughEveryBagOnce(t *testing.T) {
	var all []*bag.Bag
	for i := range 23 {
		plate := bag.Plate(fmt.Sprintf("07241%05d", i/3)) // three bags a plate
		line := "LX"
		if i%5 == 4 {
			line = "BA"
		}
		all = append(all, newBag(t, plate, fmt.Sprintf("ABC%03d", i), "NAME", line, fmt.Sprint(100+i), "ZRH", "JFK"))
	}
	s := site(&answers{plate: all})
	type answer struct {
		Bags []struct {
			Passenger struct{ PNR string }
		}
		Next string
	}
	var list []string
	for i := range 8 {
		list = append(list, fmt.Sprintf(`"07241%05d"`, i))
	}
	for key, want := range map[string]int{"demo": 23, "lx": 19} {
		for written, limit := range map[string]int{"1": 1, "2": 2, "7.0": 7, "22": 22, "23": 23, "1000.0": 1000} {
			var seen []string
			cursor := ""
			for {
				body := fmt.Sprintf(`{"plate":[%s],"limit":%s%s}`, strings.Join(list, ","), written, cursor)
				w := askV1(s, key, "/v1/bags/search", body)
				var a answer
				if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 || len(a.Bags) > limit || len(a.Bags) == 0 {
					t.Fatalf("%s: %d %s", body, w.Code, w.Body)
				}
				for _, b := range a.Bags {
					seen = append(seen, b.Passenger.PNR)
				}
				if a.Next == "" {
					break
				}
				other := fmt.Sprintf(`{"plate":["0724100001"],"cursor":"%s"}`, a.Next)
				if got := faultsV1(t, askV1(s, key, "/v1/bags/search", other)); got != "/cursor cursor" {
					t.Fatalf("the cursor of another question: %s", got)
				}
				faulty := strings.Replace(other, `{"plate"`, `{"limit":0,"plate"`, 1) // it is not known what it would ask
				if got := faultsV1(t, askV1(s, key, "/v1/bags/search", faulty)); got != "/limit malformed" {
					t.Fatalf("a cursor in a question with a fault: %s", got)
				}
				forged := a.Next[:len(a.Next)-1] + string('A'+('Z'-a.Next[len(a.Next)-1])%26)
				if got := faultsV1(t, askV1(s, key, "/v1/bags/search", strings.Replace(body, "}", `,"cursor":"`+forged+`"}`, 1))); !strings.HasSuffix(got, "cursor cursor") && !strings.Contains(got, "repeated") {
					t.Fatalf("a forged cursor: %s", got)
				}
				cursor = `,"cursor":"` + a.Next + `"`
			}
			slices.Sort(seen)
			if len(seen) != want || len(slices.Compact(seen)) != want {
				t.Errorf("%s, %d a page: %q", key, limit, seen)
			}
		}
	}
}

const flightV1 = "/v1/flights/ZRH/D/LX/100/2026-03-14"

// onFlight is a bag as the list of a flight has it.
func onFlight(b *bag.Bag, status bag.Status) trail.Listed {
	leg := b.Legs[0]
	leg.Status = status
	return trail.Listed{Bag: b, Leg: leg, Changed: b.Events[len(b.Events)-1].Message.Received.Add(time.Minute)}
}

func TestAFlightHasTotalsAndItsBagsWithTheirLastEvent(t *testing.T) {
	loaded := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	message := *loaded.Events[0].Message
	message.Device, message.Compartment = "AKE1LX", "31L"
	loaded.Events = append(loaded.Events, bag.Event{Code: "LOADED_ON_AIRCRAFT", Sets: bag.OnAircraft, Message: &message})
	loaded.Legs[0].Status = bag.OnAircraft
	loaded.Legs[0].SetBy = &message
	rush := newBag(t, "2001000002", "DEF456", "MEIER", "LX", "100", "ZRH", "JFK")
	rush.Rush = true
	twin := &answers{
		flight: []trail.Listed{onFlight(loaded, bag.OnAircraft), onFlight(rush, bag.Delayed)}, plate: []*bag.Bag{loaded, rush},
	}
	s := site(twin)
	text := askV1(s, "demo", flightV1, "").Body.String()
	for _, part := range []string{
		`{"flight":{"airline":"LX","flight":"100","date":"2026-03-14","from":"ZRH","to":"JFK","bags":2,"rush":1,"status":{"Loaded on Aircraft":1,"Delayed":1},"changed":"2026-03-14T08:01:00.000Z"},"bags":[{"plate":"0724100001","rush":false,`,
		`"status":"Loaded on Aircraft","status_since":"2026-03-14T08:00:00.000Z","status_event":"`,
		`"last_event":{"code":"LOADED_ON_AIRCRAFT","airport":"ZRH",`, `,"stowage_device":"AKE1LX","aircraft_compartment":"31L","changed":"2026-03-14T08:00:00.000Z"},{"plate":"2001000002","rush":true,`,
		`"status":"Delayed"}],"last_event":{"code":"EXPECTED",`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
	if twin.flight[0].Leg.Status = bag.Offloaded; strings.Contains(askV1(s, "demo", flightV1, "").Body.String(), "stowage_device") {
		t.Error("a bag that was taken off is said to be in a container")
	}
	first := askV1(s, "demo", flightV1+"?limit=1", "").Body.String()
	_, next, more := strings.Cut(first, `"next":"`)
	second := askV1(s, "demo", flightV1+"?limit=1&cursor="+strings.TrimSuffix(next, `"}`), "").Body.String()
	if !more || strings.Contains(first, "2001000002") || strings.Contains(second, "0724100001") || !strings.Contains(second, "2001000002") ||
		strings.Contains(second, `"next"`) || !strings.Contains(second, `"bags":2,`) {
		t.Errorf("%s\n%s", first, second)
	}
	if got := faultsV1(t, askV1(s, "demo", strings.Replace(flightV1, "100", "101", 1)+"?cursor="+strings.TrimSuffix(next, `"}`), "")); got != "cursor cursor" {
		t.Errorf("the cursor of another flight: %s", got)
	}
}

func TestFlightsOfAnAirportComeInTheOrderOfTheirTimes(t *testing.T) {
	day := date(t, "2026-03-14")
	lx := func(number string) bag.Flight { return bag.Flight{Airline: "LX", Number: number, Day: day} }
	ba := bag.Flight{Airline: "BA", Number: "9", Day: day}
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	twin := &answers{
		flights: []bag.Flight{lx("10"), lx("8"), ba, lx("9"), lx("10A"), lx("7")},
		totals: map[bag.Flight]trail.Totals{
			ba: {Bags: 1}, lx("8"): {Bags: 1}, lx("9"): {}, lx("10"): {Bags: 1}, lx("10A"): {Bags: 1},
			lx("7"): {Bags: 3, Rush: 1, Status: [6]int{bag.NotLoaded: 2, bag.Delayed: 1}, Changed: noon, FarEnd: "JFK"},
		},
	}
	toBoston := func(at flightref.Times) *flightref.Reference {
		return &flightref.Reference{Origin: "ZRH", Destination: "BOS", Departure: at, Arrival: at}
	}
	s := siteWith(twin, timetable{
		"10AZRH": toBoston(flightref.Times{Estimated: noon}), "7ZRH": toBoston(flightref.Times{Scheduled: noon.Add(-time.Hour), Estimated: noon.Add(time.Hour)}),
	})
	const target = "/v1/flights?airport=ZRH&direction=D&date=2026-03-14"
	for key, want := range map[string][]string{"demo": {"LX7", "LX10A", "BA9", "LX8", "LX10"}, "lx": {"LX7", "LX10A", "LX8", "LX10"}, "ba": {"BA9"}, "no-airline": nil} {
		for _, limit := range []int{1, 2, 4, 1000} {
			var got []string
			for cursor := ""; ; {
				var page struct {
					Flights []struct{ Airline, Flight string }
					Next    string
				}
				w := askV1(s, key, target+"&limit="+fmt.Sprint(limit)+cursor, "")
				if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || len(page.Flights) > limit {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
				for _, f := range page.Flights {
					got = append(got, f.Airline+f.Flight)
				}
				if page.Next == "" {
					break
				}
				cursor = "&cursor=" + page.Next
				if got := faultsV1(t, askV1(s, key, strings.Replace(target, "=D", "=A", 1)+cursor, "")); got != "cursor cursor" {
					t.Errorf("the cursor of arrivals: %s", got)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: %q, want %q", key, limit, got, want)
			}
		}
	}
	first := askV1(s, "demo", target+"&limit=1", "").Body.String()
	want := `{"flights":[{"airline":"LX","flight":"7","date":"2026-03-14","from":"ZRH","to":"BOS","departure":{"scheduled":"2026-03-14T11:00:00.000Z","estimated":"2026-03-14T13:00:00.000Z"},` +
		`"arrival":{"scheduled":"2026-03-14T11:00:00.000Z","estimated":"2026-03-14T13:00:00.000Z"},"bags":3,"rush":1,"status":{"Not Loaded":2,"Delayed":1},"changed":"2026-03-14T12:00:00.000Z"}],"next":"`
	if !strings.HasPrefix(first, want) {
		t.Errorf("%s\nwant %s", first, want)
	}
	arrivals := askV1(site(twin), "demo", strings.Replace(target, "=D", "=A", 1), "").Body.String()
	if want := `{"airline":"LX","flight":"7","date":"2026-03-14","from":"JFK","to":"ZRH","bags":3,`; !strings.Contains(arrivals, want) || twin.asked != "ZRH true 2026-03-14" {
		t.Errorf("%s, %s\nwant %s", twin.asked, arrivals, want)
	}
	for key, want := range map[string]int{"lhr": 403, "lx-at-jfk": 403, "no-customer": 403, "history-only": 403, "concealing": 200, "nobody": 401} {
		if w := askV1(s, key, target, ""); w.Code != want {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
	if w := askV1(site(&answers{err: context.DeadlineExceeded}), "demo", target, ""); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestOfABagOutOfScopeAFlightTellsPlateRushAndStatus(t *testing.T) {
	other := newBag(t, "0724100001", "ABC123", "MUELLER", "BA", "200", "LHR", "JFK")
	leg := bag.Leg{Flight: bag.Flight{Airline: "LX", Number: "100", Day: date(t, "2026-03-14")}, Carrier: "SWR", From: "ZRH", To: "JFK", Living: true, Status: bag.Delayed}
	listed := trail.Listed{Bag: &bag.Bag{Plate: "0724100001"}, Leg: leg}
	s := site(&answers{flight: []trail.Listed{listed}, plate: []*bag.Bag{other}})
	want := `"bags":[{"plate":"0724100001","rush":false,"legs":[{"airline":"LX","flight":"100","date":"2026-03-14","living":true,"status":"Delayed"}]}]}`
	if w := askV1(s, "lx", flightV1, ""); w.Code != 200 || !strings.HasSuffix(w.Body.String(), want) {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
	for key, want := range map[string]int{"demo": 200, "ba": 403, "lhr": 403, "lx-at-jfk": 403, "concealing": 200, "no-customer": 403, "history-only": 403} {
		if w := askV1(s, key, flightV1, ""); w.Code != want {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
}

func TestFieldsOfABag(t *testing.T) {
	b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	second := *b.Events[0].Message
	second.Raw = "BSM second"
	b.Events = append(b.Events, bag.Event{Code: "SORTED", Description: "Bag Sorted", Message: &second})
	s := site(&answers{plate: []*bag.Bag{b}})
	for fields, want := range map[string][2]int{"?fields=list": {1, 0}, "?fields=events": {2, 0}, "?fields=raw": {2, 2}, "": {2, 0}} {
		w := askV1(s, "demo", "/v1/bags/0724100001"+fields, "")
		text := w.Body.String()
		if got := [2]int{strings.Count(text, `"id":`), strings.Count(text, `"raw_bim_msg":`)}; w.Code != 200 || got != want || !strings.Contains(text, `"SORTED"`) {
			t.Errorf("%s: %d %s", fields, w.Code, text)
		}
	}
}

// factsV1 returns all that /v1 tells the key, as lines like those of facts. For each plate it also
// returns whether /v1 shows several bags of one day; a history shows at most one of them.
func (o *office) factsV1(t *testing.T) (told map[string]bool, several map[string]bool) {
	t.Helper()
	told, several = map[string]bool{}, map[string]bool{}
	for _, plate := range worldPlates {
		for d := range worldDays {
			day := worldBegins.AddDate(0, 0, d).Format(time.DateOnly)
			bags := bagsIn(o.get("/v1/bags/" + plate + "?fields=raw&date=" + day))
			several[plate] = several[plate] || len(bags) > 1
			for _, b := range bags {
				o.tellBagV1(t, told, b)
			}
		}
	}
	return told, several
}

func (o *office) tellBagV1(t *testing.T, told map[string]bool, b map[string]any) {
	t.Helper()
	plate := fmt.Sprint(b["plate"])
	if passenger, there := b["passenger"].(map[string]any); there {
		tell(told, plate, map[string]any{"passenger_last_name": passenger["last_name"]}, "passenger_last_name")
	}
	ids := map[string]bool{"departed": true}
	for _, e := range b["events"].([]any) {
		event := e.(map[string]any)
		ids[fmt.Sprint(event["id"])] = true
		tellEvent(told, plate, event, strings.Replace(fmt.Sprint(event["happened"]), ".000Z", "Z", 1))
	}
	for _, l := range b["legs"].([]any) {
		leg := l.(map[string]any)
		if id, there := leg["status_event"]; there && !ids[fmt.Sprint(id)] && b["chain"] == nil {
			t.Errorf("%s: the status of %v is of an event that is not told", plate, leg)
		}
	}
}

// For each plate /v1 tells a limited key exactly as much as the histories of the plate. A loading
// status is the same for every key.
func TestV1TellsALimitedKeyWhatHistoriesTellIt(t *testing.T) {
	worlds := race.Less(200, 20)
	compared, statuses := 0, 0
	for seed := range uint64(worlds) {
		m := &worldMaker{Rand: rand.New(rand.NewPCG(seed, 16))}
		key, o, free := twoOffices(t, m)
		before := o.facts()
		told, several := o.factsV1(t)
		_, more := free.factsV1(t)
		for _, plate := range worldPlates {
			if several[plate] || more[plate] {
				continue
			}
			of := func(facts map[string]bool) (lines []string) {
				for fact := range facts {
					if strings.HasPrefix(fact, plate+" ") && !strings.HasSuffix(fact, " listed") && !strings.HasPrefix(fact, plate+" rushtag ") && !strings.HasSuffix(fact, " <nil>") {
						lines = append(lines, fact)
					}
				}
				slices.Sort(lines)
				return lines
			}
			if a, b := of(before), of(told); !slices.Equal(a, b) {
				t.Fatalf("world %d, key %v %v: histories tell\n%s\n/v1 tells\n%s", seed, key.Airlines, key.Airports, strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
			compared += len(of(told))
			statuses += sameStatuses(t, o, free, plate)
		}
	}
	if compared < worlds || statuses < worlds {
		t.Errorf("only %d facts and %d statuses compared", compared, statuses)
	}
}

// twoOffices makes a world of a bag for each plate, and of posts by a limited key. It returns this
// key, and the world as this key and as one without limits see it.
func twoOffices(t *testing.T, m *worldMaker) (key *apikey.Key, limited, free *office) {
	t.Helper()
	key = writer(m)
	unlimited := *key
	unlimited.Airlines, unlimited.Airports = all, all
	limited, free = newOffice(key), newOffice(&unlimited)
	for i, plate := range worldPlates {
		messages := m.victim(plate)
		if p := m.post(pick(m, worldPlates), i); limited.may(t, p) {
			messages = append(messages, p)
		}
		for _, s := range messages {
			limited.take(t, s)
			free.take(t, s)
		}
	}
	return key, limited, free
}

// sameStatuses compares the loading statuses that a limited key gets with those that an unlimited
// key gets.
func sameStatuses(t *testing.T, limited, free *office, plate string) (compared int) {
	t.Helper()
	statuses := func(o *office) map[string]any {
		found := map[string]any{}
		for _, b := range bagsIn(o.get("/v1/bags/" + plate)) {
			for _, l := range b["legs"].([]any) {
				leg := l.(map[string]any)
				found[fmt.Sprint(leg["airline"], leg["flight"], leg["date"], leg["from"], leg["to"])] = leg["status"]
			}
		}
		return found
	}
	every := statuses(free)
	for leg, status := range statuses(limited) {
		compared++
		if every[leg] != status {
			t.Errorf("%s %s: %v for a limited key, %v for every key", plate, leg, status, every[leg])
		}
	}
	return compared
}

// A through flight has a leg for each part, and the bag may change its container between them.
func TestAThroughFlightShowsTheContainerOfItsOwnLeg(t *testing.T) {
	o := newOffice(testKeys["demo"])
	o.takeText(t,
		"BSM\n.V/1LGVA\n.F/LX204/14MAR/ZRH\n.N/0724100001001\nENDBSM\n",
		"BSM\n.V/1LZRH\n.F/LX204/14MAR/JFK\n.N/0724100001001\nENDBSM\n",
		"BPM\n.V/1LGVA\n.J/R///14MAR/0800Z\n.F/LX204/14MAR/ZRH\n.U/AKE11111LX/11L\n.N/0724100001001\nENDBPM\n",
		"BPM\n.V/1LZRH\n.J/R///14MAR/1100Z\n.F/LX204/14MAR/JFK\n.U/AKE22222LX/22L\n.N/0724100001001\nENDBPM\n",
	)
	for at, want := range map[string]string{
		"GVA/D": `"stowage_device":"AKE11111LX","aircraft_compartment":"11L"`, "ZRH/A": `"stowage_device":"AKE11111LX","aircraft_compartment":"11L"`,
		"ZRH/D": `"stowage_device":"AKE22222LX","aircraft_compartment":"22L"`, "JFK/A": `"stowage_device":"AKE22222LX","aircraft_compartment":"22L"`,
	} {
		if got := askV1(o.site, "key", "/v1/flights/"+at+"/LX/204/2026-03-14", "").Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: no %s in %s", at, want, got)
		}
	}
}

// An event of an arrival is about the part of a through flight that ends there.
func TestAnArrivalIsAboutTheLegThatEndsThere(t *testing.T) {
	o := newOffice(testKeys["demo"])
	o.takeText(t,
		"BSM\n.V/1LGVA\n.F/LX204/14MAR/ZRH\n.O/LX204/14MAR/JFK\n.N/0724100001001\nENDBSM\n",
		"BPM\n.V/1LZRH\n.J/R///14MAR/1000Z\n.I/LX204/14MAR/GVA\n.N/0724100001001\nENDBPM\n",
		"BPM\n.V/1LZRH\n.J/R///14MAR/1100Z\n.F/LX204/14MAR/JFK\n.N/0724100001001\nENDBPM\n",
		"BPM\n.V/1LJFK\n.J/R///14MAR/2000Z\n.F/LX204/14MAR/JFK\n.N/0724100001001\nENDBPM\n",
	)
	if got, want := o.legsOfEvents("0724100001"), []string{"ARRIVEDZRH0", "LOADED_ON_AIRCRAFTZRH1", "ARRIVEDJFK1", "EXPECTEDGVA0"}; !slices.Equal(got, want) {
		t.Errorf("events and their legs: %v, want %v", got, want)
	}
}

func TestAnArrivalInACityIsAboutTheLegThatEndsAtItsMetropolitanCode(t *testing.T) {
	o := newOffice(testKeys["demo"])
	o.takeText(t, "BSM\n.V/1LGVA\n.F/LX204/14MAR/ZRH\n.O/LX204/14MAR/NYC\n.N/0724100001001\nENDBSM\n")
	o.takeText(t, "BPM\n.V/1LJFK\n.J/R///14MAR/2000Z\n.F/LX204/14MAR/NYC\n.N/0724100001001\nENDBPM\n")
	if got, want := o.legsOfEvents("0724100001"), []string{"ARRIVEDJFK1", "EXPECTEDGVA0"}; !slices.Equal(got, want) {
		t.Errorf("events and their legs: %v, want %v", got, want)
	}
}

// A through flight has two legs in the flight reference, and one in a message from its first airport to
// its last. A flight may also have two legs from one airport.
func TestALegWhoseFlightLeftWithoutTheBagIsDelayedSinceItLeftWhateverItsDestination(t *testing.T) {
	const reference = `flights:
  - {airline: LX, flight: "204", origin: GVA, destination: ZRH, date: 2026-03-14, departure: {actual: 2026-03-14T09:10:00Z}, arrival: {scheduled: 2026-03-14T10:00:00Z}}
  - {airline: LX, flight: "204", origin: ZRH, destination: JFK, date: 2026-03-14, departure: {scheduled: 2026-03-14T12:00:00Z}, arrival: {scheduled: 2026-03-14T20:00:00Z}}
  - {airline: LX, flight: "204", origin: GVA, destination: BOS, date: 2026-03-14, departure: {estimated: 2026-03-14T09:05:00Z}, arrival: {scheduled: 2026-03-14T20:00:00Z}}
`
	flights, err := flightref.Open(service.WriteFile(t, "flights.yaml", reference), airport.New().SamePlace, airline.New())
	if err != nil {
		t.Fatal(err)
	}
	for from, since := range map[string]string{"GVA": "09:10", "ZRH": "12:00", "": "12:00"} {
		b := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "204", "ZRH", "JFK")
		b.Legs[0].From, b.Legs[0].Status, b.Legs[0].LeftWithoutBag = from, bag.Delayed, true
		got := askV1(siteWith(&answers{plate: []*bag.Bag{b}}, flights), "demo", "/v1/bags/0724100001", "").Body.String()
		if want := `"status":"Delayed","status_since":"2026-03-14T` + since + `:00.000Z","status_event":"departed"`; !strings.Contains(got, want) {
			t.Errorf("from %q: no %s in %s", from, want, got)
		}
	}
}

// legsOfEvents returns code, airport and leg of each event of the one bag of a plate.
func (o *office) legsOfEvents(plate string) (all []string) {
	events, _ := bagsIn(o.get("/v1/bags/" + plate))[0]["events"].([]any)
	for _, e := range events {
		event := e.(map[string]any)
		all = append(all, fmt.Sprint(event["code"], event["airport"], event["leg"]))
	}
	return all
}

// Two bags of a plate may show the same PNR and names, since a deletion names a booking that is not
// theirs.
func TestAFlightShowsEachBagOfAPlateThoughTheirNamesAreEqual(t *testing.T) {
	o := newOffice(testKeys["demo"])
	o.takeText(t,
		"BSM\n.V/1LZRH\n.F/LX301/14MAR/JFK\n.N/0724100001001\n.L/AAA111\nENDBSM\n",
		"BSM\nDEL\n.V/1LJFK\n.F/LX309/14MAR/LHR\n.I/LX301/14MAR/ZRH\n.N/0724100001001\n.L/GGG111\nENDBSM\n",
		"BSM\nDEL\n.V/1LGVA\n.F/LX307/14MAR/LHR\n.N/0724100001001\n.L/GGG111\nENDBSM\n",
		"BSM\n.V/1LMUC\n.F/LX303/14MAR/LHR\n.N/0724100001001\nENDBSM\n",
		"BPM\n.V/1LGVA\n.F/LX307/14MAR/LHR\n.J/S\n.N/0724100001001\n.L/GGG111\nENDBPM\n",
	)
	var bags, listed []string
	for _, b := range bagsIn(o.get("/v1/bags/0724100001")) {
		events := b["events"].([]any)
		bags = append(bags, fmt.Sprint(b["changed"], " ", events[len(events)-1].(map[string]any)["code"]))
	}
	for _, b := range bagsIn(o.get("/v1/flights/MUC/D/LX/303/2026-03-14")) {
		listed = append(listed, fmt.Sprint(b["changed"], " ", b["last_event"].(map[string]any)["code"]))
	}
	slices.Sort(bags)
	slices.Sort(listed)
	if len(bags) != 2 || bags[0] == bags[1] || !slices.Equal(listed, bags) {
		t.Errorf("the list shows %q of %q", listed, bags)
	}
}

// A key that does not see all of a plate's messages sees the data of its second bag too.
func TestALimitedKeySeesTheSecondBagOfAPlateOnAFlight(t *testing.T) {
	o := newOffice(testKeys["lx"])
	o.takeText(t,
		"BSM\n.V/1LZRH\n.F/LX303/14MAR/LHR\n.N/0724100001001\n.S/Y//C\n.P/1MEIER\n.L/ZZZ111\n.Y/LX1\nENDBSM\n",
		"BSM\n.V/1LZRH\n.F/LX303/14MAR/LHR\n.N/0724100001001\n.S/Y//C\n.P/1HUBER\n.L/BBB111\n.Y/LX1\nENDBSM\n",
		"BSM\n.V/1LLHR\n.F/BA602/14MAR/BOS\n.N/0724100001001\n.S/Y//B\n.P/1HUBER\n.L/CCC111\n.Y/BA1\nENDBSM\n",
		"BSM\n.V/1LLHR\n.F/BA602/14MAR/BOS\n.N/0724100001001\n.S/Y//B\n.P/1MEIER\n.L/DDD111\n.Y/BA1\nENDBSM\n",
	)
	listed := bagsIn(o.get("/v1/flights/ZRH/D/LX/303/2026-03-14"))
	if len(listed) != 2 {
		t.Fatalf("%v", listed)
	}
	for _, b := range listed {
		passenger := b["passenger"].(map[string]any)
		if b["last_event"] == nil || b["changed"] == nil || passenger["status"] != "C" || passenger["frequent_flyer"] != "LX1" {
			t.Errorf("%v", b)
		}
	}
}

// Whether a bag is unknown or cancelled is the same for every key.
func TestAFlightTellsWhichBagsAreUnknown(t *testing.T) {
	for _, key := range []string{"demo", "lx"} {
		o := newOffice(testKeys[key])
		o.takeText(t,
			"BPM\n.V/1LZRH\n.F/LX303/14MAR/LHR\n.J/S\n.N/0724100001001\n.L/BBB111\nENDBPM\n",
			"BSM\n.V/1LLHR\n.F/BA602/14MAR/BOS\n.N/0724100001001\n.L/BBB111\nENDBSM\n",
			"BPM\n.V/1LZRH\n.F/LX303/14MAR/LHR\n.J/S\n.N/0724100002001\n.L/BBB111\nENDBPM\n",
		)
		listed := bagsIn(o.get("/v1/flights/ZRH/D/LX/303/2026-03-14"))
		if len(listed) != 2 {
			t.Fatalf("%s: %v", key, listed)
		}
		for i, unknown := range []bool{false, true} {
			if listed[i]["unknown"] != unknown || listed[i]["cancelled"] != false {
				t.Errorf("%s: %v", key, listed[i])
			}
		}
	}
}

// A bag that its rush bag made Delayed on a later leg is not Delayed on this one.
func TestAFlightHasTheTimeOfChangeOfTheBagWhicheverLegItsRushBagMadeDelayed(t *testing.T) {
	o := newOffice(testKeys["demo"])
	o.takeText(t, "BSM\n.V/1LZRH\n.F/LX700/14MAR/LHR\n.O/BA600/14MAR/JFK\n.N/0724100001001\n.P/1MEIER\n.L/ABC123\nENDBSM\n")
	o.takeText(t, "BPM\n.V/1LZRH\n.J/R///14MAR/0800Z\n.F/LX700/14MAR/LHR\n.U/AKE11111LX/11L\n.N/0724100001001\nENDBPM\n")
	o.takeText(t, "BSM\n.V/1LLHR\n.F/BA602/15MAR/JFK\n.N/2724100002001\n.E/RUSH\n.P/1MEIER\n.L/ABC123\n.M/0724100001\nENDBSM\n")
	want := bagsIn(o.get("/v1/bags/0724100001"))[0]["changed"]
	for _, flight := range []string{"ZRH/D/LX/700", "LHR/D/BA/600"} {
		if got := bagsIn(o.get("/v1/flights/" + flight + "/2026-03-14"))[0]["changed"]; got != want {
			t.Errorf("%s: changed %s, want %s as of the bag", flight, got, want)
		}
	}
}

// What made a re-flighted bag Delayed is told by the list of the flight as by the bag itself.
func TestAFlightTellsWhatMadeABagDelayed(t *testing.T) {
	o := newOffice(testKeys["demo"])
	o.takeText(t, "BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.N/0724100001001\n.P/1MEIER\n.L/ABC123\nENDBSM\n")
	o.takeText(t, "BSM\n.V/1LZRH\n.F/LX102/15MAR/JFK\n.N/2724100002001\n.E/RUSH\n.P/1MEIER\n.L/ABC123\n.M/0724100001\nENDBSM\n")
	_, cause, told := strings.Cut(askV1(o.site, "key", "/v1/bags/0724100001", "").Body.String(), `"status":"Delayed",`)
	cause, _, _ = strings.Cut(cause, "}")
	if !told || !strings.Contains(cause, `"status_since":"2026-03-18T`) || !strings.Contains(cause, `"status_event":"`) {
		t.Fatalf("the bag is not said to be Delayed by an event: %s", cause)
	}
	for _, at := range []string{"ZRH/D", "JFK/A"} {
		if got := askV1(o.site, "key", "/v1/flights/"+at+"/LX/100/2026-03-14", "").Body.String(); !strings.Contains(got, `"status":"Delayed",`+cause+"}") {
			t.Errorf("%s: no %s in %s", at, cause, got)
		}
	}
	// The rush bag's message is the newest one that counts for the original.
	newest := fmt.Sprintf(`"changed":%q`, bagsIn(o.get("/v1/bags/2724100002"))[0]["changed"])
	for target, times := range map[string]int{"/v1/bags/0724100001": 1, "/v1/flights/ZRH/D/LX/100/2026-03-14": 2, "/v1/flights?airport=ZRH&direction=D&date=2026-03-14": 1} {
		if got := askV1(o.site, "key", target, "").Body.String(); strings.Count(got, newest) != times {
			t.Errorf("%s: want %s %d times in %s", target, newest, times, got)
		}
	}
}
