package hostile_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"bagtrail/internal/operation"
	"bagtrail/test/service"
)

// cell is one query by one key, and the whole answer that it must get.
type cell struct {
	key    scope
	method string
	target string
	body   string
	status int
	want   string
	tells  bool              // the key may get the answer; else it is refused
	same   func(string) bool // compares the body of an answer with the status; replaces want
	cookie string            // of the session with which the query is sent, instead of the key
	after  string            // a plate that must exist afterwards if tells is set, and must not otherwise
	once   bool              // a second query has another answer
}

// matrix makes the cells.
type matrix struct {
	world     []*luggage
	histories map[*luggage]string // answers to a key with every right
	v1        map[*luggage]string // the same in the form of /v1
	cells     []cell
	cookies   map[string]string // sessions by the name of the key
}

func newMatrix() *matrix {
	return &matrix{world: world(), histories: map[*luggage]string{}, v1: map[*luggage]string{}, cookies: map[string]string{}}
}

// keyFile writes a key file with a key that has every right and these keys.
func keyFile(t *testing.T, keys []scope) string {
	var file strings.Builder
	file.WriteString("keys:\n" + service.KeyEntry("all", service.DevelopmentKey, ", customer: ALL"))
	for _, k := range keys {
		file.WriteString(k.entry())
	}
	return service.WriteFile(t, "keys.yaml", file.String())
}

func notAuthorised(code, what string) string {
	return failure(code, "Customer Application not authorized to "+what)
}

// For every combination of keys, operations, airlines, airports and bags, no key gets data out of
// its scope, and no key is refused data in its scope (rules §4, key scope). Refused messages leave
// no trace.
func TestEveryKeySeesItsScopeAndNothingElse(t *testing.T) {
	keys := scopes()
	s := service.Start(t, noKafka, secret, "BAGTRAIL_LOG_LEVEL=warn", "BAGTRAIL_KEYS_FILE="+keyFile(t, keys))
	sendWorld(t, s)
	send(t, s, "BSM", ".V/1LZRH", ".F/LX1810/"+day(-1).bim()+"/FRA", ".N/0724000018001", ".P/SIERRA", ".L/SCOP18", "ENDBSM")

	m := newMatrix()
	for _, b := range m.world {
		got := s.Get(historyTarget(b.plate, b.day(), b.pnr))
		if got.Status != http.StatusOK || !strings.HasPrefix(got.Body, `{"success":true,"bag":{"bagtag":"`+b.plate+`"`) {
			t.Fatalf("bag %s is not as the model has it: %d %s", b.plate, got.Status, got.Body)
		}
		m.histories[b] = got.Body
		m.v1[b] = m.bagV1(t, s, b)
	}
	rejects := rejectedWorld(t, s)
	beginJobs(t, s, keys, rejects)
	rejectLater(t, s, keys, rejects)
	if !s.Until(patience, func() bool { return strings.Count(s.Get("/v1/feeds").Body, `"door":`) == 5 }) { // within a second
		t.Fatal(s.Get("/v1/feeds").Body)
	}
	for _, k := range keys {
		m.flights(k)
		m.history(k)
		m.passengers(k)
		m.messages(k)
		m.reports(k)
		m.bagsV1(k)
		m.searchV1(k)
		m.airportV1(k)
		m.messagesV1(k)
		m.feedsV1(k)
		m.sessionV1(t, s, k)
		m.rejectsV1(k, rejects)
	}
	m.flightsV1(t, s, keys)
	m.airportsV1(t, s, keys)
	if missing := m.missing(); len(missing) > 0 {
		t.Errorf("no cell asks %q", missing)
	}
	leaks, refusals, others := m.ask(t, s)
	counted := map[bool]int{}
	for _, c := range m.cells {
		counted[c.tells]++
	}
	t.Logf("%d cells of %d keys, %d to be answered and %d to be refused: %d leaks, %d wrong refusals, %d other differences",
		len(m.cells), len(keys), counted[true], counted[false], leaks, refusals, others)
	if len(m.cells) < 10_000 {
		t.Errorf("only %d cells", len(m.cells))
	}
}

// missing returns the operations that no cell asks. Those for changes and webhooks have tests of
// their own, and sessionV1 begins a session of every key.
func (m *matrix) missing() (ids []string) {
	var operations http.ServeMux
	for _, op := range operation.All() {
		operations.Handle(op.Method+" "+op.Template, http.NotFoundHandler())
	}
	asked := map[string]bool{}
	for _, c := range m.cells {
		_, pattern := operations.Handler(httptest.NewRequest(c.method, c.target, http.NoBody))
		asked[pattern] = true
	}
	for _, op := range operation.All() {
		if op.Right != operation.Changes && op.Right != operation.Webhooks && op.ID != "beginSession" && !asked[op.Method+" "+op.Template] {
			ids = append(ids, op.ID)
		}
	}
	return ids
}

