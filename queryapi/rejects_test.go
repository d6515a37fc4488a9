package queryapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/budget"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// rejectDesk is the service with a log, an index and rejects in memory.
type rejectDesk struct {
	*web.Site
	*ingestor.Acceptor
	t         *testing.T
	redis     *redis.Client
	store     *rejectstore.Store
	now       time.Time
	log       []ingestor.Record
	filed     int   // messages that the index did not hold before
	away      error // of the log, before it appends
	rejects   queryapi.Rejects
	jobs      int
	meanwhile func() // is called before the log appends
	lost      error  // of the index, after it files
	index     *memory.Index
}

func newRejectDesk(t *testing.T) *rejectDesk {
	t.Helper()
	library := airport.New()
	d := &rejectDesk{t: t, now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), index: memory.New(), redis: redistest.Open(t, "")}
	d.store = rejectstore.New(d.redis, 14*24*time.Hour, d.Now)
	d.Acceptor = ingestor.NewAcceptor(ingestor.Config{
		Door: "http", Judge: ingestor.NewJudge(library, enricher.New(library)), Log: d, Index: d, Rejects: d.store,
	})
	d.rejects = queryapi.Rejects{Store: d.store, Acceptor: d, Keys: testKeys, Begun: make(chan struct{}, 1), NewID: func() string {
		d.jobs++
		return fmt.Sprint("job-", d.jobs)
	}}
	d.Site = web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, d.rejects.Operations(), nil)
	return d
}

func (d *rejectDesk) Now() time.Time { return d.now }

// Append implements ingestor.Log.
func (d *rejectDesk) Append(_ context.Context, records []ingestor.Record) error {
	if d.meanwhile != nil {
		d.meanwhile()
	}
	if d.away != nil {
		return d.away
	}
	d.log = append(d.log, records...)
	return nil
}

// File implements ingestor.Index.
func (d *rejectDesk) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	fresh, err := d.index.File(ctx, filings)
	for _, f := range fresh {
		if f {
			d.filed++
		}
	}
	return fresh, errors.Join(err, d.lost)
}

// post has a message rejected that a key posts, and returns the id of the reject.
func (d *rejectDesk) post(sender, text string) string {
	d.t.Helper()
	origin := fmt.Sprint("http/", len(text), sender, d.now.UnixNano())
	o, err := d.Accept(d.t.Context(), ingestor.Envelope{Raw: text, Received: d.now, Origin: origin, Sender: sender})
	if err != nil || o.Verdict != ingestor.Rejected {
		d.t.Fatalf("%q: %v %v", text, o.Verdict, err)
	}
	d.now = d.now.Add(time.Minute)
	return rejectstore.ID(origin)
}

// keep stores rejections.
func (d *rejectDesk) keep(list ...ingestor.Rejection) {
	d.t.Helper()
	if err := d.store.Reject(d.t.Context(), list); err != nil {
		d.t.Fatal(err)
	}
}

// ask returns the status of an answer, and its members as far as tests look at them.
func (d *rejectDesk) ask(key, target, body string) (status int, a deskAnswer) {
	d.t.Helper()
	w := askV1(d.Site, key, "/v1/rejects"+target, body)
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		d.t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Code, a
}

type deskAnswer struct {
	Verdict     string
	Diagnostics []struct{ Code string }
	Reject      deskReject
	Rejects     []deskReject
	Searched    string `json:"searched_until"`
	Next        string
	Detail      string
	deskReject
}

type deskReject struct {
	ID, State, Text, Airport, Key string
	History                       []struct{ Action, Key, Verdict, Text, Reason string }
}

const (
	badFlight = "BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFQ\r\n.N/0724100009001\r\nENDBSM\r\n"
	mended    = "BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/0724100009001\r\nENDBSM\r\n"
)

func quoted(s string) string {
	text, _ := json.Marshal(s) // a text can always be written
	return string(text)
}

