package console_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const flightPage = "/console/flights/ZRH/D/LX/14/2026-11-22"

// showFlight returns the page of a flight. It fails the test unless the page holds all texts.
func showFlight(t *testing.T, list object, texts ...string) string {
	t.Helper()
	return must(t, get(newConsole(newV1(object{"GET " + flightPath: list})), flightPage), 200, texts...)
}

func TestAFlightShowsItsBagsNotLoadedFirst(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(10)}))
	text := must(t, get(c, flightPage), 200,
		`LX14 <span>Zurich ZRH to New York JFK, 22 Nov</span>`, `<dd>13:10 <small class="dim">12:10Z, as scheduled</small></dd>`, `>38 min</time>`,
		`<b id="n-all">10</b>`, `<b id="n-not">2</b>`, `id="b-0724000000"`, `href="/console/bags/0724000000"`, `class="is-risk"`,
		`data-utc="10:52Z" title="11:52 ZRH, 10:52Z">40 min</time>`, `data-cursor="c0ffee"`, `aria-label="2 Not loaded, 2 Offloaded, 2 Delayed, 2 In container, 2 On aircraft"`,
	)
	if got := get(c, flightPage+"?rows=").Header().Get("Changes-Cursor"); got != "c0ffee" {
		t.Error(got)
	}
	var order []string
	for _, part := range strings.Split(text, "<tr id=")[1:] {
		_, s, _ := strings.Cut(part, `data-s="`)
		order = append(order, s[:3])
	}
	if got := strings.Join(order, " "); got != "not not off off del del con con air air" {
		t.Error(got)
	}
}

// Of the bags with one status, the one that was seen last comes last. The bags of a plate have ids of
// their own. Only bags that are Not Loaded or Offloaded have the class of the flight, which is at risk.
func TestTheRowsOfAFlightAreByStatusThenByAge(t *testing.T) {
	list := flightOf(0)
	list["flight"].(object)["status"] = map[string]int{"Not Loaded": 1}
	var bags []object
	for _, b := range []struct {
		plate, status string
		age           time.Duration
		rush          bool
	}{
		{"0724000001", "Loaded on Aircraft", -time.Hour, false},
		{"0724000002", "Delayed", 100 * time.Minute, false},
		{"0724000003", "Offloaded", 99 * time.Minute, true},
		{"0724000003", "Offloaded", 48*time.Hour - time.Minute, false},
		{"0724000003", "Not Loaded", 48 * time.Hour, false},
	} {
		row := bagOnFlight(0)
		row["plate"], row["rush"] = b.plate, b.rush
		row["legs"].([]object)[0]["status"] = b.status
		row["last_event"].(object)["happened"] = now.Add(-b.age)
		bags = append(bags, row)
	}
	list["bags"] = bags
	text := showFlight(t, list)
	var rows []string
	for _, r := range regexp.MustCompile(`<tr id="(.*?)" class="(.*?)".*? data-ago .*?>(.*?)</time>`).FindAllStringSubmatch(text, -1) {
		rows = append(rows, strings.Join(r[1:], "|"))
	}
	if want := []string{
		"b-0724000003-3|is-risk|2 d", "b-0724000003-2|is-risk|47 h 59", "b-0724000003|is-risk rush|99 min", "b-0724000002||1 h 40", "b-0724000001||now",
	}; !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
}

func TestAFlightTellsUnknownBags(t *testing.T) {
	list := flightOf(4)
	list["bags"].([]object)[0]["unknown"] = true
	if text := showFlight(t, list); strings.Count(text, ">Unknown bag<") != 1 {
		t.Error(text)
	}
}

func TestRowsComeInTheGroupsThatTheStylesheetKnows(t *testing.T) {
	text := showFlight(t, flightOf(41))
	var sizes []int
	for _, group := range strings.Split(text, "</tbody><tbody>") {
		sizes = append(sizes, strings.Count(group, "\n<tr id="))
	}
	if !slices.Equal(sizes, []int{20, 20, 1}) {
		t.Errorf("rows of the groups: %v", sizes)
	}
}

// The time of a flight is the actual one, else the estimated, else the scheduled.
func TestAFlightHasItsBestKnownTime(t *testing.T) {
	list := flightOf(5)
	times := list["flight"].(object)["departure"].(object)
	for _, known := range []struct{ name, at, shown string }{
		{"scheduled", "2026-11-22T12:10:00.000Z", "<dd>13:10 <"}, {"estimated", "2026-11-22T12:25:00.000Z", "<dd>13:25 <"}, {"actual", "2026-11-22T11:20:00.000Z", "<dd>12:20 <"},
	} {
		times[known.name] = known.at
		showFlight(t, list, known.shown)
	}
}

// A flight has the date of its departure. It may leave late, or arrive, on another day.
func TestAFlightTellsTheDayOfATimeThatIsNotOfItsDate(t *testing.T) {
	list := flightOf(5)
	list["flight"].(object)["departure"] = object{"scheduled": "2026-11-22T22:50:00.000Z", "estimated": "2026-11-22T23:20:00.000Z"}
	showFlight(t, list, "<dd>23 Nov 00:20 <", "23:20Z, scheduled 23:50<")
}