// ask sends every query, over several connections, every seventh GET also with a callback, and every
// seventh query to /v1 that files nothing also with a session of the key.
func (m *matrix) ask(t *testing.T, s *service.Service) (leaks, refusals, others int) {
	work := make(chan cell)
	var mu sync.Mutex
	var group sync.WaitGroup
	differs := func(c cell, got service.Answer, what string) {
		mu.Lock()
		defer mu.Unlock()
		switch success := strings.HasPrefix(got.Body, `{"success":true`) || strings.HasPrefix(got.Body, `{"bags":[{`) || strings.HasPrefix(got.Body, `{"flight":`) || strings.HasPrefix(got.Body, `{"flights":[{`); {
		case success: // a wrong answer, or one that must be refused
			leaks++
		case c.tells:
			refusals++
		default:
			others++
		}
		if leaks+refusals+others <= 20 {
			t.Errorf("%s: key %+v: %s %s %s\n got %d %s\nwant %d %s", what, c.key, c.method, c.target, c.body, got.Status, got.Body, c.status, c.want)
		}
	}
	for range 8 {
		group.Go(func() {
			for c := range work {
				if got, ok := c.ask(s); !ok {
					differs(c, got, "answer")
				}
				if c.after != "" {
					got := s.Get(service.HistoryPath(c.after, day(20).iso()))
					if (got.Body != noBag) != c.tells {
						differs(c, got, "trace of the message")
					}
				}
			}
		})
	}
	for i, c := range m.cells {
		work <- c
		if c.method == http.MethodGet && i%7 == 0 && c.same == nil && !strings.HasPrefix(c.target, "/v1/") {
			separator := "?"
			if strings.Contains(c.target, "?") {
				separator = "&"
			}
			c.want, c.target = "/**/a.b("+c.want+");", c.target+separator+"callback=a.b"
			work <- c
		}
		if i%7 == 0 && c.after == "" && !c.once && strings.HasPrefix(c.target, "/v1/") && c.target != sessionTarget {
			c.cookie = m.cookies[c.key.name]
			work <- c
		}
	}
	close(work)
	group.Wait()
	return leaks, refusals, others
}

func (c cell) ask(s *service.Service) (service.Answer, bool) {
	who := []string{"api_key", "key-of-" + c.key.name}
	if c.cookie != "" {
		who = []string{"api_key", "", "Cookie", c.cookie}
	}
	got, err := s.TryDo(c.method, c.target, strings.NewReader(c.body), append(who, "Content-Type", jsonType)...)
	if err != nil {
		got.Body = err.Error()
	}
	if c.same != nil && got.Status == c.status {
		return got, c.same(got.Body)
	}
	return got, got.Status == c.status && got.Body == c.want
}

func (m *matrix) add(c cell) {
	if c.method == "" {
		c.method = http.MethodGet
	}
	m.cells = append(m.cells, c)
}

// flights asks for the bags of every flight at both its ends. Airline and airport of the query must
// be in scope, whatever the data.
func (m *matrix) flights(k scope) {
	asked := []flight{{airline: "LX", number: "9999", from: "ZRH", to: "JFK"}, {airline: "AA", number: "1100", from: "LHR", to: "FRA"}}
	for _, b := range m.world {
		asked = slices.Concat(asked, b.living, b.gone)
	}
	for _, f := range asked {
		for _, end := range []struct{ airport, indicator string }{{f.from, "D"}, {f.to, "A"}} {
			if end.airport == "" {
				continue
			}
			c := cell{key: k, target: service.FlightPath(end.airport, end.indicator, f.airline, f.number, day(1).iso())}
			c.status, c.want = http.StatusBadRequest, notAuthorised("SVCGBF004", "get bags for this flight")
			if covers(k.operations, "bagsforflight") && covers(k.airlines, f.airline) && covers(k.airports, end.airport) {
				c.status, c.want = http.StatusOK, m.flightList(f)
				c.tells = strings.HasPrefix(c.want, `{"success":true`)
			}
			m.add(c)
		}
	}
}

func (m *matrix) flightList(f flight) string {
	var bags []string
	for _, b := range m.world {
		for _, leg := range b.living {
			if leg.airline != f.airline || leg.number != f.number {
				continue
			}
			status := leg.status
			if status == "" {
				status = "Not Loaded"
			}
			bags = append(bags, object(`{"bag":{"bagtag":"`+b.plate+`","rush_bag_indicator":"`+b.indicator()+`"`,
				"passenger_last_name", b.surname, "loading_status", strings.Trim(status, "-"), "pnr", b.pnr)+"}")
		}
	}
	if len(bags) == 0 {
		return failure("SVCGBF001", "No bags found for flight")
	}
	return `{"success":true,"bags":[` + strings.Join(bags, ",") + `]}`
}

