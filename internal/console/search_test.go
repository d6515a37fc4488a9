package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bagtrail/internal/fault"
)

func TestWordsOfASearchAreReadByTheirForm(t *testing.T) {
	for q, want := range map[string]struct {
		reading string // as the page says it
		asked   string // a part of the body of the first search
	}{
		"123456":                {"end of a plate 123456", `"plate_end":"123456"`},
		"abc123":                {"PNR ABC123", `"pnr":"ABC123"`},
		"mueller lx14":          {"name MUELLER, flight LX14", `"airline":"LX"`},
		"mueller zrh":           {"name MUELLER, airport ZRH", `"airport":"ZRH"`},
		"müller":                {"name MÜLLER", `"last_name":"MÜLLER"`},
		"o'connor lx14 21nov":   {"name OCONNOR, flight LX14, 21 Nov", `"date":"2026-11-21"`},
		"mueller lx1014 31dec":  {"name MUELLER, flight LX1014, 31 Dec", `"date":"2026-12-31"`},
		"lee":                   {"name LEE", `"last_name":"LEE"`},
		"lee jfk":               {"name LEE, airport JFK", `"last_name":"LEE"`},
		"mueller lx14 abc123":   {"PNR ABC123, flight LX14", `"pnr":"ABC123"`},
		"mueller lx14 2jan":     {"name MUELLER, flight LX14, 2 Jan", `"date":"2027-01-02"`},
		"mueller lx14 21jun":    {"name MUELLER, flight LX14, 21 Jun", `"date":"2026-06-21"`},
		"mueller abc123 lx14":   {"PNR ABC123, flight LX14", `"pnr":"ABC123"`},
		"abc123 lx1014":         {"PNR ABC123, flight LX1014", `"pnr":"ABC123"`},
		"lx1014 abc123":         {"PNR ABC123, flight LX1014", `"pnr":"ABC123"`},
		"a1b2c3 lx1014":         {"PNR A1B2C3, flight LX1014", `"pnr":"A1B2C3"`},
		"baw703 abc123":         {"PNR ABC123, flight BAW703", `"pnr":"ABC123"`},
		"mueller 2026-01-02":    {"name MUELLER, 2 Jan", `"date":"2026-01-02"`},
		"mueller swr14a 1dec":   {"name MUELLER, flight SWR14A, 1 Dec", `"flight":"14A"`},
		"   ":                   {"", ""},
		"mueller 32nov":         {"PNR 32NOV", `"pnr":"32NOV"`},
		strings.Repeat("x ", 9): {"name XXXXXXXX or X", `"last_name":"X"`},
		"ba 703 mueller":        {"name MUELLER, flight BA703", `"flight":"703"`},
		"ba-703 mueller":        {"name MUELLER, flight BA703", `"flight":"703"`},
		"meier-mueller swr-14a": {"name MEIERMUELLER, flight SWR14A", `"airline":"SWR"`},
		"mueller swr 14a":       {"name MUELLER, flight SWR14A", `"airline":"SWR"`},
		"mueller/annamrs":       {"name MUELLER", `"last_name":"MUELLER"`},
		"de la/berg lx14":       {"name DELA, flight LX14", `"last_name":"DELA"`},
		"lx9999 31feb":          {"PNR 31FEB, flight LX9999", `"pnr":"31FEB"`},
		"mueller lx 14 21 nov":  {"name MUELLER, flight LX14, 21 Nov", `"date":"2026-11-21"`},
		"lee 21 nov":            {"name LEE, 21 Nov", `"date":"2026-11-21"`},
		"mueller lx142nov":      {"name MUELLERLXNOV or MUELLER or LXNOV", `"last_name":"MUELLER"`},
		"mueller lx14 9":        {"name MUELLER, flight LX14", `"last_name":"MUELLER"`},
	} {
		v := newV1(nil)
		w := search(newConsole(v), q)
		text := must(t, w, 200)
		var reading []string
		for _, part := range strings.Split(text, `<span class="tag">`)[1:] {
			tag, _, _ := strings.Cut(part, "<")
			reading = append(reading, tag)
		}
		if got := strings.Join(reading, ", "); got != want.reading {
			t.Errorf("%q is read as %q, want %q", q, got, want.reading)
		}
		if all := strings.Join(v.asked, "\n"); !strings.Contains(all, want.asked) {
			t.Errorf("%q asks %s", q, all)
		}
	}
}