func TestAMendedRejectIsANewMessageInTheLogThatNamesTheRejectAndTheKey(t *testing.T) {
	d := newRejectDesk(t)
	id := d.post("lx", badFlight)
	if status, got := d.ask("demo", "/"+id, ""); status != 200 || got.Text != badFlight || got.State != "open" || got.Airport != "ZRH" || got.deskReject.Key != "lx" {
		t.Fatalf("%d %+v", status, got)
	}
	status, got := d.ask("demo", "/"+id+"/resubmit", `{"text":`+quoted(mended)+`}`)
	if status != 200 || got.Verdict != "accepted" || got.Reject.State != "resubmitted" || got.Reject.Text != badFlight || len(got.Diagnostics) != 0 {
		t.Fatalf("%d %+v", status, got)
	}
	if h := got.Reject.History; len(h) != 1 || h[0].Action != "resubmit" || h[0].Key != "demo" || h[0].Verdict != "accepted" || h[0].Text != mended {
		t.Errorf("%+v", h)
	}
	if len(d.log) != 1 || d.log[0].Raw != mended || d.log[0].Reject != id || d.log[0].Sender != "demo" || !d.log[0].Received.Equal(d.now) || d.filed != 1 {
		t.Errorf("%d filed, log %+v", d.filed, d.log)
	}
	for _, request := range []string{"/resubmit {}", "/dismiss {\"reason\":\"too late\"}"} {
		action, body, _ := strings.Cut(request, " ")
		if status, got := d.ask("demo", "/"+id+action, body); status != 409 || got.Detail != "The reject is resubmitted" {
			t.Errorf("%s: %d %+v", request, status, got)
		}
	}
}

func TestARejectThatIsRejectedAgainStaysOpen(t *testing.T) {
	d := newRejectDesk(t)
	id := d.post("", badFlight)
	status, got := d.ask("demo", "/"+id+"/resubmit", "{}")
	if status != 200 || got.Verdict != "rejected" || len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != "SVCPRB023" || got.Reject.State != "open" || got.Reject.History[0].Verdict != "rejected" {
		t.Errorf("%d %+v", status, got)
	}
	if _, got := d.ask("demo", "", ""); len(got.Rejects) != 1 || len(d.log) != 0 {
		t.Errorf("%+v, log %+v", got, d.log)
	}
}

func TestAKeyResubmitsOnlyWhatItMaySend(t *testing.T) {
	d := newRejectDesk(t)
	id := d.post("", badFlight)
	if status, got := d.ask("ba", "/"+id+"/resubmit", `{"text":`+quoted(mended)+`}`); status != 200 || got.Verdict != "unauthorised" || got.Reject.State != "open" || len(got.Reject.History) != 0 {
		t.Errorf("%d %+v", status, got)
	}
	if len(d.log) != 0 || d.filed != 0 {
		t.Errorf("%d filed, log %+v", d.filed, d.log)
	}
}

// A report names no flight that a scope could cover. A message in its place does.
func TestARejectedReportIsSentAgainByKeysWithoutLimits(t *testing.T) {
	d := newRejectDesk(t)
	report := ingestor.Envelope{Raw: "{}", Report: true, Received: d.now, Origin: "reports/0/1", Sender: "lx"}
	if o, err := d.Accept(t.Context(), report); err != nil || o.Verdict != ingestor.Rejected {
		t.Fatalf("%v %v", o.Verdict, err)
	}
	id := rejectstore.ID(report.Origin)
	for _, tc := range []struct{ key, body, verdict, state string }{
		{"lx", "{}", "unauthorised", "open"},
		{"demo", "{}", "rejected", "open"},
		{"ba", `{"text":` + quoted(mended) + `}`, "unauthorised", "open"},
		{"lx", `{"text":` + quoted(mended) + `}`, "accepted", "resubmitted"},
	} {
		if status, got := d.ask(tc.key, "/"+id+"/resubmit", tc.body); status != 200 || got.Verdict != tc.verdict || got.Reject.State != tc.state {
			t.Errorf("%s %s: %d %+v, want %s", tc.key, tc.body, status, got, tc.verdict)
		}
	}
}

