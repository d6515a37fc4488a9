package queryapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/web"
	"bagtrail/queryapi"
)

// job is a job as it is answered.
type job struct {
	ID, Action, State, Key, Ended                               string
	Total, Accepted, Rejected, Unauthorised, Dismissed, Skipped int
	DryRun                                                      bool `json:"dry_run"`
	LookedAt                                                    int  `json:"looked_at"`
}

// counts returns the counts of a job: total, looked at, accepted, rejected, unauthorised, dismissed,
// skipped.
func (j *job) counts() string {
	return fmt.Sprint(j.Total, j.LookedAt, j.Accepted, j.Rejected, j.Unauthorised, j.Dismissed, j.Skipped)
}

// begin begins a job.
func (d *rejectDesk) begin(key, action, body string) (j job) {
	d.t.Helper()
	w := askV1(d.Site, key, "/v1/rejects/"+action, body)
	if err := json.Unmarshal(w.Body.Bytes(), &j); err != nil || w.Code != 202 || w.Header().Get("Location") != "/v1/rejects/jobs/"+j.ID || j.State != "running" || j.Key != key || j.Action != action {
		d.t.Fatalf("%s %s: %d %s", action, body, w.Code, w.Body)
	}
	return j
}

// work advances jobs until none runs, or until an error.
func (d *rejectDesk) work(ctx context.Context, process string) (steps int, err error) {
	for advanced := true; advanced; {
		if advanced, err = d.rejects.AdvanceJobs(ctx, process); err != nil {
			return steps, err
		}
		steps++
	}
	return steps - 1, nil
}

// finish advances jobs until none runs.
func (d *rejectDesk) finish(process string) {
	d.t.Helper()
	if _, err := d.work(d.t.Context(), process); err != nil {
		d.t.Fatal(err)
	}
}

// job asks for a job.
func (d *rejectDesk) job(key, id string) (j job) {
	d.t.Helper()
	w := askV1(d.Site, key, "/v1/rejects/jobs/"+id, "")
	if err := json.Unmarshal(w.Body.Bytes(), &j); err != nil || w.Code != 200 {
		d.t.Fatalf("%d %s", w.Code, w.Body)
	}
	return j
}

// do begins a job, brings it to its end, and returns it.
func (d *rejectDesk) do(key, action, body string) job {
	d.t.Helper()
	begun := d.begin(key, action, body)
	d.finish("one")
	return d.job(key, begun.ID)
}

// fill keeps messages that are accepted by now as rejects: as many as there are airports in turn.
func (d *rejectDesk) fill(n int, airports ...string) (ids []string) {
	d.t.Helper()
	var list []ingestor.Rejection
	for i := range n {
		at := airports[i%len(airports)]
		text := strings.NewReplacer("ZRH", at, "0009001", fmt.Sprintf("%04d001", i)).Replace(mended)
		r := ingestor.Rejection{Airport: at, Envelope: ingestor.Envelope{
			Door: "kafka", Raw: text, Received: d.now.Add(time.Duration(i-n) * time.Second), Origin: fmt.Sprint("bim.raw/0/", i),
		}}
		r.Errors = []ingestor.Diagnostic{{Code: "SVCPRB023", Line: 3, Column: 1, EndColumn: 1, Value: at}}
		list = append(list, r)
		ids = append(ids, rejectstore.ID(r.Origin))
	}
	d.keep(list...)
	return ids
}

// keepTexts keeps texts as rejects of ZRH that came from Kafka a second apart, with the origins 0,
// 1, ….
func (d *rejectDesk) keepTexts(texts ...string) {
	d.t.Helper()
	list := make([]ingestor.Rejection, len(texts))
	for i, text := range texts {
		list[i] = ingestor.Rejection{Airport: "ZRH", Envelope: ingestor.Envelope{
			Door: "kafka", Raw: text, Received: d.now.Add(time.Duration(i-len(texts)) * time.Second), Origin: fmt.Sprint(i),
		}}
	}
	d.keep(list...)
}

