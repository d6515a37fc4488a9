package httpdoor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/ingestor/httpdoor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
)

// batches is POST /v1/messages over a memory.
type batches struct {
	*web.Site
	index *failingIndex
	now   time.Time
}

// failingIndex is an index that can be away.
type failingIndex struct {
	*memory.Index
	away  bool
	filed int
}

func (i *failingIndex) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	if i.away {
		return nil, errors.New("the index is away")
	}
	i.filed += len(filings)
	return i.Index.File(ctx, filings)
}

type keyring map[string]*apikey.Key

func (k keyring) Lookup(text string, _ time.Time) (*apikey.Key, bool) {
	key, ok := k[text]
	return key, ok
}

// ledger is a log of twelve partitions that puts a record where the last digit of its key says.
type ledger struct{ length [12]int64 }

func (l *ledger) Append(_ context.Context, records []ingestor.Record) error {
	for i := range records {
		partition := int32(11)
		if key := records[i].Plate; key != "" {
			partition = int32('9' - key[len(key)-1])
		}
		records[i].Position = bag.Position{Known: true, Partition: partition, Offset: l.length[partition]}
		l.length[partition]++
	}
	return nil
}

func newBatches(log ...ingestor.Log) *batches {
	everything := apikey.Scope{All: true}
	library, index := airport.New(), &failingIndex{Index: memory.New()}
	enrich := enricher.New(library)
	b := &batches{index: index, now: time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC)}
	clock := func() time.Time { b.now = b.now.Add(time.Millisecond); return b.now }
	conf := ingestor.Config{Judge: ingestor.NewJudge(library, enrich), Index: index, Clock: ingestor.NewClock(clock)}
	if len(log) > 0 {
		conf.Log = log[0]
	}
	acceptor := ingestor.NewAcceptor(conf)
	reader := trail.New(index, enrich, trail.Settings{Window: 10 * time.Minute, Airports: library, Now: clock})
	door := httpdoor.Messages{Acceptor: acceptor, Places: library, Bags: func(s bag.Sight) httpdoor.Bags { return reader.For(s) }}
	keys := keyring{
		"all":        {Name: "all", Airlines: everything, Airports: everything, Operations: everything},
		"lx":         {Name: "lx", Airlines: apikey.Scope{Codes: []string{"LX"}}, Airports: everything, Operations: everything},
		"processbim": {Name: "processbim", Airlines: everything, Airports: everything, Operations: apikey.Scope{Codes: []string{"processbim"}}},
	}
	b.Site = web.New(web.Settings{Keys: keys, Log: zap.NewNop(), Clock: time.Now}, door.Operations(), nil)
	return b
}