func (b *luggage) indicator() string {
	if b.rush {
		return "Y"
	}
	return "N"
}

// object completes an object with the members that have a value.
func object(begin string, members ...string) string {
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" {
			begin += `,"` + members[i] + `":"` + members[i+1] + `"`
		}
	}
	return begin + "}"
}

func historyTarget(plate, day, pnr string) string {
	target := service.HistoryPath(plate, day) + "?include_bim=true"
	if pnr != "" {
		target += "&pnr=" + pnr
	}
	return target
}

// history asks for every plate, with and without PNR. Plate and date alone decide whether the key
// is refused; bags out of scope do not exist for it.
func (m *matrix) history(k scope) {
	asked := map[[3]string]bool{{"0724999999", day(1).iso(), ""}: true}
	for _, b := range m.world {
		asked[[3]string{b.plate, b.day(), ""}] = true
		asked[[3]string{b.plate, b.day(), b.pnr}] = true
	}
	for q := range asked {
		c := cell{key: k, target: historyTarget(q[0], q[1], q[2]), status: http.StatusBadRequest}
		there := ofPlate(m.world, q[0])
		seen := sifted(there, k.bag)
		found := sifted(seen, func(b *luggage) bool { return q[2] == "" || b.pnr == q[2] })
		switch {
		case !k.customer:
			c.want = failure("SVCGBH015", "No customer id is associated with the API key, the customer setup must be completed with the operator")
		case !covers(k.operations, "history") || len(there) > 0 && len(seen) == 0 && !k.conceal:
			c.want = notAuthorised("SVCGBH014", "get this bag history")
		case len(found) == 0:
			c.status, c.want = http.StatusOK, noBag
		case len(found) > 1:
			c.status, c.want = http.StatusOK, failure("SVCGBH001", "Multiple bags found, a single bag history cannot be returned")
		default:
			c.status, c.want, c.tells = http.StatusOK, m.histories[found[0]], true
			c.same = func(got string) bool { return reflect.DeepEqual(decoded(got), m.shown(k, found[0])) }
		}
		m.add(c)
	}
}

// shown returns the history of a bag in the scope of a key: everything except the texts of messages
// that are not entirely in scope and the re-flighted bag, of which only the plate is shown, and
// only if the bag's own messages name it.
func (m *matrix) shown(k scope, b *luggage) any {
	history := decoded(m.histories[b]).(map[string]any)
	k.hide(b, history)
	return history
}

// hide removes from the events of a bag what the key does not see.
func (k scope) hide(b *luggage, history map[string]any) {
	for i, e := range history["events"].([]any) {
		event := e.(map[string]any)
		if !k.text(b.textOf(i)) {
			delete(event, "raw_bim_msg")
		}
		if b.original != nil && !k.bag(b.original) {
			delete(event, "reflighted_info")
			if b.named {
				event["reflighted_info"] = map[string]any{"bagtag": b.original.plate}
			}
		}
	}
}

func decoded(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err.Error()
	}
	return v
}

// passengers asks for every PNR. Rush bags out of scope are not shown.
func (m *matrix) passengers(k scope) {
	asked := map[string]bool{"NOBODY": true}
	for _, b := range m.world {
		asked[b.pnr] = b.pnr != ""
	}
	for pnr, wanted := range asked {
		if !wanted {
			continue
		}
		c := cell{key: k, target: service.PassengerPath(pnr, day(1).iso()), status: http.StatusBadRequest}
		there := sifted(m.world, func(b *luggage) bool { return b.pnr == pnr && len(b.living) > 0 })
		found := sifted(there, k.bag)
		switch {
		case !covers(k.operations, "bagsforpassenger") || len(there) > 0 && len(found) == 0 && !k.conceal:
			c.want = notAuthorised("SVCGBP006", "get bags for this passenger")
		case len(found) == 0:
			c.status, c.want = http.StatusOK, failure("SVCGBH002", "No matching bags found")
		default:
			slices.SortFunc(found, func(a, b *luggage) int { return strings.Compare(a.plate, b.plate) })
			var bags []string
			for _, b := range found {
				rushTag := ""
				for r := b.reflight; r != nil && k.bag(r); r = r.reflight {
					rushTag = r.plate
				}
				bags = append(bags, object(`{"bagtag":"`+b.plate+`"`, "passenger_last_name", b.surname, "rush_bag_indicator", b.indicator(), "rushtag", rushTag))
			}
			c.status, c.want, c.tells = http.StatusOK, `{"success":true,"bags":[`+strings.Join(bags, ",")+`]}`, true
		}
		m.add(c)
	}
}

