package apidoc_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apidoc"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/changes"
	"bagtrail/internal/feeds"
	"bagtrail/internal/flightref"
	"bagtrail/internal/operation"
	"bagtrail/internal/preview"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/requeststore"
	"bagtrail/internal/session"
	"bagtrail/internal/sessionstore"
	"bagtrail/internal/status"
	"bagtrail/internal/statusstore"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
	"bagtrail/internal/webhooks"
	"bagtrail/internal/wtr"
	"bagtrail/queryapi"
)

var (
	all  = apikey.Scope{All: true}
	none = apikey.Scope{Codes: []string{"XX"}}
)

// keys are those that the register's examples name.
type keys map[string]*apikey.Key

func (k keys) Lookup(text string, _ time.Time) (*apikey.Key, bool) {
	key, ok := k[text]
	return key, ok
}

var exampleKeys = keys{
	"demo":          {Name: "demo", Customer: "DEMO", Airlines: all, Airports: all, Operations: all},
	"other-airline": {Name: "other-airline", Customer: "X", Airlines: none, Airports: none, Operations: all},
	"no-customer":   {Name: "no-customer", Airlines: all, Airports: all, Operations: all},
}

// Named implements apikey.ByName.
func (k keys) Named(name string, now time.Time) (*apikey.Key, bool) { return k.Lookup(name, now) }

// timetable knows one leg.
type timetable struct{}

func (x timetable) Departure(f bag.Flight, from, _ string) (*flightref.Reference, bool) {
	return x.Lookup(f, from, "")
}

func (timetable) Lookup(f bag.Flight, origin, _ string) (*flightref.Reference, bool) {
	if f.Number != "100" || origin != "ZRH" {
		return nil, false
	}
	off := time.Date(2026, 3, 14, 12, 10, 0, 0, time.UTC)
	return &flightref.Reference{
		Flight: f, Carrier: f.Airline, Origin: "ZRH", Destination: "JFK", BlackoutStart: off.Add(-time.Hour), Subscription: true,
		Departure: flightref.Times{Scheduled: off}, Arrival: flightref.Times{Scheduled: off.Add(9 * time.Hour), Estimated: off.Add(8*time.Hour + 40*time.Minute)},
	}, true
}

// oneFeed knows one feed.
type oneFeed struct{}

func (oneFeed) Names(context.Context) ([]feeds.Name, error) {
	return []feeds.Name{{Airport: "ZRH", Door: "kafka"}}, nil
}

func (oneFeed) Read(_ context.Context, names []feeds.Name, _ int, now time.Time) (found []feeds.Feed, err error) {
	for _, name := range names {
		f := feeds.Feed{Name: name, First: now.Add(-40 * 24 * time.Hour), Last: now.Add(-12 * time.Second), Gap: 21 * time.Second, State: feeds.Flowing}
		for _, ago := range []time.Duration{time.Hour, 0} {
			h := feeds.Hour{Start: now.Truncate(time.Hour).Add(-ago)}
			h.Accepted, h.Duplicate, h.Rejected, h.Codes = 171, 2, 1, map[string]int64{"SVCPRB022": 1}
			h.Delays[3], h.Delays[9] = 100, 7
			f.Hours = append(f.Hours, h)
		}
		found = append(found, f)
	}
	return found, nil
}

// stack is the service with everything real but Redis, Kafka and the clock.
type stack struct {
	*web.Site
	index     *switchableIndex
	trails    *trail.Reader
	simulator *wtr.Simulator
	told      *toldIndex
	now       time.Time

	operations []web.Operation // that Site routes
	t          testing.TB
	described  map[string]operationObject // by operation, once an answer was checked
}

// toldIndex is an index of changes in which every plate has the latest sequence.
type toldIndex struct{ latest int64 }

func (x *toldIndex) State(ctx context.Context) (changes.Epoch, []changes.Progress, error) {
	progress := make([]changes.Progress, 12)
	for i := range progress {
		progress[i].Told = x.latest
	}
	e, err := x.Epoch(ctx)
	return e, progress, err
}

func (x *toldIndex) Epoch(context.Context) (changes.Epoch, error) {
	return changes.Epoch{Begun: 1773475200, Partitions: 12}, nil
}

func (x *toldIndex) Between(_ context.Context, _ changes.Epoch, _ []changes.Scope, _, told []int64, _ int) ([][]changes.Candidate, []int64, error) {
	return make([][]changes.Candidate, len(told)), told, nil
}

func (x *toldIndex) Sequences(_ context.Context, _ changes.Epoch, plates []bag.Plate, _, _ []int64) ([]int64, error) {
	return slices.Repeat([]int64{x.latest}, len(plates)), nil
}

