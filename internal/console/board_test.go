package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/console"
)

// flightsOf is the list of the flights of a day: one each ten minutes from an hour before now, with
// a bag for each status.
func flightsOf(n int) object {
	flights := []object{}
	for i := range n {
		at := now.Add(time.Duration(i-6) * 10 * time.Minute).Format(time.RFC3339)
		flights = append(flights, object{
			"airline": "LX", "flight": fmt.Sprint(100 + i), "date": "2026-11-22", "from": "ZRH", "to": "JFK", "bags": 5, "rush": i % 2,
			"status":    map[string]int{"Not Loaded": 1, "Offloaded": 1, "Loaded in Container": 1, "Loaded on Aircraft": 1, "Delayed": 1},
			"departure": object{"scheduled": at}, "arrival": object{"estimated": at, "scheduled": "2026-11-22T03:00:00.000Z"},
		})
	}
	return object{"flights": flights}
}

const boardPath = "/console/flights?airport=ZRH&direction=D&date=2026-11-22"

func TestTheBoardShowsFlightsAtRiskFirst(t *testing.T) {
	v := newV1(object{"GET /v1/flights": flightsOf(20)})
	text := must(t, get(newConsole(v), boardPath), 200,
		">Zurich ZRH departures</h1>", `<td class="c-m trunc">New York <span class="dim">JFK</span></td>`, `data-f="lx100 jfk new york"`, "Sunday 22 November 2026. 20 flights, 100 bags.", "10 bags offloaded or not loaded, departure within 45 min", "Now <time>12:32</time>",
		`<b id="n-risk">5</b>`, `<b id="n-ahead">14</b>`, `<b id="n-rush">10</b>`, `<b id="n-del">20</b>`, `data-airport="ZRH" data-direction="D" data-date="2026-11-22"`,
		`href="/console/flights/ZRH/D/LX/100/2026-11-22"`, "1 on aircraft, 1 in container, 1 not loaded, 1 offloaded, 1 delayed",
		"date=2026-11-21&amp;direction=D", "/v1/changes?fields=list&amp;airport=ZRH",
	)
	for class, want := range map[string]int{` gone"`: 6, ` next"`: 1, `"is-risk late"`: 3 + 3, `"is-risk"`: 2 + 2 + 1} {
		rows := strings.ReplaceAll(text, ` next"`, `" next"`)
		if got := strings.Count(rows, class); got != want {
			t.Errorf("%s: %d, want %d", class, got, want)
		}
	}
	if text := must(t, get(newConsole(v), boardPath+"&rows=LX-103-2026-11-22"), 200, `id="f-LX-103-2026-11-22"`, `id="urgent"`, `<b id="n-all">20</b>`); strings.Count(text, "<tr") != 1 {
		t.Error(text)
	}
}

// A board may stay open after midnight.
func TestWhichDayIsTodayIsKeptLive(t *testing.T) {
	clock := now
	c := console.New(newV1(object{"GET /v1/flights": flightsOf(1)}), library, func() time.Time { return clock })
	must(t, get(c, boardPath), 200, `<a id="today" href="/console/flights?airport=ZRH&direction=D" aria-current="date">`)
	clock = now.Add(12 * time.Hour)
	must(t, get(c, boardPath+"&rows="), 200, `<a id="today" href="/console/flights?airport=ZRH&direction=D">`)
}

func TestOneIsNotShownAsMany(t *testing.T) {
	one := flightsOf(8)
	one["flights"] = one["flights"].([]object)[7:] // it leaves in 10 minutes
	one["flights"].([]object)[0]["bags"], one["flights"].([]object)[0]["status"] = 1, map[string]int{"Not Loaded": 1}
	must(t, get(newConsole(newV1(object{"GET /v1/flights": one})), boardPath), 200, ". 1 flight, 1 bag.", ">1 bag offloaded or not loaded, departure within")
}

func TestArrivalsHaveNoRisk(t *testing.T) {
	v := newV1(object{"GET /v1/flights": flightsOf(20)})
	text := must(t, get(newConsole(v), "/console/flights?airport=ZRH&direction=A&date=2026-11-22"), 200, "ZRH arrivals", "landed", `<s class="dim c-m">04:00</s>`, "/console/flights/ZRH/A/LX/100/2026-11-22")
	if strings.Contains(text, "is-risk") || strings.Contains(text, "departure within") {
		t.Error("an arrival is at risk")
	}
	if !strings.Contains(strings.Join(v.asked, "\n"), "direction=A") {
		t.Error(v.asked)
	}
}