// messages sends messages of every kind. The .V airport must be in scope, and in each group the .F
// airline; without .F the airlines must be *.
func (m *matrix) messages(k scope) {
	d := day(20).bim()
	for _, form := range []struct {
		lines    string
		airport  string
		airlines []string // of the groups; "" is no .F
	}{
		{"BSM .V/1LZRH .F/LX9001/" + d + "/JFK .N/# ENDBSM", "ZRH", []string{"LX"}},
		{"BSM .V/1LLHR .F/BA9002/" + d + "/JFK .N/# ENDBSM", "LHR", []string{"BA"}},
		{"BSM .V/1LJFK .F/AA9003/" + d + "/ZRH .O/LX9004/" + d + "/FRA .N/# ENDBSM", "JFK", []string{"AA"}},
		{"BSM .V/1TFRA .I/BA9005/" + d + "/LHR .F/LX9006/" + d + "/ZRH .N/# ENDBSM", "FRA", []string{"LX"}},
		{"BSM .V/1LZRH .F/LX9007/" + d + "/JFK .N/# .P/ONE .F/BA9008/" + d + "/LHR .N/0724777777001 .P/TWO ENDBSM", "ZRH", []string{"LX", "BA"}},
		{"BSM .V/1LZRH .F/AA9009/" + d + "/JFK .N/0724777778001 .P/ONE .N/# .P/TWO ENDBSM", "ZRH", []string{"AA", "AA"}},
		{"BPM .V/1LLHR .J/S .F/LX9010/" + d + "/ZRH .N/# ENDBPM", "LHR", []string{"LX"}},
		{"BPM .V/1LKEF .J/S//A/" + d + "/1200Z .N/# ENDBPM", "KEF", []string{""}},
		{"BPM .V/1LZRH .F/BA9011/" + d + "/LHR .B/OFF/# ENDBPM", "ZRH", []string{"BA"}},
		{"BPM .V/1LZRH .F/LX9012/" + d + "/LHR .U/AKE99999LX ENDBPM", "ZRH", []string{"LX"}},
	} {
		c := cell{key: k, method: http.MethodPost, target: service.ProcessPath, status: http.StatusUnauthorized}
		plate := fmt.Sprintf("3%09d", len(m.cells))
		c.body = `{"bim_message":` + service.Quoted(strings.ReplaceAll(strings.ReplaceAll(form.lines, " ", "\r\n"), "#", plate+"001")) + `}`
		c.want = notAuthorised("SVCSRV004", "process BPM")
		allowed := covers(k.operations, "processbim") && covers(k.airports, form.airport)
		for _, airline := range form.airlines {
			allowed = allowed && (airline == "" && everything(k.airlines) || airline != "" && covers(k.airlines, airline))
		}
		if allowed {
			c.status, c.want, c.tells = http.StatusOK, processed, true
		}
		if form.airport != "KEF" && strings.Contains(form.lines, "#") { // else it is on another day, or there is no bag
			c.after = plate
		}
		m.add(c)
	}
}

var reference = regexp.MustCompile(`"record_reference":"ZRHLX\d{5}"}$`)

// reports creates delayed-bag reports. Every vendor must be in scope. For a bag out of scope, the
// answer shows only the request itself.
func (m *matrix) reports(k scope) {
	there := &luggage{plate: "0724000018", surname: "SIERRA", living: []flight{{airline: "LX", number: "1810", from: "ZRH", to: "FRA"}}}
	for _, vendors := range [][]string{{"LX"}, {"BA"}, {"AA"}, {"LX", "BA"}, {"BA", "AA"}, {"LX", "LX"}, {"LX", "BA", "AA"}} {
		c := cell{key: k, method: http.MethodPost, target: delayedPath, status: http.StatusUnauthorized}
		c.body = `{"Request":` + service.Quoted(service.DelayedBagReport("CALLER", vendors, []string{there.plate, "0724000019"})) + `}`
		c.want = notAuthorised("SVCDBR005", "create delayed bag report for the airline")
		if covers(k.operations, "delayedbags") && !slices.ContainsFunc(vendors, func(airline string) bool { return !covers(k.airlines, airline) }) {
			surname := "CALLER"
			if k.bag(there) {
				surname = there.surname
			}
			want := `{"success":true,"bags":[{"bagtag":"` + there.plate + `","passenger_last_name":"` + surname +
				`","rush_bag_indicator":"N"},{"bagtag":"0724000019","passenger_last_name":"CALLER","rush_bag_indicator":"N"}],`
			c.status, c.want, c.tells = http.StatusOK, want, true
			c.same = func(got string) bool { return strings.HasPrefix(got, want) && reference.MatchString(got) }
		}
		m.add(c)
	}
}