func TestOnlyTheVersionOfAFileThatAPageNamesIsKeptByBrowsers(t *testing.T) {
	for name, media := range map[string]string{"console.css": "text/css", "console.js": "text/javascript"} {
		c := newConsole(newV1(nil))
		address := regexp.MustCompile(regexp.QuoteMeta("/console/"+name) + `\?v=\w+`).FindString(get(c, "/console/login").Body.String())
		for target, want := range map[string]string{address: "public, max-age=31536000, immutable", "/console/" + name + "?v=older": "no-cache", "/console/" + name: "no-cache"} {
			h := get(c, target).Header()
			if h.Get("Content-Type") != media+"; charset=utf-8" || h.Get("Cache-Control") != want || h.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %v", target, h)
			}
		}
	}
}

func TestTheNavigationLeadsOnlyWhereTheKeyMayGo(t *testing.T) {
	v := newV1(nil)
	v.answers["GET /v1/session"].(object)["operations"] = []string{"flights"}
	v.answers["GET /v1/session"].(object)["airlines"] = []string{}
	text := must(t, get(newConsole(v), "/console/search"), 200, `href="/console/flights"`, `href="/console/feeds"`, "Airlines: none. Airports: ZRH.")
	if strings.Contains(text, `href="/console/rejects"`) {
		t.Error("a key without the right sees the rejects")
	}
}

func TestAKeyWithoutFlightsIsNotRefusedWhereTheLoginLeads(t *testing.T) {
	v := newV1(nil)
	v.answers["GET /v1/session"].(object)["operations"] = []string{"rejects"}
	leadsTo(t, "the login", get(newConsole(v), "/console/flights"), "/console/search")
}

func TestAPageThatIsRefusedBeforeItsSessionIsKnownNamesNoKey(t *testing.T) {
	c := newConsole(newV1(object{"GET /v1/session": 429}))
	must(t, get(c, flightPage), 429, "<p>The key of this session has sent too many requests.", `href="/console/flights"`, `href="/console/rejects"`)
	must(t, get(newConsole(newV1(object{"GET " + flightPath: 429})), flightPage), 429, "<p>The key zrh-ops has sent too many requests.")
}

// The airport is the one that the key covers, ZRH here, else the first one that is known.
func TestALegLeadsToItsFlightAtAnAirportThatTheKeyMayAsk(t *testing.T) {
	leg := func(from, to string) func(object) {
		return func(b object) { l := b["legs"].([]object)[0]; l["from"], l["to"] = from, to }
	}
	for address, change := range map[string]func(object){
		"/console/flights/ZRH/D/LX/14/2026-11-22": leg("ZRH", "JFK"), "/console/flights/JFK/A/LX/14/2026-11-22": leg("", "JFK"), "/console/search": leg("", ""),
		"/console/flights/ZRH/A/LX/14/2026-11-22": leg("JFK", "ZRH"), "/console/flights/JFK/D/LX/14/2026-11-22": leg("JFK", "LHR"), "/console/flights/SIN/A/LX/14/2026-11-22": leg("XQX", "SIN"),
	} {
		showBag(t, change, `<th scope="row"><a href="`+address+`">LX14</a>`)
	}
}

func TestAFlightWithoutBagsSaysSo(t *testing.T) {
	if text := showFlight(t, flightOf(0), "No bags of LX14 yet", "Bags appear here by themselves", "<dt>Bags</dt><dd>none</dd>"); strings.Contains(text, "of 0<") {
		t.Error("none of no bags is not loaded")
	}
}

// Containers are on their way to the aircraft; delayed bags have missed it.
func TestAFlightCountsTheSameBagsAsTheBoard(t *testing.T) {
	list := flightOf(15)
	c := newConsole(newV1(object{"GET " + flightPath: list, "GET /v1/flights": object{"flights": []object{list["flight"].(object)}}}))
	must(t, get(c, flightPage), 200, `<dt>Offloaded or not loaded</dt><dd class="risk">6 <small class="dim">of 15</small>`, "<dt>Delayed</dt><dd>3</dd>")
	must(t, get(c, boardPath), 200, "6 bags offloaded or not loaded, departure within 45 min", `<span class="n risk">6</span>`)
}

// unzipped returns the body of a compressed answer.
func unzipped(t *testing.T, body []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAFlightOf800BagsIsSmall(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(800)}))
	w := get(c, flightPage, "Accept-Encoding", "gzip")
	size := w.Body.Len()
	if text := unzipped(t, w.Body.Bytes()); strings.Count(text, "<tr id=") != 800 {
		t.Error("not all bags are shown")
	}
	for _, file := range []string{"console.css", "console.js"} {
		w := get(c, "/console/"+file, "Accept-Encoding", "gzip")
		size += w.Body.Len()
		if text := unzipped(t, w.Body.Bytes()); file == "console.js" && len(text) > 30<<10 {
			t.Errorf("the script has %d bytes", len(text))
		}
	}
	if size > 150<<10 {
		t.Errorf("%d bytes with style and script", size)
	}
}

func TestAFlightAsksForTheSessionAndItsList(t *testing.T) {
	v := newV1(object{"GET " + flightPath: flightOf(1)})
	get(newConsole(v), flightPage)
	if want := []string{"GET /v1/session", "GET " + flightPath + "?limit=1000"}; !slices.Equal(v.asked, want) {
		t.Errorf("asked %q", v.asked)
	}
}

func TestARowOfAFlightHasFewElements(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(1)}))
	text := must(t, get(c, flightPage+"?rows="), 200)
	_, row, _ := strings.Cut(text, "<tbody>")
	if n := strings.Count(row, "<") - strings.Count(row, "</"); n > 15 {
		t.Errorf("%d elements: %s", n, row)
	}
}