// arrivals answers the flights that arrive at ZRH, by the date of their departure.
func arrivals() (http.Handler, *v1) {
	v := newV1(nil)
	flight := func(number, date, from string, arrival object) object {
		return object{"airline": "LX", "flight": number, "date": date, "from": from, "to": "ZRH", "bags": 1, "status": map[string]int{"Loaded on Aircraft": 1}, "arrival": arrival}
	}
	of := map[string][]object{
		"2026-11-21": {
			flight("1", "2026-11-21", "LHR", object{"scheduled": "2026-11-21T22:30:00.000Z"}), flight("15", "2026-11-21", "JFK", object{"scheduled": "2026-11-22T06:00:00.000Z"}),
			flight("17", "2026-11-21", "BOS", object{"scheduled": "2026-11-22T04:00:00.000Z", "estimated": "2026-11-23T05:00:00.000Z"}), flight("3", "2026-11-21", "OSL", nil),
		},
		"2026-11-22": {
			flight("5", "2026-11-22", "LHR", object{"scheduled": "2026-11-22T05:00:00.000Z"}), flight("15", "2026-11-22", "JFK", object{"scheduled": "2026-11-23T06:00:00.000Z"}),
			flight("7", "2026-11-22", "LHR", object{"scheduled": "2026-11-22T22:30:00.000Z", "estimated": "2026-11-22T23:30:00.000Z"}), flight("3", "2026-11-22", "OSL", nil),
			flight("9", "2026-11-22", "NRT", object{"scheduled": "2026-11-21T21:00:00.000Z"}), flight("11", "2026-11-22", "SYD", object{"scheduled": "2026-11-26T21:00:00.000Z"}),
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.answers["GET /v1/flights"] = object{"flights": append([]object{}, of[r.URL.Query().Get("date")]...)}
		v.ServeHTTP(w, r)
	}), v
}

// LX15 leaves on the evening of the day before. LX17 arrives a day later than it should, LX7 after
// midnight, and LX9 on the day before its date, as over the date line. LX11 is four days late, and on
// the last board that looks for it. The board of a day has LX3, whose times are not known, by its date.
func TestABoardOfArrivalsHasTheFlightsThatArriveOnItsDay(t *testing.T) {
	ids := regexp.MustCompile(`<tr id="f-(.*?)"`)
	v1, asked := arrivals()
	c := newConsole(v1)
	for day, want := range map[string][]string{
		"2026-11-21": {"LX-9-2026-11-22", "LX-1-2026-11-21", "LX-3-2026-11-21"},
		"2026-11-22": {"LX-5-2026-11-22", "LX-15-2026-11-21", "LX-3-2026-11-22"},
		"2026-11-23": {"LX-17-2026-11-21", "LX-7-2026-11-22", "LX-15-2026-11-22"},
		"2026-11-24": {"LX-11-2026-11-22"},
	} {
		var got []string
		for _, m := range ids.FindAllStringSubmatch(must(t, get(c, "/console/flights?airport=ZRH&direction=A&date="+day), 200), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", day, got, want)
		}
	}
	must(t, get(c, "/console/flights?airport=ZRH&direction=A&date=2026-11-23"), 200, `<s class="dim c-m">22 Nov 05:00</s> <b title="05:00Z">06:00</b>`)
	asked.asked = nil
	if get(c, "/console/flights?airport=ZRH&direction=A&date=2026-11-22"); len(asked.asked) != 6 {
		t.Errorf("asked %q", asked.asked)
	}
}

// A flight of 21 November may depart after midnight, or arrive on the next day.
func TestAFlightLeadsToABoardThatHasIt(t *testing.T) {
	for target, want := range map[string]string{"D": "2026-11-21", "A": "2026-11-22"} {
		list := flightOf(1)
		list["flight"].(object)["date"] = "2026-11-21"
		list["flight"].(object)["departure"] = object{"estimated": "2026-11-22T00:30:00.000Z"}
		list["flight"].(object)["arrival"] = object{"estimated": "2026-11-22T06:00:00.000Z"}
		address := "/flights/ZRH/" + target + "/LX/14/2026-11-21"
		must(t, get(newConsole(newV1(object{"GET /v1" + address: list})), "/console"+address), 200,
			`<a href="/console/flights?airport=ZRH&date=`+want+`&direction=`+target+`">`)
	}
}

func TestAnEmptyBoardSaysWhy(t *testing.T) {
	v := newV1(object{"GET /v1/flights": flightsOf(0)})
	must(t, get(newConsole(v), boardPath), 200, "No bag departs from ZRH on 22 Nov")
	v.answers["GET /v1/session"].(object)["airports"] = []string{"*"}
	must(t, get(newConsole(v), "/console/flights"), 200, "Which airport?", "autofocus", "Three letters, such as ZRH", `href="/console/feeds">Feeds</a> lists`)
	v.answers["GET /v1/session"].(object)["operations"] = []string{"flights"}
	if strings.Contains(must(t, get(newConsole(v), "/console/flights"), 200), "lists the airports") {
		t.Error("a key without feeds is led there")
	}
}

