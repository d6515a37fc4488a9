package httpdoor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
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
	"bagtrail/internal/preview"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
)

// batches is POST /v1/messages over a memory.
type batches struct {
	*web.Site
	index    *failingIndex
	log      *ledger
	rejects  origins
	attempts attempts
	reader   *trail.Reader
	hidden   bool // bags cannot be read
	now      time.Time
}

// failingIndex is an index that can be away.
type failingIndex struct {
	*memory.Index
	err   error // if the index is away
	only  int   // if it is not 0, so many filings are filed, then the index is away once
	filed []bag.Filing
}

var errAway = errors.New("the index is away")

func (i *failingIndex) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	if i.err != nil {
		return nil, i.err
	}
	if n := i.only; n > 0 {
		i.only = 0
		_, _ = i.Index.File(ctx, filings[:n])
		return nil, errors.New("the reply is lost")
	}
	i.filed = append(i.filed, filings...)
	return i.Index.File(ctx, filings)
}

// origins counts rejections by their origins.
type origins map[string]int

func (o origins) Reject(_ context.Context, rejections []ingestor.Rejection) error {
	for _, rejection := range rejections {
		o[rejection.Origin]++
	}
	return nil
}

// attempts remembers requests in memory.
type attempts struct {
	first, last map[string]string
	noBegin     bool // the next Begin fails
}

func (a *attempts) Begin(_ context.Context, id, attempt string) (string, error) {
	if a.noBegin {
		a.noBegin = false
		return "", errors.New("the requests are away")
	}
	if a.first[id] == "" {
		a.first[id] = attempt
	}
	a.last[id] = attempt
	return a.first[id], nil
}

func (a *attempts) End(_ context.Context, id, attempt string) {
	if a.last[id] == attempt {
		delete(a.first, id)
	}
}

// Folded implements httpdoor.Bags.
func (b *batches) Folded(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error) {
	if b.hidden {
		return nil, errors.New("the bags are away")
	}
	return b.reader.Folded(ctx, plates)
}

// ledger is a log of twelve partitions that puts a record where the last digit of its key says.
type ledger struct {
	length [12]int64
	lost   bool // the reply to the next Append is lost
}

func (l *ledger) Append(_ context.Context, records []ingestor.Record) error {
	for i := range records {
		partition := int32(11)
		if key := records[i].Plate; key != "" {
			partition = int32('9' - key[len(key)-1])
		}
		if l.length[partition]++; !records[i].Position.Known {
			records[i].Position = bag.Position{Known: true, Partition: partition, Offset: l.length[partition]}
		}
	}
	if l.lost {
		l.lost = false
		return errors.New("the reply is lost")
	}
	return nil
}

func newBatches(change ...func(*web.Settings)) *batches {
	everything := apikey.Scope{All: true}
	library, index := airport.New(), &failingIndex{Index: memory.New()}
	enrich := enricher.New(library)
	b := &batches{
		index: index, log: new(ledger), rejects: origins{}, attempts: attempts{first: map[string]string{}, last: map[string]string{}},
		now: time.Date(2026, 3, 14, 8, 0, 0, 0, time.UTC),
	}
	clock := func() time.Time { b.now = b.now.Add(time.Millisecond); return b.now }
	acceptor := ingestor.NewAcceptor(ingestor.Config{
		Judge: ingestor.NewJudge(library, enrich), Log: b.log, Index: index, Rejects: b.rejects, Clock: ingestor.NewClock(clock),
	})
	b.reader = trail.New(index, enrich, trail.Settings{Window: 10 * time.Minute, Airports: library, Now: clock})
	door := httpdoor.Messages{Acceptor: acceptor, Attempts: &b.attempts, Preview: preview.New(enrich, library), Airports: library, Bags: func(s bag.Sight) httpdoor.Bags {
		if s == nil {
			return b
		}
		return b.reader.For(s)
	}}
	users := keys{
		"all":        {Name: "all", Airlines: everything, Airports: everything, Operations: everything},
		"lx":         {Name: "lx", Airlines: apikey.Scope{Codes: []string{"LX"}}, Airports: everything, Operations: everything},
		"zurich":     {Name: "zurich", Airlines: everything, Airports: apikey.Scope{Codes: []string{"ZRH"}}, Operations: everything},
		"processbim": {Name: "processbim", Airlines: everything, Airports: everything, Operations: apikey.Scope{Codes: []string{"processbim"}}},
	}
	settings := web.Settings{Keys: users, Log: zap.NewNop(), Clock: time.Now}
	for _, f := range change {
		f(&settings)
	}
	b.Site = web.New(settings, door.Operations(), nil)
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

// changed is a BSM as a change.
func changed(text string) string { return strings.Replace(text, "BSM\r\n.V", "BSM\r\nCHG\r\n.V", 1) }

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
		b := newBatches()
		if w := b.post("all", "/v1/messages", "application/json", listOf(tc.texts...)); w.Code != 200 {
			t.Fatal(w.Code, w.Body)
		}
		if codes := b.events(t, "0724000002"); codes != tc.want {
			t.Errorf("%s: %s, want %s", name, codes, tc.want)
		}
	}
}