func TestOnlyTheRowsAskedForAreAnswered(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(10)}))
	text := must(t, get(c, flightPage+"?rows=0724000003&rows=0724000007"), 200, `id="b-0724000003"`, `id="b-0724000007"`, `<b id="n-all">10</b>`, `id="facts"`)
	if strings.Count(text, "<tr") != 2 || strings.Contains(text, "<html") {
		t.Error(text)
	}
	if text := must(t, get(c, flightPage+"?rows="), 200); strings.Count(text, "<tr") != 10 {
		t.Error(text)
	}
}

func TestEveryPageOfAListIsRead(t *testing.T) {
	first, last := flightOf(3), flightOf(6)
	first["next"], last["bags"] = "more", last["bags"].([]object)[3:]
	v := newV1(object{"GET " + flightPath: first, "GET " + flightPath + "?cursor=more": last})
	if text := must(t, get(newConsole(v), flightPage), 200); strings.Count(text, "<tr id=") != 6 {
		t.Error(text)
	}
}

// bagsOf is the answer about a plate, with a bag for each change. A change may be nil.
func bagsOf(changes ...func(bag object)) object {
	all := []object{}
	for _, change := range changes {
		b := bagOnFlight(2)
		b["passenger"].(object)["frequent_flyer"] = "LX992001234567"
		b["changed"] = "2026-11-22T10:52:03.000Z"
		b["events"] = []object{
			{"id": "e1", "code": "EXPECTED", "description": "Bag Expected", "airport": "ZRH", "happened": "2026-11-22T08:00:00.000Z", "local": "2026-11-22T09:00:00.000+01:00", "received": "2026-11-22T08:00:00.000Z"},
			{
				"id": "e2", "code": "LOADED_IN_CONTAINER", "description": "Bag Loaded in Container", "airport": "ZRH", "happened": "2026-11-22T10:52:00.000Z",
				"local": "2026-11-22T11:52:00.000+01:00", "received": "2026-11-22T10:52:03.000Z", "read_location": "MAKEUP12", "stowage_device": "AKE25219LX",
				"raw_bim_msg": "BPM\r\n.V/1LZRH\r\nENDBPM\r\n", "flight_info": object{"outbound": object{"airline": "LX", "flight": "14", "date": "2026-11-22", "dest_airport": "JFK"}},
			},
		}
		b["legs"].([]object)[0]["departure"] = object{"scheduled": "2026-11-22T12:10:00.000Z"}
		if change != nil {
			change(b)
		}
		all = append(all, b)
	}
	return object{"bags": all}
}

const (
	bagPath = "/v1/bags/0724000002"
	bagPage = "/console/bags/0724000002"
)

// showBag returns the page of a bag, which change changes before. It fails the test unless the page
// holds all texts.
func showBag(t *testing.T, change func(bag object), texts ...string) string {
	t.Helper()
	return must(t, get(newConsole(newV1(object{"GET " + bagPath: bagsOf(change)})), bagPage), 200, texts...)
}

func TestABagIsToldInOneSentenceWithItsTrail(t *testing.T) {
	leg := func(change func(leg object)) func(object) {
		return func(b object) { change(b["legs"].([]object)[0]) }
	}
	status := func(s string) func(object) { return leg(func(l object) { l["status"] = s }) }
	for name, tc := range map[string]struct {
		change func(object)
		want   string
	}{
		"container":  {nil, "At ZRH, in container for <a href=\"/console/flights/ZRH/D/LX/14/2026-11-22\">LX14 to JFK</a>, which departs in <time"},
		"aircraft":   {status("Loaded on Aircraft"), "On aircraft, <a"},
		"not loaded": {status("Not Loaded"), "At ZRH, not loaded on <a"},
		"offloaded":  {status("Offloaded"), "Offloaded from <a"},
		"delayed": {leg(func(l object) {
			l["status"], l["departure"] = "Delayed", object{"actual": "2026-11-22T11:00:00.000Z"}
		}), "<p>Delayed: missed <a href=\"/console/flights/ZRH/D/LX/14/2026-11-22\">LX14 to JFK</a>, which left 22 Nov 12:00"},
		"reported":  {status("Delayed"), "<p>Delayed: <a href=\"/console/flights/ZRH/D/LX/14/2026-11-22\">LX14 to JFK</a>, which departs in <time"},
		"departed":  {leg(func(l object) { l["departure"] = object{"actual": "2026-11-22T11:00:00.000Z"} }), "which left 22 Nov 12:00 (11:00Z)"},
		"no flight": {func(b object) { b["legs"] = []object{} }, "No flight of the bag is known"},
		"no time":   {leg(func(l object) { delete(l, "departure") }), "LX14 to JFK</a>, 22 Nov."},
		"cancelled": {func(b object) {
			b["cancelled"] = true
			b["legs"].([]object)[0]["living"] = false
		}, "<p>Cancelled. Seen at ZRH.</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			showBag(t, tc.change, tc.want,
				"Last seen 22 Nov 11:52 (10:52Z) at ZRH MAKEUP12", "Bag of <b>ANNA MUELLER</b>", `<code>.V/1LZRH</code>`, `<svg class="pic"`, "LX992001234567",
				"UTC+01:00", `<b>11:52</b><small>10:52Z</small>`)
		})
	}
}