// keepAtOnce keeps n messages about one bag of ZRH as rejects that were received now, with the
// origins source/0, source/1, ….
func (d *rejectDesk) keepAtOnce(source string, n int) (ids []string) {
	d.t.Helper()
	list := make([]ingestor.Rejection, n)
	for i := range list {
		list[i] = ingestor.Rejection{Airport: "ZRH", Envelope: ingestor.Envelope{Door: "kafka", Raw: mended, Received: d.now, Origin: fmt.Sprint(source, "/", i)}}
		ids = append(ids, rejectstore.ID(list[i].Origin))
	}
	d.keep(list...)
	return ids
}

// decidedOnce checks that a job has resubmitted each of the rejects once.
func (d *rejectDesk) decidedOnce(name, id string, n int) {
	d.t.Helper()
	if got, want := d.job("demo", id), fmt.Sprint(n, n, n, 0, 0, 0, 0); got.State != "done" || got.counts() != want || got.Ended == "" {
		d.t.Errorf("%s: %+v, want %s", name, got, want)
	}
	positions, err := d.store.List(d.t.Context(), rejectstore.Filter{State: rejectstore.Resubmitted}, rejectstore.Position{}, 2*n)
	if err != nil || len(positions) != n || d.filed != n {
		d.t.Fatalf("%s: %d are resubmitted, %d messages are filed, %v", name, len(positions), d.filed, err)
	}
	for _, p := range positions {
		r, err := d.store.Get(d.t.Context(), false, p.ID)
		if err != nil || len(r) != 1 || len(r[0].History) != 1 || r[0].History[0].Job != id || r[0].History[0].Verdict != "accepted" {
			d.t.Fatalf("%s: %+v %v", name, r, err)
		}
	}
}

func TestAJobResubmitsTheRejectsOfAFilterOldestFirst(t *testing.T) {
	d := newRejectDesk(t)
	d.fill(230, "ZRH")
	bad := d.post("lx", badFlight)
	got := d.do("demo", "resubmit", `{"airport":"ZRH","code":"SVCPRB023"}`)
	if got.State != "done" || got.counts() != fmt.Sprint(231, 231, 230, 1, 0, 0, 0) || got.DryRun {
		t.Errorf("%+v", got)
	}
	if !slices.IsSortedFunc(d.log, func(a, b ingestor.Record) int { return strings.Compare(string(a.Plate), string(b.Plate)) }) || len(d.log) != 230 {
		t.Errorf("%d records", len(d.log))
	}
	if r := d.log[7]; r.Reject != rejectstore.ID("bim.raw/0/7") || r.Sender != "demo" {
		t.Errorf("%+v", r)
	}
	if _, one := d.ask("demo", "/"+bad, ""); one.State != "open" || len(one.History) != 1 || one.History[0].Verdict != "rejected" {
		t.Errorf("%+v", one)
	}
}

// Messages of one millisecond are resubmitted in the order of their records in a partition, or of
// their numbers in a request.
func TestAJobKeepsTheOrderOfMessagesOfOneMillisecond(t *testing.T) {
	for _, source := range []string{"bim.raw/0", "http/LZ4WMV2J5SZHSS5J3HOWE4MD37"} {
		d := newRejectDesk(t)
		ids := d.keepAtOnce(source, 300)
		if got := d.do("demo", "resubmit", `{"airport":"ZRH"}`); got.Accepted != 300 {
			t.Errorf("%+v", got)
		}
		for i, r := range d.log {
			if r.Reject != ids[i] {
				t.Fatalf("%s: message %d is another one", source, i)
			}
		}
	}
}

// A job over ids takes the rejects in the order of receipt, not in that of the ids.
func TestAJobOverIDsBeginsWithTheOldest(t *testing.T) {
	d := newRejectDesk(t)
	ids := slices.Concat(d.fill(3, "GVA"), d.keepAtOnce("bim.raw/1", 300))
	asked := slices.Concat(ids, []string{"00000000000000000000"})
	slices.Reverse(asked)
	got := d.do("demo", "resubmit", `{"ids":["`+strings.Join(asked, `","`)+`"]}`)
	if got.counts() != fmt.Sprint(304, 304, 303, 0, 0, 0, 1) {
		t.Errorf("%+v", got)
	}
	for i, r := range d.log {
		if r.Reject != ids[i] {
			t.Fatalf("message %d is another one", i)
		}
	}
}