// changesOf returns the target of a question for the changes since now, and lets the plates change.
func (s *stack) changesOf(t testing.TB, filter string) string {
	t.Helper()
	s.told.latest = 184466
	var answer struct{ Cursor string }
	if err := json.Unmarshal(s.ask("GET", "/v1/changes?"+filter, "demo", "").Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	s.told.latest++
	return "/v1/changes?" + filter + "&cursor=" + answer.Cursor
}

// switchableIndex is an index that can be unavailable, and that can panic.
type switchableIndex struct {
	*memory.Index
	away, broken bool
}

func (x *switchableIndex) Read(ctx context.Context, w trail.Wanted) (trail.Found, error) {
	switch {
	case x.broken:
		panic("broken")
	case x.away:
		return trail.Found{}, errors.New("index is away")
	}
	return x.Index.Read(ctx, w)
}

// newStack returns a stack. It has webhooks if they are given.
func newStack(t testing.TB, hooks ...*webhooks.Service) *stack {
	t.Helper()
	library := airport.New()
	s := &stack{t: t, simulator: &wtr.Simulator{}, index: &switchableIndex{Index: memory.New()}, now: time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return s.now }
	enrich := enricher.New(library)
	acceptor := ingestor.NewAcceptor(ingestor.Config{Judge: ingestor.NewJudge(library, enrich), Index: s.index})
	s.trails = trail.New(s.index, enrich, trail.Settings{Window: 10 * time.Minute, Airports: library, Now: clock})
	downstream := httptest.NewServer(s.simulator)
	t.Cleanup(downstream.Close)
	client := wtr.NewClient(downstream.URL, 5*time.Second, time.Now)
	trails := func(seen bag.Sight) queryapi.Trails { return s.trails.For(seen) }
	s.told = &toldIndex{}
	feed := changefeed.New(changefeed.Config{
		Changes: &changes.Reader{Index: s.told}, Trails: s.trails, Patient: s.trails, Airports: library, References: timetable{}, Clock: clock,
	})
	queries := queryapi.Queries{
		Trails: trails, Airports: library, Flights: timetable{}, Changes: feed, ChangesRetention: 72 * time.Hour, Feeds: oneFeed{}, Clock: clock,
	}
	answers := queryapi.Webhooks{Queries: queries}
	if len(hooks) > 0 {
		answers.Service = hooks[0]
	}
	operations := append(queries.Operations(), answers.Operations()...)
	remembered := requeststore.New(redistest.Open(t, ""))
	operations = append(operations,
		(&queryapi.DelayedBags{
			Trails: trails, Airports: library, Downstream: client, Reports: httpdoor.Reports{Acceptor: acceptor},
			Outcomes: remembered, Clock: clock,
		}).Operation(),
		httpdoor.Door{Acceptor: acceptor, Clock: clock}.Operation())
	operations = append(operations, httpdoor.Messages{
		Acceptor: acceptor, Attempts: remembered, Preview: preview.New(enrich, library), Airports: library, Bags: func(seen bag.Sight) httpdoor.Bags { return s.trails.For(seen) },
	}.Operations()...)
	rejects := rejectstore.New(redistest.Open(t, ""), 14*24*time.Hour, clock)
	s.reject(t, rejects, acceptor)
	jobs := 0
	rejectOperations := queryapi.Rejects{Store: rejects, Acceptor: slowAcceptor{acceptor, clock}, NewID: func() string {
		jobs++
		return "JOB" + strconv.Itoa(jobs)
	}}
	operations = append(operations, rejectOperations.Operations()...)
	monitor := &status.Monitor{
		Reports: statusstore.New(redistest.Open(t, "")), Process: "one",
		Look: func(context.Context) (status.Report, status.Parts) {
			return status.Report{
				At: clock(), Messages: 412.5, Consumer: &status.Backlog{Works: true, Reads: true, Records: 3, Seconds: 0.02}, Changes: &status.Backlog{Works: true, Reads: true},
			}, status.Parts{Kafka: status.OK, Redis: status.OK, DelayedBags: status.OK}
		},
	}
	operations = append(operations, monitor.Operation())
	sessions := session.New(exampleKeys, []byte("signing key"), sessionstore.New(redistest.Open(t, "")))
	operations = append(operations, web.SessionOperations()...)
	s.operations = operations
	pages := apidoc.Pages("test", clock, apidoc.Home{KnownKey: "demo"})
	s.Site = web.New(web.Settings{Keys: exampleKeys, Log: zap.NewNop(), Clock: clock, Sessions: sessions}, operations, pages)
	return s
}

// slowAcceptor is an acceptor with the clock of a test.
type slowAcceptor struct {
	*ingestor.Acceptor
	now func() time.Time
}

func (a slowAcceptor) Now() time.Time { return a.now() }

// reject stores the two rejected messages that the examples name.
func (s *stack) reject(t testing.TB, in *rejectstore.Store, judge *ingestor.Acceptor) {
	t.Helper()
	var rejections []ingestor.Rejection
	for i, text := range []string{
		"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFQ\r\n.N/0724100009001\r\n.P/1KELLER/PIA\r\nENDBSM\r\n", "BSM\r\n.V/1LZRG\r\nENDBSM\r\n",
	} {
		env := ingestor.Envelope{Raw: text, Received: s.now.Add(time.Duration(i-2) * time.Hour), Origin: "bim.raw/0/" + strconv.Itoa(17+i), Door: "kafka"}
		o := judge.Judge(env)
		rejections = append(rejections, ingestor.Rejection{Envelope: env, Errors: o.Errors, Airport: o.Airport})
	}
	if err := in.Reject(t.Context(), rejections); err != nil {
		t.Fatal(err)
	}
}

// ask asks the service. It fails the test if an answer of /v1 is not described.
func (s *stack) ask(method, target, key, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if key != "" {
		r.Header.Set("api_key", key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if id := operationAt(method, r.URL.Path); id != "" && !s.describes(id, w) {
		s.t.Errorf("%s %s: this answer of %s is not described: %d %v %s", method, target, id, w.Code, w.Header(), w.Body)
	}
	return w
}

var placeholder = regexp.MustCompile("{[a-z]+}")

// operationAt returns the id of the operation of /v1 at a path, or "".
func operationAt(method, at string) (id string) {
	for _, op := range operation.All() {
		if there, _ := path.Match(placeholder.ReplaceAllString(op.Template, "*"), at); !there || op.Method != method || !op.V1() {
			continue
		}
		if id == "" || op.Template == at { // as /v1/rejects/summary is no reject
			id = op.ID
		}
	}
	return id
}

// general are the headers that the document does not describe.
var general = []string{"Cache-Control", "Content-Length", "Content-Type", "X-Content-Type-Options"}

// describes reports whether the document has the status of an operation's answer, its headers and its
// problem.
func (s *stack) describes(id string, w *httptest.ResponseRecorder) bool {
	if s.described == nil {
		served := httptest.NewRecorder()
		s.ServeHTTP(served, httptest.NewRequest("GET", "/openapi.json", nil))
		var d document
		if err := json.Unmarshal(served.Body.Bytes(), &d); err != nil {
			s.t.Fatal(err)
		}
		s.described = map[string]operationObject{}
		for _, methods := range d.Paths {
			for _, o := range methods {
				s.described[o.OperationID] = o
			}
		}
	}
	response, known := s.described[id].Responses[strconv.Itoa(w.Code)]
	for header := range w.Header() {
		same := func(name string) bool { return http.CanonicalHeaderKey(name) == header }
		known = known && (slices.Contains(general, header) || slices.ContainsFunc(slices.Collect(maps.Keys(response.Headers)), same))
	}
	if !known || w.Code < 400 {
		return known
	}
	var problem struct{ Type string }
	err := json.Unmarshal(w.Body.Bytes(), &problem)
	return err == nil && strings.Contains(response.Description, "("+problem.Type+")")
}

// send processes messages, a minute apart.
func (s *stack) send(t testing.TB, messages ...string) {
	t.Helper()
	for _, m := range messages {
		text, _ := json.Marshal(map[string]string{"bim_message": m})
		if w := s.ask("POST", "/baggage/processbim/v1.0/", "demo", string(text)); w.Code != 200 {
			t.Fatalf("%q: %d %s", m, w.Code, w.Body)
		}
		s.now = s.now.Add(time.Minute)
	}
}

// journey holds the messages behind the examples: two bags of a passenger, and a plate that two
// passengers hold.
func journey() []string {
	return []string{
		"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK/Y\r\n.O/AA1/14MAR/LAX\r\n.N/0724100001001\r\n.S/Y/12A/C/001//N//A\r\n.W/K/2/31\r\n.P/1MUELLER/ANNAMRS\r\n.Y/LX992001234567/SEN\r\n.L/ABC123\r\nENDBSM\r\n",
		"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100002001\r\n.P/1MEIER/JOHNMR\r\n.L/DEF456\r\nENDBSM\r\n",
		"BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100002001\r\n.P/1HUBER/EVAMS\r\n.L/GHI789\r\nENDBSM\r\n",
		"BPM\r\n.V/1LZRH\r\n.J/S//B1/14MAR/080230Z/ZRHS1/ZRHT2\r\n.F/LX100/14MAR/JFK\r\n.N/0724100001001\r\nENDBPM\r\n",
		"BPM\r\n.V/1LZRH\r\n.J/R//B7/14MAR/090345L/ZRHR3/ZRHA4\r\n.F/LX100/14MAR/JFK\r\n.U/AKE25219LX/41\r\n.N/0724100001001\r\nENDBPM\r\n",
	}
}

// report is a request that the delayed-bag system takes, as the body of a POST.
func report() string {
	const document = `{"WTR_DelayedBagsCreateRQ":{"Version":0.1,"POS":{"Source":[{"AirlineVendorID":"LX"}]},"RefStationAirline":{"StationCode":"JFK","AirlineCode":"LX"},` +
		`"DelayedBagGroup":{"DelayedBags":{"DelayedBag":[{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"XXX"},"BagTag":{"LicenseNumber":{"TagType":"0","IssuerCode":"724"},"TagSequence":"100001"}}]}},` +
		`"Passengers":{"Names":{"Name":["MUELLER"]},"Itinerary":{"FlightSegments":{"FlightSegmentOrARNK":[{"FlightAndDate":{"AirlineCode":"LX","FlightNumber":"100","Date":"2026-03-14"}}]}}},"AgentID":"AGENT1"}}`
	text, _ := json.Marshal(map[string]string{"Request": document})
	return string(text)
}