// transfer gives a bag a second leg, JFK to LAX, on which it is not loaded.
func transfer(b object) {
	b["legs"] = append(b["legs"].([]object), object{
		"airline": "AA", "flight": "100", "date": "2026-11-22", "from": "JFK", "to": "LAX", "living": true, "status": "Not Loaded", "departure": object{"scheduled": "2026-11-22T18:00:00.000Z"},
	})
}

func TestABagOnItsWayToATransferIsNotAtItsFirstAirport(t *testing.T) {
	showBag(t, func(b object) {
		l := b["legs"].([]object)[0]
		l["status"], l["departure"] = "Loaded on Aircraft", object{"actual": "2026-11-22T11:00:00.000Z"}
		transfer(b)
	}, `<p>Not loaded on <a href="/console/flights/JFK/D/AA/100/2026-11-22">`)
}

func TestABagAtAnAirportOfACityIsWhereALegOfTheCityBegins(t *testing.T) {
	showBag(t, func(b object) {
		l := b["legs"].([]object)[0]
		l["status"], l["from"] = "Not Loaded", "LON"
		for _, e := range b["events"].([]object) {
			e["airport"] = "LHR"
		}
	}, "<p>At LHR, not loaded on <a")
}

// Screens that are too narrow for the trail show the list of the legs.
func TestTheListOfLegsEndsAtTheDestination(t *testing.T) {
	text := showBag(t, transfer)
	_, list, _ := strings.Cut(text, `<ol class="box legs"`)
	list, _, _ = strings.Cut(list, "</ol>")
	if !strings.Contains(list, "<b>JFK</b> New York<") || !strings.Contains(text, "<td>Zurich ZRH<br>New York JFK</td>") {
		t.Errorf("the cities are not named: %s", text)
	}
	var places []string
	for _, m := range regexp.MustCompile(`<b>(.*?)</b>`).FindAllStringSubmatch(list, -1) {
		places = append(places, m[1])
	}
	if !slices.Equal(places, []string{"ZRH", "JFK", "LAX"}) {
		t.Errorf("%q", places)
	}
}

func TestALegIsNotFlownBeforeItsDeparture(t *testing.T) {
	for departure, class := range map[string]string{"2026-11-22T12:10:00.000Z": "plan", "2026-11-22T11:10:00.000Z": "rail"} {
		showBag(t, func(b object) {
			l := b["legs"].([]object)[0]
			l["status"], l["departure"] = "Loaded on Aircraft", object{"scheduled": departure}
		}, `<line class="`+class+`"`)
	}
}

func TestARushChainIsOneTrail(t *testing.T) {
	v := newV1(object{
		"GET " + bagPath: bagsOf(func(b object) {
			b["rush_plate"], b["chain"] = "2724900417", []string{"0724000002", "2724900417"}
			b["legs"].([]object)[0]["status"], b["legs"].([]object)[0]["departure"] = "Delayed", object{"actual": "2026-11-22T11:00:00.000Z"}
		}),
		"GET /v1/bags": bagsOf(func(b object) {
			b["plate"], b["rush"], b["chain"] = "2724900417", true, []string{"0724000002", "2724900417"}
			b["passenger"] = object{} // messages about rush bags need not name anybody
			b["events"].([]object)[1]["happened"] = "2026-11-22T11:02:00.000Z"
		}),
	})
	must(t, get(newConsole(v), bagPage), 200, "Rush chain", "It missed LX14 on 22 Nov", `Seen with the tag <a class="plate" href="/console/bags/2724900417">`,
		`class="elb"`, "plate=0724000002&amp;plate=2724900417")
	v.answers["GET /v1/bags"] = 403
	must(t, get(newConsole(v), bagPage), 200, "Rush chain", `href="/console/bags/2724900417"`)
}

// The plate of the original is used again, by a passenger with the same surname, and in the same
// booking.
func TestTheBagOfARushChainIsTheOneWhoseChainHasTheBag(t *testing.T) {
	chain := []string{"0724000001", "0724000002"}
	original := func(event string, chain []string) func(object) {
		return func(b object) {
			b["plate"], b["events"].([]object)[0]["id"] = "0724000001", event
			if chain != nil {
				b["chain"] = chain
				b["passenger"] = object{}
			}
		}
	}
	v := newV1(object{
		"GET " + bagPath: bagsOf(func(b object) { b["rush"], b["chain"] = true, chain }),
		"GET /v1/bags":   bagsOf(original("before", nil), original("right", chain), original("after", nil)),
	})
	c := newConsole(v)
	for range 2 {
		if text := must(t, get(c, bagPage), 200, `id="e-right"`); strings.Contains(text, `id="e-before"`) || strings.Contains(text, `id="e-after"`) {
			t.Error("the trail has another bag of the original's plate")
		}
		v.answers["GET /v1/bags"] = bagsOf(original("right", nil), func(b object) { // has another rush bag, later
			b["plate"], b["passenger"], b["events"].([]object)[0]["id"] = "0724000001", object{"pnr": "ABC009", "last_name": "MUELLER"}, "after"
		})
	}
}

