package rejectstore_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/redis"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/rejectstore"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// world is a store whose clock a test sets.
type world struct {
	*rejectstore.Store
	client *redis.Client
	now    time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{client: redistest.Open(t, ""), now: noon}
	w.Store = rejectstore.New(w.client, 14*24*time.Hour, func() time.Time { return w.now })
	return w
}

// rejection returns a rejection with an origin and these codes.
func rejection(origin string, received time.Time, door, airport, sender string, codes ...string) ingestor.Rejection {
	r := ingestor.Rejection{
		Envelope: ingestor.Envelope{Raw: "text of " + origin, Received: received, Origin: origin, Door: door, Sender: sender}, Airport: airport,
	}
	for _, code := range codes {
		r.Errors = append(r.Errors, ingestor.Diagnostic{Code: code, Line: 1, Column: 1, EndColumn: 1, Value: "value of " + origin})
	}
	return r
}

func (w *world) add(t *testing.T, list ...ingestor.Rejection) {
	t.Helper()
	if err := w.Reject(t.Context(), list); err != nil {
		t.Fatal(err)
	}
}

// origins lists the rejects of a filter, by pages of two, and returns their origins.
func (w *world) origins(t *testing.T, f rejectstore.Filter, limit int) []string {
	t.Helper()
	found := []string{}
	for after := (rejectstore.Position{}); ; {
		page, err := w.List(t.Context(), f, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return found
		}
		ids := make([]string, len(page))
		for i, p := range page {
			ids[i] = p.ID
		}
		rejects, err := w.Get(t.Context(), true, ids...)
		if err != nil || len(rejects) != len(page) {
			t.Fatalf("%d of %d, %v", len(rejects), len(page), err)
		}
		for _, r := range rejects {
			found = append(found, strings.TrimPrefix(r.Text, "text of "))
		}
		after = page[len(page)-1]
	}
}

func TestARejectIsKeptOnceWithAllThatIsKnownOfIt(t *testing.T) {
	w := newWorld(t)
	r := rejection("a", noon, "kafka", "ZRH", "swiss", "SVCPRB015", "SVCPRB023", "SVCPRB015")
	r.Raw, r.JSON, r.Key = "{\"bim_message\":\"\xff\"}", true, "0724100001"
	w.add(t, r, r)
	w.add(t, r)
	got, err := w.Get(t.Context(), true, "none", rejectstore.ID("a"))
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if want := string(ingestor.AppendDiagnostics(nil, r.Errors)); string(got[0].Diagnostics) != want {
		t.Errorf("diagnostics %s, want %s", got[0].Diagnostics, want)
	}
	got[0].Diagnostics = nil
	want := rejectstore.Reject{
		ID: rejectstore.ID("a"), State: rejectstore.Open, Received: noon, Door: "kafka", Sender: "swiss", Airport: "ZRH", Text: r.Raw, JSON: true,
		RecordKey: "0724100001", Codes: []string{"SVCPRB015", "SVCPRB023"}, Value: "value of a",
	}
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v\nwant %+v", got[0], want)
	}
	sum, err := w.Summarize(t.Context(), rejectstore.Filter{State: rejectstore.Open})
	if err != nil || sum.States[0].Count != 1 {
		t.Errorf("%+v %v", sum, err)
	}
}

// mixed adds rejects of two airports, doors, codes and states, and one without an airport.
func (w *world) mixed(t *testing.T) {
	t.Helper()
	w.add(t,
		rejection("a", noon.Add(-4*time.Hour), "kafka", "ZRH", "", "C1"), rejection("b", noon.Add(-3*time.Hour), "http", "ZRH", "swiss", "C1", "C2"),
		rejection("c", noon.Add(-2*time.Hour), "kafka", "GVA", "", "C2"), rejection("d", noon.Add(-time.Hour), "http", "", "swiss", "C1"),
		rejection("e", noon, "http", "", "", "C2"), rejection("f", noon, "kafka", "ZRH", "", "C2"))
	for _, step := range []struct {
		origin string
		next   rejectstore.State
	}{{"a", rejectstore.Dismissed}, {"b", rejectstore.Resubmitted}} {
		if state, claim, err := w.Decide(t.Context(), rejectstore.ID(step.origin), "", step.next, rejectstore.Step{At: noon, Action: "dismiss", Key: "k"}); err != nil || state != rejectstore.Open || claim != "" {
			t.Fatalf("%s %q %v", state, claim, err)
		}
	}
}