// Messages about one bag get received times in their order.
func TestAJobKeepsTheOrderOfTheMessagesOfABag(t *testing.T) {
	d := newRejectDesk(t)
	var texts []string
	for i := range 9 {
		texts = append(texts, strings.Replace(mended, "0009001", fmt.Sprintf("%04d001", i/3), 1))
	}
	d.keepTexts(texts...)
	got := d.do("demo", "resubmit", `{"airport":"ZRH"}`)
	if got.Accepted != 9 || d.filed != 9 {
		t.Errorf("%+v, %d filed", got, d.filed)
	}
	for i := 1; i < len(d.log); i++ {
		if before, r := d.log[i-1], d.log[i]; r.Reject != rejectstore.ID(fmt.Sprint(i)) || r.Plate == before.Plate && !before.Received.Before(r.Received) {
			t.Errorf("%d: %v after %v", i, r.Received, before.Received)
		}
	}
}

// The received times of a step may be ahead of the clock, since its messages are a millisecond apart.
func TestAJobKeepsTheOrderOfTheMessagesOfABagFromStepToStep(t *testing.T) {
	d := newRejectDesk(t)
	d.rejects.Acceptor = d.Acceptor // with the clock of the machine
	d.Site = web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, d.rejects.Operations(), nil)
	d.keepTexts(slices.Repeat([]string{mended}, 300)...)
	if got := d.do("demo", "resubmit", `{"airport":"ZRH"}`); got.Accepted != 300 || d.filed != 300 {
		t.Errorf("%+v, %d filed", got, d.filed)
	}
	for i := 1; i < len(d.log); i++ {
		if before, r := d.log[i-1], d.log[i]; !before.Received.Before(r.Received) {
			t.Errorf("%d: %v after %v", i, r.Received, before.Received)
		}
	}
}

// A positioning concerns the bags that were in its container before it.
func TestAJobKeepsTheOrderOfABagAndItsContainer(t *testing.T) {
	d := newRejectDesk(t)
	texts := []string{
		"BPM\n.V/1LZRH\n.J/R\n.F/LX100/14MAR/JFK\n.U/AKE1\n.N/0724000001001\nENDBPM\n",
		"BPM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.U/AKE1/41\nENDBPM\n",
		"BPM\n.V/1LZRH\n.J/R\n.F/LX100/14MAR/JFK\n.U/AKE1\n.N/0724000002001\nENDBPM\n",
	}
	d.keepTexts(texts...)
	if got := d.do("demo", "resubmit", `{"airport":"ZRH"}`); got.Accepted != len(texts) {
		t.Errorf("%+v", got)
	}
	for i := 1; i < len(d.log); i++ {
		if before, r := d.log[i-1], d.log[i]; !before.Received.Before(r.Received) {
			t.Errorf("%d: %v after %v", i, r.Received, before.Received)
		}
	}
}