// The plate of the bag itself, those of its rush chain, and those of others with its PNR are not among
// them.
func TestABagLeadsToTheOtherBagsOfItsPassenger(t *testing.T) {
	plate := func(plate string) func(object) { return func(b object) { b["plate"] = plate } }
	other := func(last, first string) func(object) {
		return func(b object) {
			b["plate"] = "0724000004"
			b["passenger"] = object{"pnr": "ABC002", "last_name": last, "first_name": first}
		}
	}
	v := newV1(object{
		"GET " + bagPath: bagsOf(func(b object) { b["chain"] = []string{"0724000002", "2724900417"} }), "GET /v1/bags": bagsOf(),
		"POST /v1/bags/search": bagsOf(plate("0724000002"), plate("0724000003"), plate("0724000003"), plate("2724900417"), other("GRIM", "ANNA"), other("MUELLER", "EVA")),
	})
	c := newConsole(v)
	must(t, get(c, bagPage), 200, `<dt>Other bags</dt><dd><a class="plate" href="/console/bags/0724000003"><span>0724</span> 000003</a><br></dd>`)
	if last := v.asked[len(v.asked)-1]; !strings.HasPrefix(last, "POST /v1/bags/search ") || !strings.Contains(last, `"date":"2026-11-22"`) || !strings.Contains(last, `"pnr":"ABC002"`) {
		t.Error(last)
	}
	v.answers["GET "+bagPath] = bagsOf(func(object) {}) // no rush chain
	must(t, get(c, bagPage), 200, `<dt>Other bags</dt><dd><a class="plate" href="/console/bags/0724000003"><span>0724</span> 000003</a><br><a class="plate" href="/console/bags/2724900417">`)
	v.answers["POST /v1/bags/search"] = 503
	if w := get(c, bagPage); w.Code != 200 || strings.Contains(w.Body.String(), "Other bags") {
		t.Errorf("without an answer about the other bags: %d", w.Code)
	}
}

func TestABagThatWasSeenAtItsDestinationIsNotOnTheAircraft(t *testing.T) {
	if text := showBag(t, func(b object) {
		b["legs"].([]object)[0]["status"] = "Loaded on Aircraft"
		b["events"] = append(b["events"].([]object), object{
			"id": "e3", "code": "SORTED", "description": "Bag Sorted", "airport": "JFK", "happened": "2026-11-22T11:22:00.000Z", "local": "2026-11-22T06:22:00.000-05:00", "received": "2026-11-22T11:22:00.000Z",
		})
	}, "At JFK, arrived with <a"); strings.Contains(text, "<p>On aircraft") {
		t.Error("the bag is still on the aircraft")
	}
}

// The airport of the first flight may send no messages about loading. Then its leg becomes Delayed.
func TestABagIsOnTheLastLegOnWhichItIsLoaded(t *testing.T) {
	for _, status := range []string{"Not Loaded", "Offloaded", "Delayed"} {
		first := object{"airline": "OS", "flight": "565", "date": "2026-11-22", "from": "VIE", "to": "ZRH", "living": true, "status": status, "departure": object{"actual": "2026-11-22T08:00:00.000Z"}}
		showBag(t, func(b object) { b["legs"] = append([]object{first}, b["legs"].([]object)...) }, "<p>At ZRH, in container for <a href=\"/console/flights/ZRH/D/LX/14/2026-11-22\">")
	}
}

// The inbound flight of a transfer bag, which a message names in .I, has no status.
func TestALegWithoutAStatusIsNotSaidToBeNotLoaded(t *testing.T) {
	inbound := object{"airline": "BA", "flight": "703", "date": "2026-11-22", "from": "LHR", "to": "ZRH", "living": true, "departure": object{"actual": "2026-11-22T08:00:00.000Z"}}
	transfer := bagsOf(func(b object) { b["legs"] = append([]object{inbound}, b["legs"].([]object)...) })
	v := newV1(object{"GET " + bagPath: transfer, "POST /v1/bags/search": transfer})
	c := newConsole(v)
	must(t, get(c, bagPage), 200, "<p>At ZRH, in container for <a href=\"/console/flights/ZRH/D/LX/14/2026-11-22\">")
	must(t, search(c, "0724000002 0724000003"), 200, "<b>LX14</b> ZRH to JFK", "In container")
	v.answers["GET "+bagPath] = bagsOf(func(b object) { b["legs"] = []object{inbound} })
	must(t, get(c, bagPage), 200, "<p>Seen at ZRH. Not known whether it was loaded on <a", "which left 22 Nov 08:00")
}

// Not every airport tells that a bag is loaded on the aircraft, or loaded at all.
func TestABagThatHasArrivedIsNotWhereItWasBefore(t *testing.T) {
	for _, tc := range []struct{ status, code, flight, want string }{
		{"Loaded in Container", "TRACKED", "", "<p>At JFK, arrived with <a"},
		{"Not Loaded", "ARRIVED", "14", "<p>At JFK, arrived with <a"},
		{"Offloaded", "ARRIVED", "14", "<p>At JFK, arrived with <a"},
		{"Not Loaded", "ARRIVED SORTED", "14", "<p>At JFK, arrived with <a"},
		{"Not Loaded", "TRACKED", "14", "<p>Not loaded on <a"},
		{"Not Loaded", "ARRIVED", "16", "<p>Not loaded on <a"},
	} {
		showBag(t, func(b object) {
			b["legs"].([]object)[0]["status"] = tc.status
			for i, code := range strings.Fields(tc.code) {
				at := fmt.Sprintf("2026-11-22T11:%d:00.000Z", 22+i)
				b["events"] = append(b["events"].([]object), object{
					"id": code, "code": code, "airport": "JFK", "happened": at, "local": at, "received": at,
					"flight_info": object{"outbound": object{"airline": "SWR", "flight": tc.flight, "date": "2026-11-22", "dest_airport": "JFK"}},
				})
			}
		}, tc.want)
	}
}