func TestAnAirportThatIsNotKnownIsNamedAndAskedForAgain(t *testing.T) {
	c := newConsole(newV1(object{}))
	for _, target := range []string{"/console/flights?airport=qqq", "/console/flights?airport=QQQ&direction=D&date=2026-11-22"} {
		must(t, get(c, target), 200, "Which airport?", "<b>QQQ is no airport that bagtrail knows.</b> Three letters", `id="airport" name="airport" value=""`)
	}
}

func TestABoardWithoutAnAddressIsThatOfTheLastAirportToday(t *testing.T) {
	v := newV1(object{"GET /v1/flights": flightsOf(1)})
	v.answers["GET /v1/session"].(object)["airports"] = []string{"ZRH", "JFK"}
	c := newConsole(v)
	for target, want := range map[string]string{
		"/console/flights":                         "/console/flights?airport=ZRH&date=2026-11-22&direction=D",
		"/console/flights?airport=jfk&direction=A": "/console/flights?airport=JFK&date=2026-11-22&direction=A",
		"/console/":                                "/console/flights",
	} {
		leadsTo(t, target, get(c, target), want)
	}
	w := get(c, "/console/flights?airport=JFK&direction=D&date=2026-11-22")
	cookie, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	if got := get(c, "/console/flights", "Cookie", cookie).Header().Get("Location"); !strings.Contains(got, "airport=JFK") {
		t.Errorf("%s leads to %s", cookie, got)
	}
	v.answers["GET /v1/session"].(object)["airports"] = []string{"ZRH"} // of the next user of the browser
	if got := get(c, "/console/flights", "Cookie", cookie).Header().Get("Location"); !strings.Contains(got, "airport=ZRH") {
		t.Errorf("%s leads to %s, which the key does not cover", cookie, got)
	}
}

func TestOnlyABoardChangesTheAirportOfTheUser(t *testing.T) {
	at := func(b object) { b["events"].([]object)[1]["airport"] = "JFK" }
	v := newV1(object{"GET " + bagPath: bagsOf(at), "GET " + flightPath: flightOf(1)})
	c := newConsole(v)
	for _, w := range []*httptest.ResponseRecorder{
		get(c, bagPage), get(c, flightPage), search(c, "van den berg"), get(c, "/console/search"),
	} {
		if must(t, w, 200); w.Header().Get("Set-Cookie") != "" {
			t.Errorf("Set-Cookie: %s", w.Header().Get("Set-Cookie"))
		}
	}
}

func TestABoardOf1000FlightsIsRead(t *testing.T) {
	all := flightsOf(1200)["flights"].([]object)
	v := newV1(object{"GET /v1/flights": object{"flights": all[:1000], "next": "more"}, "GET /v1/flights?cursor=more": object{"flights": all[1000:]}})
	w := get(newConsole(v), boardPath, "Accept-Encoding", "gzip")
	if text := unzipped(t, w.Body.Bytes()); strings.Count(text, "<tr id=") != 1200 || w.Body.Len() > 140<<10 {
		t.Errorf("%d flights in %d bytes", strings.Count(text, "<tr id="), w.Body.Len())
	}
}

func TestWhenABagIsAtRiskIsASettingOfTheViewer(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(10)})) // departs in 38 min
	for set, want := range map[string][]string{
		"":       {`class="is-risk"`, `value="45"`, `value="20"`},
		"30-10":  {`class=""`, `value="30"`, `value="10"`},
		"90-60":  {`class="is-risk late"`, `value="90"`},
		"40-90":  {`class="is-risk late"`, `name="late" type="number" min="1" max="1440" required value="40"`},
		"x--1":   {`class="is-risk"`, `value="45"`, `value="1"`},
		"99999-": {`class="is-risk"`, `value="1440"`, `value="20"`},
	} {
		must(t, get(c, flightPage, "Cookie", "bagtrail-risk="+set), 200, want...)
	}
	w := post(c, "/console/risk", url.Values{"risk": {"60"}, "late": {"30"}, "next": {flightPage}})
	if w.Code != 303 || w.Header().Get("Location") != flightPage || !strings.HasPrefix(w.Header().Get("Set-Cookie"), "bagtrail-risk=60-30; Path=/console/;") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := post(c, "/console/risk", url.Values{"risk": {"60"}}, "Sec-Fetch-Site", "cross-site"); w.Code != 403 {
		t.Errorf("%d from another origin", w.Code)
	}
}