// /v1 cannot be asked for a surname of more than 60 letters.
func TestALongNameIsNoError(t *testing.T) {
	long := strings.Repeat("É", 31)
	for q, reading := range map[string]string{
		long + " " + long + "A zrh": "name " + long + " or " + long + "A<", long[:40] + " " + long[:40]: "name " + long[:40] + long[:40] + " or ", long + long + " zrh": "airport ZRH<",
	} {
		v := newV1(object{"POST /v1/bags/search": func(body string) object {
			if strings.Contains(body, long+long) {
				t.Errorf("%s asks %s", q, body)
			}
			return bagsOf()
		}})
		must(t, search(newConsole(v), q), 200, "Nothing found", reading)
	}
}

// Several plates are searched for together, and those that are not found are named.
func TestSeveralPlatesAreSearchedForTogether(t *testing.T) {
	one := bagsOf(func(b object) { b["plate"] = "0724000002" })
	v := newV1(object{"POST /v1/bags/search": one})
	w := search(newConsole(v), "0724000001 0724 000002 mueller 0724000001")
	text := must(t, w, 200, "plate 0724000001<", "plate 0724000002<", "1 bag<", "Not found: <span>0724</span> 000001.", "Not used: MUELLER<")
	if strings.Contains(text, "departing") {
		t.Error("the page names days, which such a search does not have")
	}
	if asked := strings.Join(v.asked, "\n"); strings.Count(asked, "bags/search") != 1 || !strings.Contains(asked, `"plate":["0724000001","0724000002"]`) {
		t.Errorf("asks %s", asked)
	}
}

// twoBagsIf returns a /v1 that finds two bags if the body of a search meets a condition, otherwise none.
func twoBagsIf(meets func(body string) bool) *v1 {
	two := bagsOf(nil, func(b object) { b["plate"] = "0724000003" })
	return newV1(object{"POST /v1/bags/search": func(body string) object {
		if meets(body) {
			return two
		}
		return bagsOf()
	}})
}

// A passenger gives the first name first, and a surname may have several words.
func TestASurnameIsFoundAmongSeveralWords(t *testing.T) {
	v := twoBagsIf(func(body string) bool { return strings.Contains(body, `"last_name":"MUELLER"`) })
	c := newConsole(v)
	for q, want := range map[string][]string{
		"anna mueller lx14": {`name MUELLER<`, "Not used: ANNA<"},
		"mueller anna lx14": {`name MUELLER<`, "Not used: ANNA<"},
		"de la mueller":     {`name MUELLER<`, "Not used: DE, LA<"},
		"mue ller 7":        {`name MUELLER<`, "Not used: 7<"},
	} {
		must(t, search(c, q), 200, append(want, "2 bags")...)
	}
	must(t, search(c, "anna meier"), 200, "name ANNAMEIER or ANNA or MEIER<")
	v.asked = nil
	search(c, "A1B2C3 anna meier")
	if n := len(v.asked); n != 4 { // the session, and three days of the PNR
		t.Errorf("%d questions: %q", n, v.asked)
	}
}