// A leg may end at a metropolitan code. On the way between two airports of a city, a bag at the
// first one has not arrived.
func TestABagAtAnAirportOfItsCityHasArrived(t *testing.T) {
	for _, tc := range []struct{ from, to, at, want string }{
		{"ZRH", "LON", "LHR", "<p>At LHR, arrived with <a"}, {"LGW", "LHR", "LHR", "<p>At LHR, arrived with <a"}, {"LGW", "LHR", "LGW", "<p>On aircraft, <a"}, {"ZRH", "ZRH", "ZRH", "<p>On aircraft, <a"},
	} {
		showBag(t, func(b object) {
			leg := b["legs"].([]object)[0]
			leg["status"], leg["from"], leg["to"] = "Loaded on Aircraft", tc.from, tc.to
			b["events"] = append(b["events"].([]object), object{
				"id": "e3", "code": "ARRIVED", "description": "Bag Arrived", "airport": tc.at, "happened": "2026-11-22T11:22:00.000Z", "local": "2026-11-22T11:22:00.000Z", "received": "2026-11-22T11:22:00.000Z",
			})
		}, tc.want)
	}
}

func TestARushBagLeadsToItsOriginal(t *testing.T) {
	v := newV1(object{
		"GET " + bagPath: bagsOf(func(b object) { b["rush"], b["chain"] = true, []string{"0724000001", "0724000002", "2724900417"} }),
		"GET /v1/bags":   403,
	})
	text := must(t, get(newConsole(v), bagPage), 200, `Rush bag of <a class="plate" href="/console/bags/0724000001">`)
	if n := strings.Count(text, "Rush bag of"); n != 1 {
		t.Errorf("the original stands there %d times", n)
	}
	v.answers["GET "+bagPath] = bagsOf(func(b object) { b["chain"] = []string{"0724000002", "2724900417"} })
	if strings.Contains(must(t, get(newConsole(v), bagPage), 200), "Rush bag of") {
		t.Error("an original is said to be a rush bag")
	}
}

// Messages that are posted together are received together, and happen then if they carry no time. A
// read time without seconds stands at the end of its minute.
func TestTheLastEventOfTheBagIsTheLatest(t *testing.T) {
	for _, first := range []object{
		{"happened": "2026-11-22T10:52:00.000Z", "local": "2026-11-22T11:52:00.000+01:00", "received": "2026-11-22T10:52:03.000Z"},
		{"happened": "2026-11-22T10:52:30.000Z", "local": "2026-11-22T11:52:30.000+01:00", "received": "2026-11-22T10:53:01.000Z"},
	} {
		showBag(t, func(b object) { maps.Copy(b["events"].([]object)[0], first) }, "at ZRH MAKEUP12", "ago: In container.")
	}
}

func TestOnlyACallerWhoAcceptsItGetsGzip(t *testing.T) {
	for accepted, want := range map[string]string{"": "", "gzip": "gzip", "br, gzip;q=0.5": "gzip", "gzip; q=0": "", "gzip;q=0.000, br": ""} {
		if got := get(newConsole(newV1(nil)), "/console/login", "Accept-Encoding", accepted).Header().Get("Content-Encoding"); got != want {
			t.Errorf("%q: %q, want %q", accepted, got, want)
		}
	}
}

func TestCodesOfMessagesAreTranslated(t *testing.T) {
	for code, want := range map[string]string{"B": "boarded", "C": "checked in", "N": "not checked in", "S": "standby", "X": "X"} {
		showBag(t, func(b object) {
			b["passenger"].(object)["status"], b["checked"] = code, object{"bags": 1, "weight": 20, "unit": "K"}
		}, "<dd>"+want+"</dd>", "<dd>1 bag, 20 kg</dd>")
	}
	showBag(t, func(b object) { b["checked"] = object{"bags": 2, "weight": 44, "unit": "L"} }, "<dd>2 bags, 44 lb</dd>")
}

func TestEventsBeforeAndAfterTheClocksChangeHaveTheirOffsets(t *testing.T) {
	showBag(t, func(b object) {
		first, last := b["events"].([]object)[0], b["events"].([]object)[1]
		first["happened"], first["local"] = "2026-10-24T23:30:00.000Z", "2026-10-25T01:30:00.000+02:00"
		last["happened"], last["local"] = "2026-10-25T09:00:00.000Z", "2026-10-25T10:00:00.000+01:00"
	}, "Sun 25 Oct, UTC+01:00", "Sun 25 Oct, UTC+02:00")
}

func TestTwoBagsOfAPlateAreBothShown(t *testing.T) {
	two := bagsOf(nil, func(b object) { b["passenger"] = object{"last_name": "KELLER"} })
	text := must(t, get(newConsole(newV1(object{"GET " + bagPath: two})), bagPage), 200, "2 bags have this plate", "MUELLER", "KELLER", `aria-label="Events, bag 2"`)
	seen := make(map[string]bool)
	for _, name := range regexp.MustCompile(`<section [^>]*aria-label="[^"]*"| id="[^"]*"`).FindAllString(text, -1) {
		if seen[name] {
			t.Errorf("two elements have%s", name) // both bags may have an event of one message
		}
		seen[name] = true
	}
	must(t, get(newConsole(newV1(object{"GET " + bagPath: bagsOf()})), bagPage), 200, "No bag has the plate 0724000002")
}