func TestListsAndSummariesFilterByStateCodeAirportDoorAndTimeAtOnce(t *testing.T) {
	w := newWorld(t)
	w.mixed(t)
	const open, dismissed, resubmitted = rejectstore.Open, rejectstore.Dismissed, rejectstore.Resubmitted
	for _, tc := range []struct {
		filter rejectstore.Filter
		want   string
	}{
		{rejectstore.Filter{State: open}, "c d e f"},
		{rejectstore.Filter{State: dismissed}, "a"},
		{rejectstore.Filter{State: resubmitted}, "b"},
		{rejectstore.Filter{State: open, Code: "C2"}, "c e f"},
		{rejectstore.Filter{State: resubmitted, Code: "C2", Places: []string{"ZRH"}, Door: "http"}, "b"},
		{rejectstore.Filter{State: open, Places: []string{"ZRH", "GVA"}}, "c f"},
		{rejectstore.Filter{State: open, Places: []string{""}}, "d e"},
		{rejectstore.Filter{State: open, Places: []string{"GVA", "@swiss"}}, "c d"},
		{rejectstore.Filter{State: open, Places: []string{}}, ""},
		{rejectstore.Filter{State: open, Door: "kafka", Code: "C2", Places: []string{"ZRH"}, Since: noon.Add(-time.Hour)}, "f"},
		{rejectstore.Filter{State: open, Since: noon.Add(-2 * time.Hour), Until: noon}, "c d"},
		{rejectstore.Filter{State: open, Code: "C3"}, ""},
		{rejectstore.Filter{State: open, Door: "file"}, ""},
	} {
		for _, limit := range []int{1, 2, 10} {
			got := w.origins(t, tc.filter, limit)
			if slices.Sort(got); strings.Join(got, " ") != tc.want {
				t.Errorf("%+v by %d: %q, want %q", tc.filter, limit, got, tc.want)
			}
		}
		sum, err := w.Summarize(t.Context(), tc.filter)
		if err != nil {
			t.Fatal(err)
		}
		counted := int64(0)
		for _, s := range sum.States {
			if s.Value == string(tc.filter.State) {
				counted = s.Count
			}
		}
		byHour := int64(0)
		for _, h := range sum.Hours {
			byHour += h.Count
		}
		if n := int64(len(strings.Fields(tc.want))); counted != n || byHour != n {
			t.Errorf("%+v: %d counted, %d by hour, want %d", tc.filter, counted, byHour, n)
		}
	}
	newest := w.origins(t, rejectstore.Filter{State: open}, 10)
	if newest[2] != "d" || newest[3] != "c" {
		t.Errorf("the order is %q", newest)
	}
}

func TestASummaryCountsByStateCodeAirportDoorAndHour(t *testing.T) {
	w := newWorld(t)
	w.mixed(t)
	got, err := w.Summarize(t.Context(), rejectstore.Filter{State: rejectstore.Open})
	want := rejectstore.Summary{
		States:   []rejectstore.Count{{"open", 4}, {"resubmitted", 1}, {"dismissed", 1}},
		Codes:    []rejectstore.Count{{"C2", 3}, {"C1", 1}},
		Airports: []rejectstore.Count{{"", 2}, {"GVA", 1}, {"ZRH", 1}},
		Doors:    []rejectstore.Count{{"http", 2}, {"kafka", 2}},
	}
	for i, count := range []int64{1, 1, 2} {
		want.Hours = append(want.Hours, rejectstore.Count{fmt.Sprintf("2026-03-14T%d:00:00.000Z", 10+i), count})
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v\nwant %+v", got, err, want)
	}
}