// VAN, DEN, BOS and LEE are codes of airports too. Only the last word may be where to search.
func TestACodeOfAnAirportMayBeAPartOfAName(t *testing.T) {
	for q, want := range map[string]struct{ name, reading string }{
		"van den berg":      {"VANDENBERG", "name VANDENBERG<"},
		"van den berg lx14": {"VANDENBERG", "name VANDENBERG<"},
		"van den/berg lx14": {"VANDEN", "name VANDEN<"},
		"lee anna":          {"LEE", "Not used: ANNA<"},
		"zrh mueller":       {"MUELLER", "Not used: ZRH<"},
		"van den bos":       {"VANDENBOS", "name VANDENBOS<"},
		"van den bos lx14":  {"VANDENBOS", "name VANDENBOS<"},
		"van den bos zrh":   {"VANDENBOS", "airport ZRH<"},
		"lee zrh":           {"LEE", "airport ZRH<"},
	} {
		v := twoBagsIf(func(body string) bool {
			return strings.Contains(body, `"last_name":"`+want.name+`"`)
		})
		must(t, search(newConsole(v), q), 200, want.reading, "2 bags")
	}
}

// What a query says twice is not dropped without a word, and no airport is named that was not asked.
func TestTheSecondWordOfAKindIsNotUsed(t *testing.T) {
	c := newConsole(newV1(nil))
	for q, want := range map[string][]string{
		"mueller 20nov 21nov":   {`>20 Nov<`, "Not used: 21NOV<", "at ZRH."},
		"mueller lx14 lx 16":    {`>flight LX14<`, "Not used: LX 16<", "matches."},
		"a1b2c3 d4e5f6":         {`>PNR A1B2C3<`, "Not used: D4E5F6<", "matches."},
		"123456 654321":         {`>end of a plate 123456<`, "Not used: 654321<", "at ZRH."},
		"mueller zrh jfk lx 14": {`>airport JFK<`, "matches."},
		"mueller/anna zrh beat": {"Not used: ANNA, ZRH, BEAT<", "at ZRH."},
		"mueller7 zrh":          {`>name MUELLER<`, "Not used: 7<", "at ZRH."},
		"o724100001 zrh":        {`>name O<`, "Not used: 724100001<", "at ZRH."},
		"/mueller jfk":          {`>name MUELLER<`, ">airport JFK</span> <", "at JFK."},
	} {
		must(t, search(c, q), 200, want...)
	}
}

func TestOneHitOpensAtOnce(t *testing.T) {
	v := newV1(object{"POST /v1/bags/search": func(body string) object {
		if strings.Contains(body, "JFK") {
			return bagsOf()
		}
		return bagsOf(nil)
	}})
	c := newConsole(v)
	for q, want := range map[string]string{
		"0724000009":    "/console/bags/0724000009",
		"0724000009001": "/console/bags/0724000009",
		"07240000094":   "/console/bags/0724000009", // with its check digit
		"0724 000009":   "/console/bags/0724000009",
		"0724-000009":   "/console/bags/0724000009",
		"lx 14":         flightPage,
		"mueller lx14":  bagPage,
		"lx14":          flightPage,
		"lx14 21nov":    "/console/flights/ZRH/D/LX/14/2026-11-21",
		"lx14 jfk":      "/console/flights/JFK/D/LX/14/2026-11-22",
		"lx14 21 nov":   "/console/flights/ZRH/D/LX/14/2026-11-21",

		"lx 14 21 nov jfk":  "/console/flights/JFK/D/LX/14/2026-11-21",
		"lx14 jfk 21 nov":   "/console/flights/JFK/D/LX/14/2026-11-21",
		"jfk 21 nov lx14":   "/console/flights/JFK/D/LX/14/2026-11-21",
		"jfk 0724 000009":   "/console/bags/0724000009",
		"lx1421nov jfk":     "/console/flights/JFK/D/LX/14/2026-11-21",
		"lx14/21nov jfk":    "/console/flights/JFK/D/LX/14/2026-11-21",
		"swr1014/21nov/jfk": "/console/flights/JFK/D/SWR/1014/2026-11-21",
		"lx 14 21-nov zrh":  "/console/flights/ZRH/D/LX/14/2026-11-21",
		"lx14 8 nov":        "/console/flights/ZRH/D/LX/14/2026-11-08",
		"lx14/2026-11-08":   "/console/flights/ZRH/D/LX/14/2026-11-08",
	} {
		leadsTo(t, q, search(c, q), want)
	}
	for _, asked := range v.asked {
		if target, _, _ := strings.Cut(asked, "{"); strings.Contains(strings.ToLower(target), "mueller") {
			t.Errorf("a name stands in an address: %s", asked)
		}
	}
}