func TestMarkupInMessagesIsText(t *testing.T) {
	attack := `"><script>alert(1)</script><img src=x onerror=alert(2)>'` + "`{{.}}"
	v := newV1(object{
		"GET " + flightPath: flightOf(3), "GET " + bagPath: bagsOf(nil), "POST /v1/bags/search": bagsOf(nil),
		"GET /v1/session": object{"name": attack, "airlines": []string{attack}, "airports": []string{attack}, "operations": []string{"*"}},
	})
	found := v.answers["POST /v1/bags/search"].(object)
	found["bags"] = append(found["bags"].([]object), bagOnFlight(3))
	var poison func(value any) any
	poison = func(value any) any {
		switch x := value.(type) {
		case object:
			for name, member := range x {
				if name == "status" && fmt.Sprintf("%T", member) == "map[string]int" || strings.Contains("happened local received changed departure arrival status_since", name) {
					continue
				}
				x[name] = poison(member)
			}
			return x
		case []object:
			for i := range x {
				poison(x[i])
			}
			return x
		case []string:
			return []string{attack, attack}
		case string:
			return attack
		}
		return value
	}
	for _, answer := range v.answers {
		poison(answer)
	}
	c := newConsole(v)
	for _, text := range []string{
		must(t, get(c, flightPage), 200), must(t, get(c, bagPage), 200),
		must(t, search(c, attack+" mueller LX14"), 200),
		must(t, get(c, "/console/login?ended&next="+url.QueryEscape("/console/"+attack)), 200),
	} {
		for _, bad := range []string{"<script>", "<img", `""`, `"'`} {
			if strings.Contains(strings.ReplaceAll(text, `=""`, ""), bad) {
				t.Errorf("%s in %.3000s", bad, text)
			}
		}
	}
}

func TestEveryAnswerHasThePolicyAndNothingInline(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(5), "GET " + bagPath: bagsOf(nil)}))
	for _, target := range []string{"/console/", "/console", flightPage, bagPage, "/console/search", "/console/login", "/console/nothing", "/console/console.css", "/console/console.js"} {
		w := get(c, target)
		if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'self';") || strings.Contains(got, "unsafe") {
			t.Errorf("%s: %q", target, got)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Referrer-Policy") != "same-origin" || w.Header().Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s: %v", target, w.Header())
		}
		for _, bad := range []string{" style=", "<style", "onclick", "javascript:", "<script>", "http://", "https://"} {
			if strings.Contains(w.Body.String(), bad) && !strings.HasSuffix(target, ".js") {
				t.Errorf("%s holds %s", target, bad)
			}
		}
	}
}

func TestAProblemHasItsState(t *testing.T) {
	for status, want := range map[int]string{
		400: "Not understood", 403: "Not authorised", 404: "Not found", 429: "Too many requests", 503: "answered 503, SVCSRV001",
	} {
		c := newConsole(newV1(object{"GET " + flightPath: status, "GET " + bagPath: status}))
		for _, page := range []string{flightPage, bagPage} {
			text := must(t, get(c, page), status, want, "7f3c0b52")
			if status == 403 {
				must(t, get(c, page), status, "No customer is associated with the key. It covers")
			}
			if strings.Contains(text, "data-retry") != (status >= 429) {
				t.Errorf("%d: %s", status, text)
			}
			must(t, get(c, page+"?rows="), status)
		}
	}
}

// Some details have a full stop, such as those that say what the caller can do, and some have none.
func TestADetailIsShownWithOneFullStop(t *testing.T) {
	for _, detail := range []string{"Ask the operator", "Ask the operator."} {
		for status, want := range map[int]string{
			403: "Ask the operator. It covers", 404: "Ask the operator.</p>", 409: "Ask the operator. Nothing was changed", 503: "Ask the operator. Nothing is lost",
		} {
			c := newConsole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/session" {
					newV1(nil).ServeHTTP(w, r)
					return
				}
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"status":%d,"title":"Refused","detail":%q}`, status, detail)
			}))
			must(t, get(c, flightPage), status, want)
		}
	}
}

// A text in an alert that changes every second would be read out every second.
func TestAPageAndItsScriptWaitAsLongAsARefusalTells(t *testing.T) {
	refused := newV1(object{"GET " + flightPath: 429, "POST /v1/session": 429})
	told := newConsole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "37")
		refused.ServeHTTP(w, r)
	}))
	must(t, get(told, flightPage), 429, "loads again in <span role=\"timer\" aria-live=\"off\" data-seconds>37</span> s")
	must(t, get(newConsole(refused), flightPage), 429, "loads again in <span role=\"timer\" aria-live=\"off\" data-seconds>10</span> s")
	for _, w := range []*httptest.ResponseRecorder{
		get(told, flightPage), get(told, flightPage+"?rows="), post(told, "/console/login", url.Values{"key": {"guess"}}),
	} {
		if w.Code != 429 || w.Header().Get("Retry-After") != "37" {
			t.Errorf("%d %q", w.Code, w.Header())
		}
	}
}

func TestAFlightWithoutADestinationHasATitle(t *testing.T) {
	empty := flightOf(0)
	delete(empty["flight"].(object), "to")
	showFlight(t, empty, "<title>LX14 ZRH, 22 Nov · bagtrail</title>")
	delete(empty["flight"].(object), "from")
	showFlight(t, empty, "<title>LX14, 22 Nov · bagtrail</title>")
}

// A page is printed long after it was opened. What keeps it live keeps the time of its print too.
func TestTheTimeOfAPrintIsKeptLive(t *testing.T) {
	c := newConsole(newV1(object{"GET " + flightPath: flightOf(2), "GET " + bagPath: bagsOf(nil), "GET /v1/flights": flightsOf(3)}))
	for _, page := range []string{flightPage + "?rows=", "/console/bags/0724000002?rows=", "/console/flights?airport=ZRH&direction=D&date=2026-11-22&rows="} {
		must(t, get(c, page), 200, `id="heading"`, `data-print="Printed `, "11:32Z, by zrh-ops")
	}
}