// An hour counts if one of its milliseconds does.
func TestASummaryUntilTheFirstSecondOfAnHourHasThatHour(t *testing.T) {
	w := newWorld(t)
	w.add(t, rejection("a", noon, "http", "ZRH", "", "C1"))
	for after, want := range map[time.Duration]int{0: 0, time.Millisecond: 1, 999 * time.Millisecond: 1, time.Second: 1} {
		got, err := w.Summarize(t.Context(), rejectstore.Filter{State: rejectstore.Open, Until: noon.Add(after)})
		if err != nil || len(got.Hours) != want {
			t.Errorf("until %v after noon: hours %v (%v), want %d", after, got.Hours, err, want)
		}
	}
}

// Pages neither repeat nor leave out rejects that were received in one millisecond, and have them
// in the order of their numbers.
func TestPagesOfRejectsOfOneMillisecond(t *testing.T) {
	w := newWorld(t)
	var list []ingestor.Rejection
	var want []string
	for i := range 300 {
		list = append(list, rejection(fmt.Sprint("bim.raw/3/", i), noon, []string{"http", "kafka"}[i%2], "ZRH", "", "C1"))
		want = append(want, list[i].Origin)
	}
	w.add(t, list...)
	for _, oldest := range []bool{true, false} {
		for _, limit := range []int{7, 100, 299, 1000} {
			if got := w.origins(t, rejectstore.Filter{State: rejectstore.Open, Oldest: oldest}, limit); !slices.Equal(got, want) {
				t.Errorf("by %d, the oldest first %v: %d, %v", limit, oldest, len(got), got)
			}
		}
		slices.Reverse(want)
	}
}

func TestARejectIsDecidedOnce(t *testing.T) {
	w := newWorld(t)
	w.add(t, rejection("a", noon, "http", "ZRH", "", "C1"))
	id := rejectstore.ID("a")
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 8 {
		wg.Go(func() {
			state, claim, err := w.Decide(context.Background(), id, "", rejectstore.Dismissed, rejectstore.Step{At: noon, Action: "dismiss", Key: fmt.Sprint(i)})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if state == rejectstore.Open && claim == "" {
				done++
			}
		})
	}
	wg.Wait()
	got, err := w.Get(t.Context(), false, id)
	if err != nil || done != 1 || len(got[0].History) != 1 || got[0].State != rejectstore.Dismissed || got[0].Text != "" {
		t.Errorf("decided %d times: %+v %v", done, got, err)
	}
}

func TestAClaimedRejectIsDecidedByItsClaimAlone(t *testing.T) {
	w := newWorld(t)
	w.add(t, rejection("a", noon, "http", "ZRH", "", "C1"))
	id, step := rejectstore.ID("a"), rejectstore.Step{At: noon, Action: "resubmit", Key: "k", Verdict: "accepted", Text: "mended"}
	for i, want := range []string{"", "one"} {
		was, err := w.Claim(t.Context(), []string{"none", id}, []string{"", []string{"one", "two"}[i]})
		if err != nil || !slices.Equal(was, []rejectstore.Before{{}, {State: rejectstore.Open, Claim: want}}) {
			t.Fatalf("claim %d: %+v %v", i, was, err)
		}
	}
	for _, other := range []string{"", "two"} {
		if state, claim, err := w.Decide(t.Context(), id, other, rejectstore.Dismissed, step); err != nil || state != rejectstore.Open || claim != "one" {
			t.Errorf("claim %q: %s %q %v", other, state, claim, err)
		}
	}
	for i, want := range []rejectstore.State{rejectstore.Open, rejectstore.Resubmitted} { // the second repeats the first
		if state, _, err := w.Decide(t.Context(), id, "one", rejectstore.Resubmitted, step); err != nil || state != want {
			t.Errorf("decision %d: %s %v", i, state, err)
		}
	}
	got, err := w.Get(t.Context(), false, id)
	if err != nil || got[0].State != rejectstore.Resubmitted || got[0].Claim != "" || !reflect.DeepEqual(got[0].History, []rejectstore.Step{step}) {
		t.Errorf("%+v %v", got, err)
	}
	if state, claim, err := w.Decide(t.Context(), "none", "", rejectstore.Dismissed, step); err != nil || state != "" || claim != "" {
		t.Errorf("no reject: %s %q %v", state, claim, err)
	}
}