func TestAFlightThatArrivesIsFound(t *testing.T) {
	arriving := "/flights/ZRH/A/LX/15/2026-11-22"
	v := newV1(object{"GET /v1/flights/ZRH/D/LX/15/2026-11-22": flightOf(0), "GET /v1" + arriving: flightOf(2)})
	leadsTo(t, "lx15", search(newConsole(v), "lx15"), "/console"+arriving)
}

// Without a day, LX15 is the flight that arrives today, not that of the evening. Over the date line it
// has left two days before, or leaves tomorrow.
func TestAFlightThatLeftOnAnotherDayAndArrivesTodayIsFound(t *testing.T) {
	of := func(date string) string { return "/flights/ZRH/A/LX/15/" + date }
	for _, left := range []string{"2026-11-20", "2026-11-21", "2026-11-23"} {
		for arrival, want := range map[string]string{"2026-11-22T06:00:00.000Z": of(left), left + "T22:30:00.000Z": of("2026-11-22")} {
			list := flightOf(2)
			list["flight"].(object)["date"], list["flight"].(object)["arrival"] = left, object{"scheduled": arrival}
			v := newV1(object{"GET /v1" + of(left): list, "GET /v1" + of("2026-11-22"): flightOf(2)})
			for q, want := range map[string]string{"lx15": want, "lx15 22nov": of("2026-11-22")} {
				leadsTo(t, q+" of "+left+", arriving "+arrival, search(newConsole(v), q), "/console"+want)
			}
		}
	}
}

// SWR14 21NOV may be both. If no bag has that PNR on the day, it is the flight, if that has bags.
func TestAFlightOfADayMayHaveAnAirlineOfThreeLetters(t *testing.T) {
	v := newV1(nil)
	for _, number := range []string{"14", "014"} {
		flight := "/flights/ZRH/D/SWR/" + number + "/2026-11-21"
		v.answers["GET /v1"+flight] = flightOf(2)
		leadsTo(t, number, search(newConsole(v), "swr"+number+" 21nov"), "/console"+flight)
	}
	today := "/flights/ZRH/D/SWR/14/2026-11-22"
	v.answers["GET /v1"+today] = flightOf(2)
	leadsTo(t, "today", search(newConsole(v), "swr14 zrh"), "/console"+today)
	must(t, search(newConsole(v), "swr14"), 200, "PNR SWR14</span> <", "Nothing found")
	must(t, search(newConsole(v), "abc123 21nov"), 200, "Nothing found", "/console/flights/ZRH/D/ABC/123/2026-11-21")
	there := newV1(object{"POST /v1/bags/search": bagsOf(nil)})
	leadsTo(t, "a PNR", search(newConsole(there), "abc123 21nov"), bagPage)
}

func TestManyHitsAreListed(t *testing.T) {
	c := newConsole(twoBagsIf(func(string) bool { return true }))
	must(t, search(c, "ABC123"), 200, "2 bags", `href="/console/bags/0724000003"`, "In container", "between yesterday and tomorrow", "Search the last 7 days")
}

func TestEveryPageOfASearchIsRead(t *testing.T) {
	v := newV1(object{"POST /v1/bags/search": func(body string) object {
		if strings.Contains(body, `"cursor":"more"`) {
			return bagsOf(func(b object) { b["plate"] = "0724000003" })
		}
		first := bagsOf(nil)
		first["next"] = "more"
		return first
	}})
	must(t, search(newConsole(v), "ABC123"), 200, "2 bags", `href="/console/bags/0724000003"`)
}