func TestTheRejectsOfAJobAreThoseOfItsFilters(t *testing.T) {
	for body, want := range map[string]int{
		`{"state":"open"}`: 13, `{"airport":"ZRH"}`: 7, `{"airport":"ZRH","door":"http"}`: 1, `{"door":"kafka"}`: 12, `{"code":"SVCPRB001"}`: 0,
		`{"key":"lx"}`: 1, `{"value":"LHR"}`: 6, `{"q":"0724100003"}`: 1, `{"until":"2026-03-14T11:59:51Z"}`: 3, `{"since":"2026-03-14T11:59:57Z"}`: 4,
	} {
		d := newRejectDesk(t)
		ids := d.fill(12, "ZRH", "LHR")
		d.post("lx", badFlight)
		body = strings.TrimSuffix(body, "}") + `,"reason":"a test"}`
		for _, dry := range []string{`,"dry_run":true}`, "}"} {
			got := d.do("demo", "dismiss", strings.TrimSuffix(body, "}")+dry)
			if got.Dismissed != want || got.Skipped != 0 || got.State != "done" || got.DryRun != (dry != "}") {
				t.Errorf("%s: %+v, want %d", body, got, want)
			}
			if open, err := d.store.Count(t.Context(), rejectstore.Filter{State: rejectstore.Open}); err != nil || open != 13 && got.DryRun || open != int64(13-want) && !got.DryRun {
				t.Errorf("%s: %d are open, %v", body, open, err)
			}
		}
		if body == `{"state":"open","reason":"a test"}` {
			r, err := d.store.Get(t.Context(), false, ids[0])
			if err != nil || len(r[0].History) != 1 || r[0].History[0].Reason != "a test" || r[0].History[0].Key != "demo" || r[0].History[0].Job == "" {
				t.Errorf("%+v %v", r, err)
			}
		}
	}
}

// What came after the request is not part of the job.
func TestAJobLeavesLaterRejectsAlone(t *testing.T) {
	d := newRejectDesk(t)
	d.fill(3, "ZRH")
	begun := d.begin("demo", "dismiss", `{"state":"open","reason":"a test"}`)
	d.now = d.now.Add(time.Second)
	d.post("lx", badFlight)
	d.finish("one")
	if got := d.job("demo", begun.ID); got.counts() != fmt.Sprint(3, 3, 0, 0, 0, 3, 0) {
		t.Errorf("%+v", got)
	}
}

func TestADryRunJudgesAndChangesNothing(t *testing.T) {
	d := newRejectDesk(t)
	ids := d.fill(4, "ZRH")
	bad := d.post("", badFlight)
	got := d.do("demo", "resubmit", `{"ids":["`+strings.Join(append(ids, bad), `","`)+`"],"dry_run":true}`)
	if got.counts() != fmt.Sprint(5, 5, 4, 1, 0, 0, 0) || !got.DryRun {
		t.Errorf("%+v", got)
	}
	rejects, err := d.store.Get(t.Context(), false, append(ids, bad)...)
	if len(d.log) > 0 || d.filed > 0 || err != nil || slices.ContainsFunc(rejects, func(r rejectstore.Reject) bool {
		return r.State != rejectstore.Open || len(r.History) > 0 || r.Claim != ""
	}) {
		t.Errorf("%d logged, %d filed, %+v %v", len(d.log), d.filed, rejects, err)
	}
}