func TestWhoIsNotLoggedInIsLedToTheLoginAndBack(t *testing.T) {
	v := newV1(object{"GET /v1/session": 401})
	c := newConsole(v)
	w := get(c, flightPage+"?show=.rush")
	leadsTo(t, "a flight", w, "/console/login?ended&next="+url.QueryEscape(flightPage+"?show=.rush"))
	must(t, get(c, flightPage+"?rows="), 401)
	must(t, get(c, w.Header().Get("Location")), 200, `value="`+flightPage+`?show=.rush"`, "your session has ended")
	if w := search(c, "MUELLER LX14"); strings.Contains(w.Header().Get("Location"), "MUELLER") {
		t.Error(w.Header())
	}
}

func TestAKeyIsExchangedForASession(t *testing.T) {
	v := newV1(object{"POST /v1/session": object{}, "DELETE /v1/session": object{}})
	c := newConsole(v)
	w := post(c, "/console/login", url.Values{"key": {" secret "}, "next": {flightPage}}, "Cookie", "bagtrail_session=old")
	last := v.headers[len(v.headers)-1]
	leadsTo(t, "a login", w, flightPage)
	if !strings.Contains(w.Header().Get("Set-Cookie"), "bagtrail_session=of-POST") {
		t.Errorf("%v", w.Header())
	}
	if last.Get("Authorization") != "Bearer secret" || last.Get("Cookie") != "" {
		t.Errorf("%v", last)
	}
	for _, next := range []string{"https://elsewhere.example/", "//elsewhere.example", "/console\\..", "/console/../v1/bags", "/console/%2e%2e/v1/bags", "/console/./login", "/console/%", "/v1/bags", "/console/logout", ""} {
		leadsTo(t, next, post(c, "/console/login", url.Values{"key": {"x"}, "next": {next}}), "/console/")
	}
	w = post(c, "/console/logout", nil, "Cookie", "bagtrail_session=old")
	if w.Code != 303 || w.Header().Get("Location") != "/console/login" || !strings.Contains(w.Header().Get("Set-Cookie"), "of-DELETE") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for status, want := range map[int]string{401: "This key is not known", 429: "Too many tries", 501: "no sessions", 503: "does not answer"} {
		v.answers["POST /v1/session"] = status
		must(t, post(c, "/console/login", url.Values{"key": {"x"}, "next": {flightPage}}), status, want, `aria-invalid="true"`, `value="`+flightPage+`"`)
	}
}

// The button Back shows pages that a browser keeps.
func TestALogoutLeavesNoPagesInTheBrowser(t *testing.T) {
	for _, answer := range []any{object{}, 503} {
		if w := post(newConsole(newV1(object{"DELETE /v1/session": answer})), "/console/logout", nil); w.Header().Get("Clear-Site-Data") != `"cache"` {
			t.Errorf("%v", w.Header())
		}
	}
}

func TestALogoutThatIsRefusedLeavesNoSessionInTheBrowser(t *testing.T) {
	for _, status := range []int{404, 429, 503} {
		v1 := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }) // sets no cookie
		w := post(newConsole(v1), "/console/logout", nil, "Cookie", "bagtrail_session=old")
		if set := w.Header().Get("Set-Cookie"); w.Code != 303 || !strings.HasPrefix(set, "bagtrail_session=;") || !strings.Contains(set, "Max-Age=0") {
			t.Errorf("%d: %d, Set-Cookie: %q", status, w.Code, set)
		}
	}
}

func TestAFormOfAnotherOriginIsRefused(t *testing.T) {
	v := newV1(object{"POST /v1/session": object{}, "DELETE /v1/session": object{}, "POST /v1/bags/search": bagsOf(nil)})
	c := newConsole(v)
	for _, target := range []string{"/console/login", "/console/logout", "/console/search"} {
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://elsewhere.example"}} {
			if w := post(c, target, url.Values{"key": {"x"}, "q": {"ABC123"}}, header...); w.Code != 403 || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s %v: %d", target, header, w.Code)
			}
		}
	}
	if len(v.asked) > 0 {
		t.Errorf("asked %q", v.asked)
	}
}

func TestTheOperationsGetTheCallerAndNoMore(t *testing.T) {
	v := newV1(object{"GET " + flightPath: flightOf(1)})
	get(newConsole(v), flightPage, "Cookie", "bagtrail_session=mine", "X-Request-Id", "abc", "Origin", "http://example.com", "api_key", "other", "Authorization", "Bearer other", "If-None-Match", "*")
	for _, h := range v.headers {
		if h.Get("Cookie") != "bagtrail_session=mine" || h.Get("X-Request-Id") != "abc" || h.Get("Origin") == "" || h.Get("Authorization")+h.Get("Api_key")+h.Get("If-None-Match") != "" {
			t.Errorf("%v", h)
		}
	}
}