func TestASearchThatFindsNothingHelps(t *testing.T) {
	v := newV1(nil)
	c := newConsole(v)
	must(t, get(c, "/console/search"), 200, "What to search for", "If you name no airport, the search is at ZRH")
	must(t, search(c, "mueller lx14"), 200, "Nothing found", flightPage)
	must(t, search(c, "!!"), 200, "None of the words is a plate")
	must(t, post(c, "/console/search", url.Values{"q": {"ABC123"}, "days": {"7"}}), 200, "in the last 7 days", "Search yesterday to tomorrow")
	v.answers["GET /v1/session"].(object)["airports"] = []string{"*"}
	must(t, search(c, "123456"), 200, "Which airport?", "needs an airport as well, such as <b>123456 ZRH</b>.")
}

// A key without a customer is refused. A key that does not cover the bags of a day finds nothing there,
// as if there were none.
func TestASearchIsRefusedToAKeyThatMayNotAskAtAll(t *testing.T) {
	v := newV1(object{"POST /v1/bags/search": 403})
	outOfScope := newConsole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/bags/search" {
			w.WriteHeader(403)
			fmt.Fprintf(w, `{"status":403,"title":%q,"detail":%q}`, fault.ForbiddenV1.Title, fault.ForbiddenV1.Remedy)
			return
		}
		v.ServeHTTP(w, r)
	}))
	for _, q := range []string{"ABC123", "ABC123 27nov", "mueller lx14 27nov", "123456 zrh"} {
		must(t, search(newConsole(v), q), 403, "Not authorised", "No customer is associated with the key. It covers")
		must(t, search(outOfScope, q), 200, "Nothing found")
	}
	v.answers["GET /v1/session"].(object)["operations"] = []string{"flights"}
	must(t, search(outOfScope, "ABC123"), 403, "Not authorised")
}

// A PNR may be that of another passenger, with bags out of scope, on another of the days.
func TestBagsOutOfScopeOnOneDayHideNoBagOfAnotherDay(t *testing.T) {
	there := newV1(object{"POST /v1/bags/search": bagsOf(nil)})
	c := newConsole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/bags/search" && !strings.Contains(string(body), `"date":"2026-11-22"`) {
			w.WriteHeader(403)
			fmt.Fprintf(w, `{"status":403,"title":%q,"detail":%q}`, fault.ForbiddenV1.Title, fault.ForbiddenV1.Remedy)
			return
		}
		there.ServeHTTP(w, r)
	}))
	leadsTo(t, "a PNR", search(c, "ABC123"), bagPage)
}

// Two bags of one plate may have no passenger; their flights tell them apart.
func TestEachBagOfAPlateIsAHit(t *testing.T) {
	on := func(date string) func(object) {
		return func(b object) {
			b["passenger"] = object{}
			b["legs"].([]object)[0]["date"] = date
		}
	}
	v := newV1(object{"POST /v1/bags/search": bagsOf(on("2026-11-02"), on("2026-11-22"))})
	must(t, search(newConsole(v), "0724000002 0724000003"), 200, "2 bags", "2 Nov", "22 Nov")
	v.answers["POST /v1/bags/search"] = func(body string) object {
		for _, date := range []string{"2026-11-16", "2026-11-22"} {
			if strings.Contains(body, date) {
				return bagsOf(on(date))
			}
		}
		return bagsOf()
	}
	must(t, post(newConsole(v), "/console/search", url.Values{"q": {"000002 zrh"}, "days": {"7"}}), 200, "2 bags", "16 Nov", "22 Nov")
	v.answers["POST /v1/bags/search"] = bagsOf(on("2026-11-22")) // the same bag on each day
	if w := post(newConsole(v), "/console/search", url.Values{"q": {"000002 zrh"}, "days": {"7"}}); w.Code != 303 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