// events returns the codes of the events of a plate that has one bag.
func (b *batches) events(t *testing.T, plate bag.Plate) string {
	t.Helper()
	bags, err := b.reader.History(t.Context(), plate)
	if err != nil || len(bags) != 1 {
		t.Fatal(bags, err)
	}
	var codes []string
	for _, e := range bags[0].Events {
		codes = append(codes, e.Code)
	}
	return strings.Join(codes, " ")
}

// A text that is sent again after others of its kind is an event, unless the request is a repetition.
func TestARequestThatIsSentAgainAfter503IsTheSame(t *testing.T) {
	check, change := bsm("0724100001", "LX100", "MUELLER"), changed(bsm("0724100001", "LX101", "MUELLER"))
	body := listOf(check, change, "nonsense", bsm("0724100002", "LX100", "MEIER"), check)
	const verdictsOfAll = "m0 accepted 0724100001 EXPECTED; m1 accepted 0724100001 REROUTED; m2 rejected error SVCPRB004; " +
		"m3 accepted 0724100002 EXPECTED; m4 accepted 0724100001 EXPECTED"
	for name, fail := range map[string]func(*batches){
		"nothing is remembered":          func(b *batches) { b.attempts.noBegin = true },
		"the reply of the log is lost":   func(b *batches) { b.log.lost = true },
		"the index is away":              func(b *batches) { b.index.err = errAway },
		"the index takes one message":    func(b *batches) { b.index.only = 1 },
		"the index takes three messages": func(b *batches) { b.index.only = 3 },
		"the reply of the index is lost": func(b *batches) { b.index.only = 4 },
		"the events cannot be read":      func(b *batches) { b.hidden = true },
	} {
		b := newBatches()
		for range 3 { // and a third and a fourth time
			fail(b)
			if w := b.post("all", "/v1/messages", jsonType, body); w.Code != 503 {
				t.Fatalf("%s: %d %s", name, w.Code, w.Body)
			}
			b.index.err, b.hidden = nil, false
		}
		if got := verdicts(t, b.post("all", "/v1/messages", jsonType, body)); got != verdictsOfAll {
			t.Errorf("%s: %s\nwant %s", name, got, verdictsOfAll)
		}
		if got := b.events(t, "0724100001"); got != "EXPECTED REROUTED EXPECTED" {
			t.Errorf("%s: the bag has %s", name, got)
		}
		if len(b.rejects) != 1 {
			t.Errorf("%s: rejects %v", name, b.rejects)
		}
		if len(b.attempts.first) > 0 {
			t.Errorf("%s: %v is still remembered", name, b.attempts.first)
		}
	}
}

func TestARequestWhoseAnswerFindsNoMemoryIsTheSameIfItIsSentAgain(t *testing.T) {
	b := newBatches(func(s *web.Settings) { s.AnswerBytes = 1 })
	body := listOf(append(slices.Repeat([]string{"nonsense"}, 900), bsm("0724100001", "LX100", "MUELLER"))...)
	for range 2 {
		if w := b.post("all", "/v1/messages", jsonType, body); w.Code != 503 || len(b.rejects) != 900 || len(b.attempts.first) != 1 {
			t.Fatalf("%d, %d rejects, %d requests are remembered: %.200s", w.Code, len(b.rejects), len(b.attempts.first), w.Body)
		}
	}
}