func TestADismissedRejectHasAReason(t *testing.T) {
	d := newRejectDesk(t)
	id := d.post("", badFlight)
	longest := strings.Repeat("é", 1000)
	for body, want := range map[string]string{
		`{}`: "/reason missing", `{"reason":" "}`: "/reason malformed", `{"reason":"` + longest + `é"}`: "/reason malformed", `{"reason":"x","why":"y"}`: "/why unknown",
	} {
		if got := faultsV1(t, askV1(d.Site, "demo", "/v1/rejects/"+id+"/dismiss", body)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	status, got := d.ask("demo", "/"+id+"/dismiss", `{"reason":"`+longest+`"}`)
	if h := got.Reject.History; status != 200 || got.Reject.State != "dismissed" || len(h) != 1 || h[0].Action != "dismiss" || h[0].Reason != longest || h[0].Key != "demo" {
		t.Errorf("%d %+v", status, got)
	}
}

// Only airports in scope; a reject without an airport is for keys with all airports, and for the
// key that posted it.
func TestAKeySeesRejectsOfItsAirportsAlone(t *testing.T) {
	d := newRejectDesk(t)
	zurich, london := d.post("", badFlight), d.post("", strings.Replace(badFlight, "ZRH", "LHR", 1))
	nowhere, own := d.post("demo", "BSM\r\nENDBSM\r\n"), d.post("lhr", "BSM\r\n.V/1LQQQ\r\nENDBSM\r\n")
	for key, seen := range map[string][]string{
		"demo": {zurich, london, nowhere, own}, "lx": {zurich, london, nowhere, own}, "lhr": {london, own}, "lx-at-jfk": {},
	} {
		sees := map[string]bool{}
		_, list := d.ask(key, "", "")
		for _, r := range list.Rejects {
			sees[r.ID] = true
		}
		if len(sees) != len(seen) {
			t.Errorf("%s is shown %d rejects, not %d", key, len(sees), len(seen))
		}
		for _, id := range []string{zurich, london, nowhere, own} {
			wanted := false
			for _, other := range seen {
				wanted = wanted || id == other
			}
			status, got := d.ask(key, "/"+id, "")
			if (status == 200) != wanted || sees[id] != wanted || !wanted && (status != 404 || got.Text != "") {
				t.Errorf("%s asks for %s: %d %+v, in the list %t", key, id, status, got, sees[id])
			}
			if wanted {
				continue
			}
			for _, action := range []string{"/resubmit {}", "/dismiss {\"reason\":\"x\"}"} {
				action, body, _ := strings.Cut(action, " ")
				if status, _ := d.ask(key, "/"+id+action, body); status != 404 {
					t.Errorf("%s: %s %s: %d", key, action, id, status)
				}
			}
		}
		var sum struct{ Airports []struct{ Count int } }
		if err := json.Unmarshal(askV1(d.Site, key, "/v1/rejects/summary", "").Body.Bytes(), &sum); err != nil {
			t.Fatal(err)
		}
		counted := 0
		for _, a := range sum.Airports {
			counted += a.Count
		}
		if counted != len(seen) {
			t.Errorf("%s counts %d rejects, not %d", key, counted, len(seen))
		}
	}
	for target, want := range map[string]int{"?airport=ZRH": 403, "/summary?airport=ZRH": 403, "?airport=LHR": 200, "?airport=": 200} {
		if status, got := d.ask("lhr", target, ""); status != want || target == "?airport=" && (len(got.Rejects) != 1 || got.Rejects[0].ID != own) {
			t.Errorf("%s: %d %+v", target, status, got)
		}
	}
	for _, target := range []string{"", "/summary", "/" + zurich} {
		if status, _ := d.ask("posts", target, ""); status != 403 {
			t.Errorf("%s without the right: %d", target, status)
		}
	}
}

// The name of a key may have any characters, also those between the parts of a cell of the store.
func TestNoFilterShowsAKeyTheRejectsOfAnotherWithALongerName(t *testing.T) {
	d := newRejectDesk(t)
	for _, sender := range []string{"lhr|test", "a|LHR", "x|@lhr"} {
		d.post(sender, "BSM\r\nENDBSM\r\n")
	}
	for target, want := range map[string]string{
		"?code=test%7C*": "code malformed", "?door=http%7C@a": "door malformed", "?code=*&door=*": "code malformed, door malformed",
		"/summary?code=test%7C*": "code malformed", "/summary?door=http%7C@a": "door malformed",
	} {
		if got := faultsV1(t, askV1(d.Site, "lhr", "/v1/rejects"+target, "")); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	odd := ingestor.Rejection{Envelope: ingestor.Envelope{Door: "http|@x", Raw: "x", Received: d.now, Origin: "odd"}}
	d.keep(odd)
	if status, got := d.ask("lhr", "", ""); status != 200 || len(got.Rejects) > 0 {
		t.Errorf("the door %s: %d %+v", odd.Door, status, got.Rejects)
	}
}

func TestOtherFiltersLookAtEachReject(t *testing.T) {
	d := newRejectDesk(t)
	for i := range 7 {
		d.post([]string{"lx", "ba"}[i%2], strings.Replace(badFlight, "0009001", fmt.Sprintf("%04d001", i), 1))
	}
	d.post("lx", strings.Replace(badFlight, "JFQ", "JFX", 1))
	for query, want := range map[string]int{"key=lx": 5, "key=nobody": 0, "value=JFQ": 7, "value=JF": 0, "q=lx100%2F14mar": 8, "q=0724100003": 1, "key=ba&q=0724100003": 1, "key=lx&q=0724100003": 0} {
		found, pages := 0, 0
		for cursor := ""; ; pages++ {
			status, got := d.ask("demo", "?limit=2&"+query+cursor, "")
			if status != 200 || len(got.Rejects) > 2 || (got.Next != "") != (got.Searched != "") {
				t.Fatalf("%s: %d %+v", query, status, got)
			}
			found += len(got.Rejects)
			if got.Next == "" {
				break
			}
			cursor = "&cursor=" + got.Next
		}
		if found != want {
			t.Errorf("%s: %d on %d pages, want %d", query, found, pages+1, want)
		}
	}
	if got := faultsV1(t, askV1(d.Site, "demo", "/v1/rejects?state=new&code=*&airport=zrh&since=today&q=&limit=0&stat=x", "")); got != "stat unknown, state malformed, code malformed, since malformed, q malformed, airport malformed, limit malformed" {
		t.Error(got)
	}
}

// Times are those of RFC 3339, which package time reads more loosely than it says.
func TestTimesAreThoseOfRFC3339(t *testing.T) {
	d := newRejectDesk(t)
	for text, want := range map[string]string{
		"2028-01-01T00:30:00.5Z":      "200",
		"2028-01-01t00:30:00z":        "200",
		"2028-01-01T00:30:00%2B23:59": "200",
		"2028-01-01T00:30:00,5Z":      "since malformed",
		"2028-01-01T0:30:00Z":         "since malformed",
		"2028-01-01T00:30:00%2B24:00": "since malformed",
		"2028-01-01T00:30:00%2B01:60": "since malformed",
		"2028-01-01T00:30:60Z":        "since malformed",
		"2028-01-01":                  "since malformed",
	} {
		if got := faultsV1(t, askV1(d.Site, "demo", "/v1/rejects?since="+text, "")); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A message is received at since or later, and before until, whatever these times are. The zero
// time of a program is a time too.
func TestBoundsOfTheTimeOfReceiptAreExact(t *testing.T) {
	d := newRejectDesk(t)
	d.post("lx", badFlight)
	for filter, want := range map[string]int{
		"since=2026-03-14T12:00:00Z": 1, "since=2026-03-14T12:00:00.0005Z": 0, "since=0001-01-01T00:00:00Z": 1,
		"until=2026-03-14T12:00:00Z": 0, "until=2026-03-14T12:00:00.0005Z": 1, "until=0001-01-01T00:00:00Z": 0,
	} {
		if status, got := d.ask("demo", "?"+filter, ""); status != 200 || len(got.Rejects) != want {
			t.Errorf("%s: %d %+v", filter, status, got.Rejects)
		}
	}
	if got := d.do("demo", "dismiss", `{"until":"0001-01-01T00:00:00Z","reason":"old"}`); got.Total != 0 || got.Dismissed != 0 {
		t.Errorf("%+v", got)
	}
}

func TestARepeatedFilterOfRejectsIsOneFault(t *testing.T) {
	d := newRejectDesk(t)
	for _, target := range []string{"/v1/rejects?code=A&code=B", "/v1/rejects/summary?code=A&code=B"} {
		if got := faultsV1(t, askV1(d.Site, "demo", target, "")); got != "code repeated" {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// trips counts round trips to Redis. It implements goredis.Hook.
type trips struct{ atomic.Int64 }

func (n *trips) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (n *trips) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error { n.Add(1); return next(ctx, cmd) }
}

func (n *trips) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error { n.Add(1); return next(ctx, cmds) }
}

// A search for which nothing matches reads many rejects together, however short its pages are.
func TestAShortPageTakesFewRoundTrips(t *testing.T) {
	d := newRejectDesk(t)
	for i := range 700 {
		d.post("lx", strings.Replace(badFlight, "0009001", fmt.Sprintf("%04d001", i), 1))
	}
	var made trips
	d.redis.ReadClient().AddHook(&made)
	if status, got := d.ask("demo", "?limit=1&q=nothing", ""); status != 200 || len(got.Rejects) > 0 || got.Next != "" {
		t.Errorf("%d %+v", status, got)
	}
	if n := made.Load(); n < 2 || n > 20 {
		t.Errorf("%d round trips", n)
	}
}

// replies notes the most bytes that were read in one round trip. It implements goredis.Hook.
type replies struct {
	trips
	most int
}

func (n *replies) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		err, bytes := next(ctx, cmds), 0
		for _, cmd := range cmds {
			if reply, ok := cmd.(*goredis.SliceCmd); ok {
				for _, value := range reply.Val() {
					text, _ := value.(string)
					bytes += len(text)
				}
			}
		}
		n.most = max(n.most, bytes)
		return err
	}
}

// A caller could otherwise have any amount of data read at once.
func TestRejectsAreReadInPortionsThatCountWithWhatAnswersAreMadeOf(t *testing.T) {
	const all = 1 << 20
	d, memory := newRejectDesk(t), budget.New(all, nil)
	var list []ingestor.Rejection
	for i := range 20 {
		r := ingestor.Rejection{Airport: "ZRH", Envelope: ingestor.Envelope{Door: "http", Raw: strings.Repeat("x", 300_000), Received: d.now, Origin: fmt.Sprint(i)}}
		r.Errors = []ingestor.Diagnostic{{Code: "SVCPRB016", Line: 1, Column: 1, EndColumn: 65_001, Value: strings.Repeat("<", 65_000)}}
		list = append(list, r)
	}
	d.keep(list...)
	operations := d.rejects.Operations()
	for i := range operations {
		serve := operations[i].Serve
		operations[i].Serve = func(ctx context.Context, c *web.Call) web.Answer {
			ctx, question := memory.Ask(ctx)
			defer question.End()
			return serve(ctx, c)
		}
	}
	d.Site = web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, operations, nil)
	var read replies
	d.redis.ReadClient().AddHook(&read)
	for _, target := range []string{"", "?q=nothing", "?value=nothing", "/" + rejectstore.ID("0")} {
		if !memory.Try(all) {
			t.Fatalf("before %q: not all memory was returned", target)
		}
		if status, got := d.ask("demo", target, ""); status != 503 {
			t.Errorf("%q without memory: %d, %d rejects", target, status, len(got.Rejects))
		}
		memory.Return(all)
		status, got := d.ask("demo", target, "")
		for end := time.Now().Add(30 * time.Second); status == 503 && time.Now().Before(end); { // a busy machine may read too slowly
			status, got = d.ask("demo", target, "")
		}
		if status != 200 || target == "" && len(got.Rejects) != len(list) || strings.HasPrefix(target, "?") && len(got.Rejects)+len(got.Next) > 0 {
			t.Errorf("%q: %d, %d rejects, next %q", target, status, len(got.Rejects), got.Next)
		}
	}
	if read.most < all/2 || read.most > all+10_000 { // the fields that have some bytes are not counted
		t.Errorf("up to %d bytes are read at once", read.most)
	}
}

// A page ends once it is large. With the largest limit it could otherwise be too large to be
// answered.
func TestAPageOfRejectsWithManyFaultsEndsEarly(t *testing.T) {
	d := newRejectDesk(t)
	const n = 150
	list := make([]ingestor.Rejection, n)
	for i := range list {
		list[i] = ingestor.Rejection{Airport: "ZRH", Envelope: ingestor.Envelope{Door: "kafka", Raw: "x", Received: d.now, Origin: fmt.Sprint("bim.raw/0/", i)}}
		list[i].Errors = []ingestor.Diagnostic{{Code: "SVCPRB016", Line: 1, Column: 1, EndColumn: 60_001, Value: strings.Repeat("x", 60_000)}}
	}
	d.keep(list...)
	shown, pages, target := map[string]bool{}, 0, "?limit=1000"
	for more := true; more; pages++ {
		status, got := d.ask("demo", target, "")
		if status != 200 || len(got.Rejects) > 145 {
			t.Fatalf("%d, %d rejects", status, len(got.Rejects))
		}
		for _, r := range got.Rejects {
			shown[r.ID] = true
		}
		more, target = got.Next != "", "?limit=1000&cursor="+url.QueryEscape(got.Next)
	}
	if len(shown) != n || pages != 2 {
		t.Errorf("%d rejects on %d pages", len(shown), pages)
	}
}

// decider decides on rejects before their content is read. It implements goredis.Hook.
type decider struct {
	trips
	decide func()
}

func (d *decider) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		if decide := d.decide; decide != nil && cmds[0].Name() == "hmget" {
			d.decide = nil
			decide()
		}
		return next(ctx, cmds)
	}
}

func TestAListDoesNotShowWhatIsDecidedMeanwhile(t *testing.T) {
	d := newRejectDesk(t)
	first, second := d.post("lx", badFlight), d.post("lx", badFlight)
	d.redis.ReadClient().AddHook(&decider{decide: func() {
		if _, _, err := d.store.Decide(t.Context(), second, "", rejectstore.Dismissed, rejectstore.Step{At: d.now, Action: "dismiss", Key: "lx"}); err != nil {
			t.Error(err)
		}
	}})
	if status, got := d.ask("demo", "?state=open", ""); status != 200 || len(got.Rejects) != 1 || got.Rejects[0].ID != first {
		t.Errorf("%d %+v", status, got.Rejects)
	}
}

// Whatever an interruption leaves behind, a reject is filed once.
func TestAnInterruptedResubmissionIsBroughtToItsEnd(t *testing.T) {
	for name, interrupt := range map[string]func(*rejectDesk){
		"before the log": func(d *rejectDesk) { d.away = errors.New("away") }, "after the index": func(d *rejectDesk) { d.lost = errors.New("lost") },
	} {
		d := newRejectDesk(t)
		bodies := map[string]string{}
		repeated, given := d.post("", badFlight), d.post("", strings.Replace(badFlight, "0009001", "0008001", 1))
		interrupt(d)
		for i, id := range []string{repeated, given} {
			bodies[id] = `{"text":` + quoted(strings.Replace(mended, "0009001", fmt.Sprintf("%04d001", i), 1)) + `}`
			if status, _ := d.ask("demo", "/"+id+"/resubmit", bodies[id]); status != 503 {
				t.Fatalf("%s: %d", name, status)
			}
		}
		d.away, d.lost = nil, nil
		d.now = d.now.Add(5 * time.Second)
		if status, got := d.ask("demo", "/"+given+"/dismiss", `{"reason":"x"}`); status != 409 || got.Detail != "The reject is being resubmitted" {
			t.Errorf("%s, somebody else: %d %+v", name, status, got)
		}
		if status, got := d.ask("demo", "/"+repeated+"/resubmit", bodies[repeated]); status != 200 || got.Reject.State != "resubmitted" || len(got.Reject.History) != 1 {
			t.Errorf("%s, the request again: %d %+v", name, status, got)
		}
		d.now = d.now.Add(time.Minute)
		if status, got := d.ask("lx", "/"+given+"/dismiss", `{"reason":"x"}`); status != 409 || got.Detail != "The reject is resubmitted" {
			t.Errorf("%s, somebody else later: %d %+v", name, status, got)
		}
		if _, got := d.ask("demo", "/"+given, ""); len(got.deskReject.History) != 1 || got.deskReject.History[0].Key != "demo" {
			t.Errorf("%s: %+v", name, got)
		}
		if d.filed != 2 {
			t.Errorf("%s: %d messages are filed", name, d.filed)
		}
	}
}