// A job decides as its key may at that moment: on the rejects of its airports, with messages that it
// may send.
func TestAJobHasTheRightsOfItsKey(t *testing.T) {
	d := newRejectDesk(t)
	ids := d.fill(6, "ZRH", "LHR")
	all := `{"ids":["` + strings.Join(ids, `","`) + `","0123456789abcdef0123"]`
	if got := d.do("lhr", "resubmit", all+`,"dry_run":true}`); got.counts() != fmt.Sprint(7, 7, 3, 0, 0, 0, 4) {
		t.Errorf("ids: %+v", got)
	}
	if got := d.do("ba", "resubmit", all+`}`); got.counts() != fmt.Sprint(7, 7, 0, 0, 6, 0, 1) || len(d.log) > 0 {
		t.Errorf("another airline: %+v", got)
	}
	for target, want := range map[string]int{`{"airport":"ZRH"}`: 403, `{"airport":"LHR","dry_run":true}`: 202} {
		if w := askV1(d.Site, "lhr", "/v1/rejects/resubmit", target); w.Code != want {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := askV1(d.Site, "posts", "/v1/rejects/resubmit", `{"state":"open"}`); w.Code != 403 {
		t.Errorf("without the right: %d", w.Code)
	}
	if got := d.do("lhr", "dismiss", `{"state":"open","reason":"a test"}`); got.counts() != fmt.Sprint(3, 3, 0, 0, 0, 3, 0) {
		t.Errorf("filter: %+v", got)
	}
	for name, rights := range map[string]queryapi.Rejects{
		"revoked": {Keys: revokedKeys{}}, "no key": {Keys: keys{}}, "without the right": {Keys: keys{"demo": testKeys["bags-only"]}}, "another scope": {Keys: keys{"demo": testKeys["lhr"]}},
		"another key with its name": {Keys: keys{"demo": namesake(t, "demo")}},
	} {
		begun := d.begin("demo", "dismiss", `{"airport":"ZRH","reason":"a test"}`)
		rights.Store, rights.Acceptor = d.store, d
		if name != "revoked" {
			d.now = d.now.Add(2 * time.Minute)
		}
		if _, err := rights.AdvanceJobs(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if got := d.job("demo", begun.ID); got.State != "stopped" || got.counts() != fmt.Sprint(3, 0, 0, 0, 0, 0, 0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Each process reads the key file by itself, and may be of an older version.
func TestAProcessThatMayKnowLessOfAKeyLeavesAJobToOthersForTwoMinutes(t *testing.T) {
	d := newRejectDesk(t)
	d.fill(6, "ZRH", "LHR")
	revoked := namesake(t, "demo")
	revoked.Revoked = true
	for name, known := range map[string]queryapi.Rejects{
		"no key": {Keys: keys{}}, "without the right": {Keys: keys{"demo": testKeys["bags-only"]}}, "another scope": {Keys: keys{"demo": testKeys["lhr"]}},
		"another key with its name": {Keys: keys{"demo": namesake(t, "demo")}}, "another key with its name, revoked": {Keys: keys{"demo": revoked}},
	} {
		known.Store, known.Acceptor = d.store, d
		begun := d.begin("demo", "dismiss", `{"airport":"ZRH","reason":"a test","dry_run":true}`)
		if advanced, err := known.AdvanceJobs(t.Context(), "two"); err != nil || advanced || d.job("demo", begun.ID).State != "running" {
			t.Errorf("%s: advanced %t, %v", name, advanced, err)
		}
		d.finish("one")
		if got := d.job("demo", begun.ID); got.State != "done" || got.Dismissed != 3 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	newer := rejectstore.Job{ID: "newer", Action: "dismiss", Key: "demo", Digest: strings.Repeat("00", sha256.Size), Question: `{"filter":"new","reason":"a test"}`, Began: d.now}
	if err := d.store.AddJob(t.Context(), &newer, 10, 10); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"running", "stopped"} {
		d.finish("one")
		if got := d.job("demo", newer.ID); got.State != want {
			t.Errorf("%s: %+v, want %s", d.now.Sub(newer.Began), got, want)
		}
		d.now = d.now.Add(2 * time.Minute)
	}
}

// A key that covers fewer airports finds fewer rejects: the job would end before it has looked at
// all.
func TestAProcessWithOtherRightsOfAKeyLeavesAJobToOthersForTwoMinutes(t *testing.T) {
	for _, limited := range []string{"lhr", "ba"} {
		d := newRejectDesk(t)
		d.fill(6, "ZRH", "LHR")
		older := queryapi.Rejects{Keys: keys{"demo": testKeys[limited]}, Store: d.store, Acceptor: d}
		begun := d.begin("demo", "resubmit", `{"state":"open","dry_run":true}`)
		if advanced, err := older.AdvanceJobs(t.Context(), "two"); err != nil || advanced {
			t.Errorf("%s: advanced %t, %v", limited, advanced, err)
		}
		d.finish("one")
		if got := d.job("demo", begun.ID); got.State != "done" || got.LookedAt != 6 || got.Accepted != 6 {
			t.Errorf("%s: %+v", limited, got)
		}
		begun = d.begin("demo", "resubmit", `{"state":"open","dry_run":true}`)
		d.now = d.now.Add(2 * time.Minute)
		if advanced, err := older.AdvanceJobs(t.Context(), "two"); err != nil || !advanced {
			t.Errorf("%s, two minutes later: advanced %t, %v", limited, advanced, err)
		}
		if got := d.job("demo", begun.ID); got.State != "done" || got.Accepted == 6 {
			t.Errorf("%s, two minutes later: %+v", limited, got)
		}
	}
}

// namesake returns a key with every right that has the name of another key.
func namesake(t *testing.T, name string) *apikey.Key {
	t.Helper()
	all, err := apikey.Parse([]byte(`keys: [{name: "` + name + `", digest: "sha256:` + strings.Repeat("12", sha256.Size) + `"}]`))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// revokedKeys has every key, revoked.
type revokedKeys struct{}

func (revokedKeys) Named(name string, _ time.Time) (*apikey.Key, bool) {
	return &apikey.Key{Name: name}, false
}

func TestOnlyTheKeyThatBeganAJobSeesIt(t *testing.T) {
	d := newRejectDesk(t)
	begun := d.begin("lx", "resubmit", `{"state":"open"}`)
	for key, want := range map[string]int{"lx": 200, "demo": 404, "posts": 403} {
		if w := askV1(d.Site, key, "/v1/rejects/jobs/"+begun.ID, ""); w.Code != want {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
	if w := askV1(d.Site, "lx", "/v1/rejects/jobs/none", ""); w.Code != 404 {
		t.Errorf("no job: %d %s", w.Code, w.Body)
	}
	d.Site = web.New(web.Settings{Keys: keys{"lx": namesake(t, "lx")}, Log: zap.NewNop(), Clock: time.Now}, d.rejects.Operations(), nil)
	if w := askV1(d.Site, "lx", "/v1/rejects/jobs/"+begun.ID, ""); w.Code != 404 {
		t.Errorf("another key with its name: %d %s", w.Code, w.Body)
	}
}

func TestAHundredJobsRunAtOnceAtMost(t *testing.T) {
	d := newRejectDesk(t)
	for i := range 100 {
		job := rejectstore.Job{ID: fmt.Sprint("job-", i), Action: "resubmit", Key: fmt.Sprint("key-", i), Question: `{"state":"open"}`, Began: d.now}
		if err := d.store.AddJob(t.Context(), &job, 100, 10); err != nil {
			t.Fatal(err)
		}
	}
	w := askV1(d.Site, "demo", "/v1/rejects/resubmit", `{"state":"open"}`)
	if w.Code != 409 || !strings.Contains(w.Body.String(), "100 jobs over rejects are running") {
		t.Errorf("the hundred-and-first job: %d %s", w.Code, w.Body)
	}
}

// A process advances a job that begins at it without waiting, until its context ends.
func TestAJobBeginsAtOnce(t *testing.T) {
	d := newRejectDesk(t)
	d.fill(3, "ZRH")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.rejects.RunJobs(ctx, func(err error) { t.Error(err) })
	}()
	begun := d.begin("demo", "dismiss", `{"airport":"ZRH","reason":"a test"}`)
	redistest.Eventually(t, 10*time.Second, "the job does not end", func() bool { return d.job("demo", begun.ID).State == "done" })
	stop()
	<-ended
}

// A step reads 25 texts at a time, and no more after 1 MiB of them.
func TestAStepOverLargeRejectsIsShort(t *testing.T) {
	d := newRejectDesk(t)
	d.keepTexts(slices.Repeat([]string{strings.Repeat("x", 64<<10)}, 60)...)
	begun := d.begin("demo", "dismiss", `{"state":"open","reason":"a test"}`)
	steps, err := d.work(t.Context(), "one")
	if got := d.job("demo", begun.ID); err != nil || steps != 3 || got.Dismissed != 60 {
		t.Errorf("%d steps, %+v, %v", steps, got, err)
	}
}

func TestARepeatedIDOfARequestForAJobCountsOnce(t *testing.T) {
	d := newRejectDesk(t)
	good, bad := d.fill(1, "ZRH")[0], d.post("lx", badFlight)
	ids := fmt.Sprintf(`{"ids":[%[1]q,%[2]q,%[1]q,%[2]q]`, good, bad)
	for _, end := range []string{`,"dry_run":true}`, `}`} {
		if got := d.do("demo", "resubmit", ids+end); got.counts() != "2 2 1 1 0 0 0" {
			t.Errorf("ids%s: %+v", end, got)
		}
	}
	if _, one := d.ask("demo", "/"+bad, ""); len(d.log) != 1 || len(one.History) != 1 {
		t.Errorf("%d records, %d steps of the reject that is rejected again", len(d.log), len(one.History))
	}
}

func TestEveryFaultOfARequestForAJobIsTold(t *testing.T) {
	d := newRejectDesk(t)
	const id = `"0123456789abcdef0123"`
	for request, want := range map[string]string{
		`resubmit {}`:        "/ids missing",
		`dismiss {"ids":[]}`: "/ids malformed, /reason missing",
		`dismiss {"ids":[],"state":"open","reason":"x"}`: "/ids malformed",
		`resubmit []`: " malformed",
		`resubmit {"ids":[` + id + `],"reason":"x"}`:                   "/reason unknown",
		`resubmit {"ids":[` + id + `],"q":"x"}`:                        "/ids/0 conflict",
		`resubmit {"ids":["1",2,` + id + `]}`:                          "/ids/1 malformed, /ids/0 malformed",
		`resubmit {"state":"dismissed"}`:                               "/state malformed",
		`resubmit {"states":"open"}`:                                   "/states unknown, /ids missing",
		`resubmit {"state":"open","dry_run":1}`:                        "/dry_run malformed",
		`resubmit {"code":["A","B"]}`:                                  "/code malformed",
		`resubmit {"filter":{"code":"A"}}`:                             "/filter unknown, /ids missing",
		`resubmit {"state":"open","state":"open"}`:                     "/state repeated",
		`resubmit {"ids":` + id + `}`:                                  "/ids malformed",
		`resubmit {"limit":1}`:                                         "/limit unknown, /ids missing",
		`dismiss {"state":"open","reason":" "}`:                        "/reason malformed",
		`resubmit {"ids":[` + strings.Repeat(id+",", 1000) + id + `]}`: "/ids/1000 too_many",
	} {
		action, body, _ := strings.Cut(request, " ")
		if got := faultsV1(t, askV1(d.Site, "demo", "/v1/rejects/"+action, body)); got != want {
			t.Errorf("%.60s: %s, want %s", request, got, want)
		}
	}
	if w := askV1(d.Site, "demo", "/v1/rejects/resubmit", `{"q":"`+strings.Repeat("x", 64<<10)+`"}`); w.Code != 413 {
		t.Errorf("a large body: %d", w.Code)
	}
	if ids, err := d.store.RunningJobs(t.Context()); err != nil || len(ids) > 0 {
		t.Errorf("jobs %q, %v", ids, err)
	}
}

// Wherever a process ends in the middle of a step, another one goes on, and each reject is decided
// once.
func TestAnInterruptedJobIsBroughtToItsEndByAnotherProcess(t *testing.T) {
	const n = 230
	for name, interrupt := range map[string]func(d *rejectDesk, end func()){
		"before the log":     func(d *rejectDesk, _ func()) { d.away = errors.New("ended") },
		"after the index":    func(d *rejectDesk, _ func()) { d.lost = errors.New("ended") },
		"before the advance": func(d *rejectDesk, end func()) { end() },
	} {
		d := newRejectDesk(t)
		d.fill(n, "ZRH")
		begun := d.begin("demo", "resubmit", `{"airport":"ZRH"}`)
		ctx, end := context.WithCancel(t.Context())
		appended := 0
		d.meanwhile = func() {
			if appended++; appended == 2 {
				interrupt(d, end)
			}
		}
		if _, err := d.work(ctx, "one"); err == nil {
			t.Fatalf("%s: the first process was not interrupted", name)
		}
		end()
		d.meanwhile, d.away, d.lost = nil, nil, nil
		if steps, err := d.work(t.Context(), "two"); err != nil || steps != 0 {
			t.Errorf("%s: another process takes %d steps at once, %v", name, steps, err)
		}
		d.now = d.now.Add(11 * time.Second)
		d.finish("two")
		d.decidedOnce(name, begun.ID, n)
	}
}

// A process that stood still goes on with a step that another one has taken meanwhile.
func TestTwoProcessesAtOnceOnOneJobDecideOnce(t *testing.T) {
	const n = 230
	d := newRejectDesk(t)
	d.fill(n, "ZRH")
	begun := d.begin("demo", "resubmit", `{"airport":"ZRH"}`)
	asleep := false
	d.meanwhile = func() {
		if !asleep {
			asleep = true
			d.now = d.now.Add(11 * time.Second)
			if _, err := d.rejects.AdvanceJobs(t.Context(), "two"); err != nil {
				t.Error(err)
			}
		}
	}
	d.finish("one")
	d.now = d.now.Add(11 * time.Second)
	d.finish("one")
	d.decidedOnce("two processes", begun.ID, n)
}

// Nobody but the job ends what an interrupted job has begun, while it runs.
func TestTheClaimsOfAJobAreItsOwnWhileItRuns(t *testing.T) {
	d := newRejectDesk(t)
	ids := d.fill(5, "ZRH")
	begun := d.begin("demo", "resubmit", `{"airport":"ZRH"}`)
	d.lost = errors.New("ended")
	if _, err := d.work(t.Context(), "one"); err == nil {
		t.Fatal("the job was not interrupted")
	}
	d.lost, d.now = nil, d.now.Add(time.Minute)
	for _, request := range []string{"lx /dismiss {\"reason\":\"x\"}", "demo /resubmit {}"} {
		part := strings.SplitN(request, " ", 3)
		if status, got := d.ask(part[0], "/"+ids[2]+part[1], part[2]); status != 409 || got.Detail != "The reject is being resubmitted" {
			t.Errorf("%s: %d %+v", request, status, got)
		}
	}
	d.finish("two")
	d.decidedOnce("a claim", begun.ID, 5)
}

// If its key is revoked in the middle, what a job has filed is decided by whoever comes next.
func TestAClaimOfAStoppedJobIsBroughtToItsEnd(t *testing.T) {
	d := newRejectDesk(t)
	ids := d.fill(1, "ZRH")
	d.begin("lx", "resubmit", `{"airport":"ZRH"}`)
	d.lost = errors.New("ended")
	if _, err := d.work(t.Context(), "one"); err == nil {
		t.Fatal("the job was not interrupted")
	}
	d.lost, d.now = nil, d.now.Add(time.Minute)
	d.rejects.Keys = revokedKeys{}
	d.finish("two")
	if status, got := d.ask("demo", "/"+ids[0]+"/dismiss", `{"reason":"x"}`); status != 409 || got.Detail != "The reject is resubmitted" || d.filed != 1 {
		t.Errorf("%d %+v, %d filed", status, got, d.filed)
	}
}

func TestAKeyHasAtMostTenJobsThoughTheyBeginTogether(t *testing.T) {
	d := newRejectDesk(t)
	d.fill(5, "ZRH")
	var ids, begun atomic.Int32
	d.rejects.NewID = func() string { return fmt.Sprint("job-", ids.Add(1)) }
	d.Site = web.New(web.Settings{Keys: testKeys, Log: zap.NewNop(), Clock: time.Now}, d.rejects.Operations(), nil)
	start := make(chan struct{})
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			<-start
			switch w := askV1(d.Site, "lx", "/v1/rejects/dismiss", `{"state":"open","reason":"x"}`); {
			case w.Code == http.StatusAccepted:
				begun.Add(1)
			case w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "limit-reached"):
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	close(start)
	asking.Wait()
	if n := begun.Load(); n != 10 {
		t.Errorf("%d jobs of one key run", n)
	}
	d.begin("demo", "dismiss", `{"state":"open","reason":"x"}`)
	d.finish("one")
	d.begin("lx", "dismiss", `{"state":"open","reason":"x"}`)
}