func TestARequestWithOtherMessagesOrOfAnotherKeyIsNoRepetition(t *testing.T) {
	check, other := bsm("0724100001", "LX100", "MUELLER"), bsm("0724100002", "LX100", "MUELLER")
	for name, sent := range map[string]struct{ key, body string }{
		"fewer messages": {"all", listOf(check)},
		"another order":  {"all", listOf(other, check)},
		"another text":   {"all", listOf(check, other+"\n")},
		"another key":    {"lx", listOf(check, other)},
	} {
		b := newBatches()
		b.index.err = errAway
		if w := b.post("all", "/v1/messages", jsonType, listOf(check, other)); w.Code != 503 {
			t.Fatal(w.Code, w.Body)
		}
		if b.post(sent.key, "/v1/messages", jsonType, sent.body); len(b.attempts.first) != 2 {
			t.Errorf("%s: %d requests are remembered", name, len(b.attempts.first))
		}
	}
}

func TestARequestThatTookEffectIsAnotherOneIfItComesAgain(t *testing.T) {
	b := newBatches()
	check, change := bsm("0724100001", "LX100", "MUELLER"), changed(bsm("0724100001", "LX101", "MUELLER"))
	for _, text := range []string{check, change, check} {
		if w := b.post("all", "/v1/messages", jsonType, listOf(text)); w.Code != 200 {
			t.Fatal(w.Code, w.Body)
		}
	}
	if got := b.events(t, "0724100001"); got != "EXPECTED REROUTED EXPECTED" {
		t.Errorf("the bag has %s", got)
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
	body := listOf(first, "nonsense", bsm("0724100002", "BA200", "MEIER"), first, changed(bsm("0724100001", "LX101", "MUELLER")))
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

// No leg of the second message is in the scope of its sender, and the first message of the bag is not
// seen, so the event is not seen either.
func TestANewMessageWhoseEventItsSenderDoesNotSeeIsNoDuplicate(t *testing.T) {
	b := newBatches()
	bpm := func(flight string) string {
		return "BPM\r\n.V/1LZRH\r\n.J/S\r\n" + flight + "\r\n.N/0724123456001\r\nENDBPM\r\n"
	}
	b.post("all", "/v1/messages", jsonType, listOf("BSM\r\n.V/1LLHR\r\n.F/BA1/14MAR/FRA\r\n.N/0724123456001\r\n.P/1SMITH\r\n.L/ABC123\r\nENDBSM\r\n"))
	for _, c := range []struct{ text, want string }{
		{bpm(".F/LX100/14MAR/JFK"), "m0 accepted 0724123456 SORTED"},
		{bpm(".O/LX200/14MAR/CDG"), "m0 accepted"},
		{bpm(".O/LX200/14MAR/CDG"), "m0 duplicate"},
	} {
		if got := verdicts(t, b.post("zurich", "/v1/messages", jsonType, listOf(c.text))); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	if got := b.events(t, "0724123456"); got != "EXPECTED SORTED SORTED" {
		t.Errorf("the bag has %s", got)
	}
}

// The change has no names, so it is about both bags of the plate. In the order of bags its events told
// how the PNR of the bag that the key does not see compares with the other one.
func TestTheOrderOfEventsTellsNothingOfNamesThatAreNotSeen(t *testing.T) {
	for _, hidden := range []string{"AAA111", "ZZZ999"} {
		b := newBatches()
		b.post("all", "/v1/messages", jsonType, listOf("BSM\r\n.V/1LLHR\r\n.F/BA1/14MAR/FRA\r\n.N/0724123456001\r\n.P/1SMITH\r\n.L/"+hidden+"\r\nENDBSM\r\n"))
		b.post("lx", "/v1/messages", jsonType, listOf("BSM\r\n.V/1LZRH\r\n.F/LX20/14MAR/JFK\r\n.N/0724123456001\r\n.P/1HUBER\r\n.L/GUESS1\r\nENDBSM\r\n"))
		change := "BSM\r\nCHG\r\n.V/1LZRH\r\n.F/LX30/14MAR/JFK\r\n.N/0724123456001\r\nENDBSM\r\n"
		want := "m0 accepted 0724123456 EXPECTED 0724123456 REROUTED"
		if got := verdicts(t, b.post("lx", "/v1/messages", jsonType, listOf(change))); got != want {
			t.Errorf("beside %s: %s, want %s", hidden, got, want)
		}
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
		{"/v1/messages/validate", jsonType, listOf(one, two), "m0 accepted 0724100001 EXPECTED; m1 accepted 0724100002 EXPECTED"},
		{"/v1/messages/validate?format=text", textType, one, "accepted 0724100001 EXPECTED"},
	} {
		b := newBatches()
		if got := verdicts(t, b.post("all", tc.target, tc.media, tc.body)); got != tc.want {
			t.Errorf("%s %s: %s\nwant %s", tc.target, tc.media, got, tc.want)
		}
		if touched := len(b.index.filed) > 0; touched == strings.Contains(tc.target, "validate") {
			t.Errorf("%s has filed %d messages", tc.target, len(b.index.filed))
		}
	}
}

func TestFaultsOfABatchAreToldAtOnceAndNothingIsTaken(t *testing.T) {
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
		{"/v1/messages", jsonType, listOf(slices.Repeat([]string{"x"}, 1001)...), `"pointer":"/messages/1000","code":"too_many"`},
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
		if w.Code != 400 || !strings.Contains(w.Body.String(), tc.want) || len(b.index.filed) > 0 {
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
		if n := strings.Count(w.Body.String(), `"pointer"`); w.Code != 400 || n > 1000 || !strings.Contains(w.Body.String(), tc.want) || len(b.index.filed) > 0 {
			t.Errorf("%.60s: %d with %d faults in %d bytes\n%.300s\nwant %s", tc.body, w.Code, n, w.Body.Len(), w.Body, tc.want)
		}
	}
}

// The request names a million bags, with 90 flights each.
func TestABatchWithTooManyBagsOrFaultsIsRefusedBeforeAllOfItsMessagesAreRead(t *testing.T) {
	b := newBatches()
	onward := strings.Repeat(".O/LX200/15MAR/ZRH\n", 90)
	var flights strings.Builder
	for i := range 90 {
		fmt.Fprintf(&flights, ".F/LX%03d/14MAR/JFK\n", 100+i)
	}
	for what, body := range map[string]string{
		"bags":       listOf(slices.Repeat([]string{"BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n" + onward + ".N/0724000000999\nENDBSM\n"}, 1000)...),
		"faults":     listOf(slices.Repeat([]string{"BSM\n" + strings.Repeat(".N\n", 900) + "ENDBSM\n"}, 1000)...),
		"containers": listOf(slices.Repeat([]string{"BPM\n.V/1LZRH\n.U/AKE1\n" + flights.String() + "ENDBPM\n"}, 60)...),
	} {
		for _, target := range []string{"/v1/messages", "/v1/messages/validate"} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := b.post("all", target, jsonType, body)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; w.Code != 413 || took > 64<<20 || !strings.Contains(w.Body.String(), what+" ") {
				t.Errorf("%s %s: %d %s, %d MiB", target, what, w.Code, w.Body, took>>20)
			}
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
		if w := b.post(tc.key, "/v1/messages", tc.media, tc.body); w.Code != tc.want || len(b.index.filed) > 0 {
			t.Errorf("%s %.60s: %d %.300s", tc.key, tc.body, w.Code, w.Body)
		}
	}
	b.index.err = errAway
	if w := b.post("all", "/v1/messages", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER"))); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the index is away: %d %s", w.Code, w.Body)
	}
	if w := b.post("all", "/v1/messages/validate", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER"))); w.Code != 200 {
		t.Errorf("validate: %d %s", w.Code, w.Body)
	}
	b.index.err = nil
	if got := verdicts(t, b.post("all", "/v1/messages", jsonType, listOf(bsm("0724100001", "LX100", "MUELLER")))); got != "m0 accepted 0724100001 EXPECTED" {
		t.Errorf("sent again: %s", got)
	}
}