func TestAFailedResubmissionStaysInTheHistoryOfAnOpenReject(t *testing.T) {
	w := newWorld(t)
	w.add(t, rejection("a", noon, "http", "ZRH", "", "C1"))
	id := rejectstore.ID("a")
	for range 60 {
		step := rejectstore.Step{At: noon, Action: "resubmit", Key: "k", Verdict: "rejected", Text: strings.Repeat("x", 5000)}
		if _, _, err := w.Decide(t.Context(), id, "", rejectstore.Open, step); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Decide(t.Context(), id, "", rejectstore.Dismissed, rejectstore.Step{At: noon, Action: "dismiss", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	got, err := w.Get(t.Context(), false, id)
	if n := len(got[0].History); err != nil || n > 22 || n < 15 || got[0].History[n-1].Action != "dismiss" {
		t.Errorf("%d steps, %v", n, err)
	}
}

// Retention leaves nothing.
func TestRejectsPastTheirRetentionLeaveNothing(t *testing.T) {
	w := newWorld(t)
	w.mixed(t)
	w.add(t, rejection("old", noon.Add(-14*24*time.Hour), "http", "ZRH", "", "C1"), rejection("bim.raw/0/255", noon, "kafka", "GVA", "", "C1"))
	if _, _, err := w.Decide(t.Context(), rejectstore.ID("bim.raw/0/255"), "", rejectstore.Dismissed, rejectstore.Step{At: noon}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Get(t.Context(), false, rejectstore.ID("old")); err != nil || len(got) > 0 {
		t.Errorf("a reject past the retention is kept: %+v %v", got, err)
	}
	for _, step := range []struct {
		now  time.Time
		left int
	}{{noon, 0}, {noon.Add(14*24*time.Hour - 90*time.Minute), 3}, {noon.Add(14*24*time.Hour + time.Millisecond), 4}} {
		w.now = step.now
		if n, err := w.Trim(t.Context()); err != nil || n != step.left {
			t.Errorf("%v: %d removed, %v", step.now, n, err)
		}
	}
	var keys []string
	all := w.client.ReadClient().Scan(t.Context(), 0, "*", 1000).Iterator()
	for all.Next(t.Context()) {
		keys = append(keys, all.Val())
	}
	if err := all.Err(); err != nil || len(keys) > 0 {
		t.Errorf("left are %q, %v", keys, err)
	}
}

// The bound on the memory of rejects goes by this size.
func TestTheSizeOfRejectsIsThatOfTheirTextsFaultsAndHistories(t *testing.T) {
	w := newWorld(t)
	bytes := func() (sum int) {
		tallies, err := w.client.WriteClient().HGetAll(t.Context(), w.client.Prefix()+"j:{rejects}:n").Result()
		for tally, text := range tallies {
			if n, failed := strconv.Atoi(text); strings.HasPrefix(tally, "b:") {
				sum, err = sum+n, cmp.Or(err, failed)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	one, two := rejection("a", noon, "kafka", "ZRH", "", "SVCPRB001"), rejection("b", noon, "kafka", "ZRH", "", slices.Repeat([]string{"SVCPRB002"}, 100)...)
	one.Raw = strings.Repeat("x", 60_000)
	two.Raw, two.Key = "", "0724100001"
	w.add(t, one, two)
	w.add(t, one, two)
	want := len(one.Raw) + len(two.Key) + 2*len("value of a") + len(ingestor.AppendDiagnostics(nil, one.Errors)) + len(ingestor.AppendDiagnostics(nil, two.Errors))
	if got := bytes(); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	for _, next := range []rejectstore.State{rejectstore.Open, rejectstore.Dismissed, rejectstore.Dismissed} { // the last one changes nothing
		if _, _, err := w.Decide(t.Context(), rejectstore.ID("b"), "", next, rejectstore.Step{At: noon, Action: "dismiss", Key: "desk", Reason: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	want += 2 * len(`{"at":"2026-03-14T12:00:00Z","action":"dismiss","key":"desk","reason":"test"}`+"\n")
	if got := bytes(); got != want {
		t.Errorf("after two steps %d bytes, want %d", got, want)
	}
	w.now = noon.Add(15 * 24 * time.Hour)
	if n, err := w.Trim(t.Context()); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if got := bytes(); got != 0 {
		t.Errorf("%d bytes of nothing", got)
	}
}

// The memory of rejects is taken from a budget before they are read.
func TestTheSizeOfARejectIsWhatIsReadOfIt(t *testing.T) {
	w := newWorld(t)
	r := rejection("a", noon, "kafka", "ZRH", "", "SVCPRB001", "SVCPRB002")
	r.Raw, r.Key = strings.Repeat("x", 60_000), "0724100001"
	w.add(t, r)
	step := rejectstore.Step{At: noon, Action: "resubmit", Key: "desk", Verdict: "rejected"}
	if _, _, err := w.Decide(t.Context(), rejectstore.ID("a"), "", rejectstore.Open, step); err != nil {
		t.Fatal(err)
	}
	rest := int64(len(r.Key) + len("value of a") + len(ingestor.AppendDiagnostics(nil, r.Errors)) +
		len(`{"at":"2026-03-14T12:00:00Z","action":"resubmit","key":"desk","verdict":"rejected"}`+"\n"))
	for withText, want := range map[bool]int64{true: 60_000 + rest, false: rest} {
		if got, err := w.Sizes(t.Context(), withText, "none", rejectstore.ID("a")); err != nil || !slices.Equal(got, []int64{0, want}) {
			t.Errorf("with text %t: %d, want %d, %v", withText, got, want, err)
		}
	}
}

// A byte of a value takes up to six bytes in JSON.
func TestTheDiagnosticsOfARejectHave64KiBAtMost(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		value      string
		count      int
		kept, left int // diagnostics, 0 for some, and bytes of the value
	}{
		"many": {"value", 2000, 0, 5}, "one": {strings.Repeat("<", 65_000), 1, 1, 8192}, "two": {strings.Repeat("<", 65_000), 2, 1, 8192},
	} {
		r := rejection(name, noon, "kafka", "ZRH", "", slices.Repeat([]string{"SVCPRB001"}, tc.count)...)
		for i := range r.Errors {
			r.Errors[i].Value = tc.value
		}
		w.add(t, r)
		got, err := w.Get(t.Context(), false, rejectstore.ID(name))
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		var kept []ingestor.Diagnostic
		if err := json.Unmarshal(got[0].Diagnostics, &kept); err != nil || len(got[0].Diagnostics) > 64<<10 || len(kept) == 0 || tc.kept > 0 && len(kept) != tc.kept {
			t.Errorf("%s: %d diagnostics in %d bytes, %v", name, len(kept), len(got[0].Diagnostics), err)
		} else if kept[0].Value != tc.value[:tc.left] || got[0].Value != tc.value {
			t.Errorf("%s: %d bytes of the value are left, want %d", name, len(kept[0].Value), tc.left)
		}
	}
}

// A holder whose clock is ahead, and that has ended, would keep the job from others.
func TestAHoldByAClockThatIsAheadDoesNotCount(t *testing.T) {
	w := newWorld(t)
	if err := w.AddJob(t.Context(), &rejectstore.Job{ID: "job", Began: noon}, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		process string
		at      time.Duration
		held    bool
	}{{"one", time.Hour, true}, {"two", 0, true}, {"three", 0, false}, {"two", 2 * time.Second, true}, {"three", 0, false}, {"three", 6 * time.Second, true}} {
		w.now = noon.Add(tc.at)
		if _, held, err := w.HoldJob(t.Context(), "job", tc.process); held != tc.held || err != nil {
			t.Errorf("process %s at %v: %t %v", tc.process, tc.at, held, err)
		}
	}
}

func TestOpenRejectsAreCountedAfterOldOnesAreRemoved(t *testing.T) {
	w := newWorld(t)
	w.mixed(t)
	w.now = noon.Add(14*24*time.Hour - 90*time.Minute)
	ctx, stop := context.WithCancel(t.Context())
	w.Run(ctx, func(open int64, err error) {
		if open != 3 || err != nil {
			t.Errorf("%d are open, %v", open, err)
		}
		stop()
	})
}