func (b *batches) post(key, target, media, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	r.Header.Set("X-API-Key", key)
	r.Header.Set("Content-Type", media)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// bsm is a BSM for a plate on a flight.
func bsm(plate, flight, passenger string) string {
	return "BSM\r\n.V/1LZRH\r\n.F/" + flight + "/14MAR/JFK\r\n.N/" + plate + "001\r\n.P/" + passenger + "\r\nENDBSM\r\n"
}

// listOf is a body with messages.
func listOf(texts ...string) string {
	var list []string
	for i, text := range texts {
		message, _ := json.Marshal(map[string]string{"text": text, "id": fmt.Sprint("m", i)})
		list = append(list, string(message))
	}
	return `{"messages":[` + strings.Join(list, ",") + `]}`
}

// All are received at one time. The second message about a bag may have another first plate than the
// first one, and a positioning has none.
func TestMessagesOfOneRequestKeepTheirOrder(t *testing.T) {
	bpm := func(lines string) string { return "BPM\n.V/1LZRH\n.F/LX14/14MAR/JFK\n" + lines + "\nENDBPM\n" }
	for name, tc := range map[string]struct {
		texts []string
		want  string
	}{
		"offloaded":         {[]string{bpm(".N/0724000001002"), bpm(".B/OFF/0724000002001")}, "LOADED_ON_AIRCRAFT OFFLOADED"},
		"in a container":    {[]string{bpm(".J/R\n.U/AKE1\n.N/0724000002001"), bpm(".U/AKE1/41")}, "LOADED_IN_CONTAINER LOADED_ON_AIRCRAFT"},
		"a container first": {[]string{bpm(".U/AKE2/41"), bpm(".N/0724000001002"), bpm(".B/OFF/0724000002001")}, "LOADED_ON_AIRCRAFT OFFLOADED"},
	} {
		b := newBatches(new(ledger))
		if w := b.post("all", "/v1/messages", "application/json", listOf(tc.texts...)); w.Code != 200 {
			t.Fatal(w.Code, w.Body)
		}
		enrich := enricher.New(airport.New())
		reader := trail.New(b.index, enrich, trail.Settings{Window: time.Minute, Airports: airport.New(), Now: time.Now})
		bags, err := reader.History(t.Context(), "0724000002")
		if err != nil || len(bags) != 1 {
			t.Fatal(bags, err)
		}
		var got []string
		for _, e := range bags[0].Events {
			got = append(got, e.Code)
		}
		if codes := strings.Join(got, " "); codes != tc.want {
			t.Errorf("%s: %s, want %s", name, codes, tc.want)
		}
	}
}

// verdicts returns the verdict of each message, with its id and events.
func verdicts(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var answer struct {
		Accepted, Duplicate, Rejected, Unauthorised int
		Results                                     []struct {
			ID          *string
			Verdict     string
			Diagnostics []struct{ Severity, Code string }
			Events      []struct{ Plate, Code string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	counts := map[string]int{}
	var all []string
	for _, r := range answer.Results {
		counts[r.Verdict]++
		line := r.Verdict
		if r.ID != nil {
			line = *r.ID + " " + line
		}
		for _, d := range r.Diagnostics {
			line += " " + d.Severity + " " + d.Code
		}
		for _, e := range r.Events {
			line += " " + e.Plate + " " + e.Code
		}
		all = append(all, line)
	}
	if want := [4]int{counts["accepted"], counts["duplicate"], counts["rejected"], counts["unauthorised"]}; want != [4]int{answer.Accepted, answer.Duplicate, answer.Rejected, answer.Unauthorised} {
		t.Errorf("counts: %s", w.Body)
	}
	return strings.Join(all, "; ")
}

const jsonType, linesType, textType = "application/json", "application/x-ndjson", "text/plain; charset=utf-8"

func TestEachMessageOfABatchHasItsVerdictInOrder(t *testing.T) {
	b := newBatches()
	first := bsm("0724100001", "LX100", "MUELLER")
	body := listOf(first, "nonsense", bsm("0724100002", "BA200", "MEIER"), first, strings.Replace(bsm("0724100001", "LX101", "MUELLER"), "BSM\r\n.V", "BSM\r\nCHG\r\n.V", 1))
	want := "m0 accepted 0724100001 EXPECTED; m1 rejected error SVCPRB004; m2 accepted 0724100002 EXPECTED; m3 duplicate; m4 accepted 0724100001 REROUTED"
	if got := verdicts(t, b.post("all", "/v1/messages", jsonType, body)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := verdicts(t, b.post("all", "/v1/messages", jsonType, listOf(first))); got != "m0 accepted 0724100001 EXPECTED" {
		t.Errorf("sent again, after another text of its kind: %s", got)
	}
	if got := verdicts(t, b.post("lx", "/v1/messages", jsonType, listOf(bsm("0724100003", "LX100", "HUBER"), bsm("0724100004", "BA200", "HUBER")))); got !=
		"m0 accepted 0724100003 EXPECTED; m1 unauthorised" {
		t.Errorf("a limited key: %s", got)
	}
}

func TestABatchComesInThreeForms(t *testing.T) {
	one, two := bsm("0724100001", "LX100", "MUELLER"), bsm("0724100002", "LX100", "MEIER")
	lines, _ := json.Marshal(map[string]string{"text": two, "id": "b"})
	text, _ := json.Marshal(map[string]string{"text": one})
	for _, tc := range []struct{ target, media, body, want string }{
		{"/v1/messages", jsonType, listOf(one, two), "m0 accepted 0724100001 EXPECTED; m1 accepted 0724100002 EXPECTED"},
		{"/v1/messages", linesType, string(text) + "\n\r\n" + string(lines) + "\n", "accepted 0724100001 EXPECTED; b accepted 0724100002 EXPECTED"},
		{"/v1/messages?format=text", textType, one, "accepted 0724100001 EXPECTED"},
		{"/v1/messages?format=text", textType, one + "\r\n" + two, "accepted 0724100001 EXPECTED; accepted 0724100002 EXPECTED"},
		{"/v1/messages/validate", jsonType, listOf(one, two), "m0 accepted; m1 accepted"},
		{"/v1/messages/validate?format=text", textType, one, "accepted"},
	} {
		b := newBatches()
		if got := verdicts(t, b.post("all", tc.target, tc.media, tc.body)); got != tc.want {
			t.Errorf("%s %s: %s\nwant %s", tc.target, tc.media, got, tc.want)
		}
		if touched := b.index.filed > 0; touched == strings.Contains(tc.target, "validate") {
			t.Errorf("%s has filed %d messages", tc.target, b.index.filed)
		}
	}
}

func TestFaultsOfABatchAreToldAtOnceAndNothingIsTaken(t *testing.T) {
	many := make([]string, 1001)
	for i := range many {
		many[i] = "x"
	}
	for _, tc := range []struct{ target, media, body, want string }{
		{"/v1/messages", jsonType, `{}`, `"expected":"at least one message"`},
		{"/v1/messages", jsonType, `{"messages":[]}`, `"expected":"at least one message"`},
		{"/v1/messages", jsonType, `{"messages":{}}`, `"pointer":"/messages","code":"malformed"`},
		{"/v1/messages", jsonType, `{"messages":["x"]}`, `"pointer":"/messages/0","code":"malformed","detail":"It does not have the form that is expected","got":"x"`},
		{"/v1/messages", jsonType, `{"a/b~":7,"messages":[{"text":"x"}]}`, `"1 fault"`},
		{"/v1/messages", jsonType, `{"a/b~":7,"messages":[{"text":"x"}]}`, `"pointer":"/a~1b~0","code":"unknown","detail":"There is no parameter or member with this name","got":"7"`},
		{"/v1/messages", jsonType, `{"messages":[{"text":12}]}`, `"got":"12","expected":"a string"`},
		{"/v1/messages", linesType, `{"text":"x","txt":"y"}`, `"pointer":"/0/txt","code":"unknown","detail":"There is no parameter or member with this name","got":"y"`},
		{"/v1/messages", jsonType, `{"messages":[{"id":"1"},{"text":1},{"text":"x","txt":"y"}],"more":1}`, `"detail":"4 faults"`},
		{"/v1/messages", jsonType, `{"messages":[{"text":"x","text":"y"}]}`, `"pointer":"/messages/0/text","code":"repeated"`},
		{"/v1/messages", jsonType, `{"messages":[{"text":"x"}],"messages":[{"text":"x"}]}`, `"code":"repeated"`},
		{"/v1/messages", jsonType, listOf(many...), `"pointer":"/messages/1000","code":"too_many"`},
		{"/v1/messages", jsonType, `not JSON`, `"code":"malformed"`},
		{"/v1/messages", linesType, "{\"text\":\"x\"}\nnot JSON\n", `"pointer":"/1","code":"malformed"`},
		{"/v1/messages?format=text", textType, "\r\n \r\n", `"expected":"at least one message"`},
		{"/v1/messages", textType, "BSM", `"parameter":"format","code":"conflict"`},
		{"/v1/messages?format=text", jsonType, listOf("x"), `"parameter":"format","code":"conflict"`},
		{"/v1/messages?format=xml&x=1", jsonType, listOf("x"), `"detail":"2 faults"`},
		{"/v1/messages?x=1", jsonType, `{"messages":[{"text":1}],`, `"detail":"2 faults"`},
		{"/v1/messages?format=text&format=text", textType, "BSM", `"code":"repeated"`},
	} {
		b := newBatches()
		w := b.post("all", tc.target, tc.media, tc.body)
		if w.Code != 400 || !strings.Contains(w.Body.String(), tc.want) || b.index.filed > 0 {
			t.Errorf("%s %.80s: %d %s\nwant %s", tc.target, tc.body, w.Code, w.Body, tc.want)
		}
	}
}

func TestABatchOfFaultsIsBoundedLikeABatchOfMessages(t *testing.T) {
	for _, tc := range []struct{ media, body, want string }{
		{jsonType, `{"messages":[` + strings.Repeat("0,", 100_000) + `0]}`, `More than 1000 faults`},
		{linesType, strings.Repeat("0\n", 100_000), `More than 1000 faults`},
		{jsonType, `{"messages":[{"text":"x"` + strings.Repeat(`,"a":1`, 100_000) + `}]}`, `More than 1000 faults`},
		{jsonType, `{"messages":[` + strings.Repeat(`{"text":"x"},`, 1000) + `0,0]}`, `"pointer":"/messages/1000","code":"too_many"`},
	} {
		b := newBatches()
		w := b.post("all", "/v1/messages", tc.media, tc.body)
		if n := strings.Count(w.Body.String(), `"pointer"`); w.Code != 400 || n > 1000 || !strings.Contains(w.Body.String(), tc.want) || b.index.filed > 0 {
			t.Errorf("%.60s: %d with %d faults in %d bytes\n%.300s\nwant %s", tc.body, w.Code, n, w.Body.Len(), w.Body, tc.want)
		}
	}
}

func TestABatchIsBoundedAndNeedsItsRight(t *testing.T) {
	b := newBatches()
	wide := func(plate string) string {
		return "BSM\r\n.V/1LZRH\r\n.F/LX100/14MAR/JFK\r\n.N/" + plate + "900\r\nENDBSM\r\n"
	}
	six := listOf(wide("0724100000"), wide("0724200000"), wide("0724300000"), wide("0724400000"), wide("0724500000"), wide("0724600000"))
	for _, tc := range []struct {
		key, media, body string
		want             int
	}{
		{"all", jsonType, six, 413},
		{"all", jsonType, strings.Repeat(" ", 4<<20+1), 413},
		{"all", "application/xml", "<x/>", 415},
		{"processbim", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER")), 403},
		{"processbim", jsonType, `{}`, 400},
		{"nobody", jsonType, `{}`, 401},
	} {
		if w := b.post(tc.key, "/v1/messages", tc.media, tc.body); w.Code != tc.want || b.index.filed > 0 {
			t.Errorf("%s %.60s: %d %.300s", tc.key, tc.body, w.Code, w.Body)
		}
	}
	b.index.away = true
	if w := b.post("all", "/v1/messages", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER"))); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the index is away: %d %s", w.Code, w.Body)
	}
	if w := b.post("all", "/v1/messages/validate", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER"))); w.Code != 200 {
		t.Errorf("validate: %d %s", w.Code, w.Body)
	}
	b.index.away = false
	if got := verdicts(t, b.post("all", "/v1/messages", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER")))); got != "m0 accepted 0724100001 EXPECTED" {
		t.Errorf("sent again: %s", got)
	}
}
