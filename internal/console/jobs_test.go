package console_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"
)

func TestManyRejectsAreDecidedByAJobAfterADryRun(t *testing.T) {
	v := withRejects(3)
	v.answers["POST /v1/rejects/resubmit"], v.answers["POST /v1/rejects/dismiss"] = object{"id": "j1"}, object{"id": "j1"}
	c := newConsole(v)
	for _, e := range []struct {
		form        url.Values
		asked, goes string
	}{
		{url.Values{"id": {"a", "b"}, "action": {"resubmit"}, "back": {"state=open&code=SVCPRB022&q=x"}}, `resubmit {"dry_run":true,"ids":["a","b"]}`, "/jobs/j1?code=SVCPRB022&id=a&id=b&state=open"},
		{url.Values{"id": {"a"}, "action": {"resubmit"}, "start": {"1"}}, `resubmit {"dry_run":false,"ids":["a"]}`, "/jobs/j1?id=a"},
		{url.Values{"id": {"a"}, "all": {"1"}, "action": {"resubmit"}, "back": {"state=open&code=SVCPRB022&airport=&cursor=more"}}, `resubmit {"airport":"","code":"SVCPRB022","dry_run":true,"state":"open"}`, "/jobs/j1?airport=&code=SVCPRB022&state=open"},
		{url.Values{"all": {"1"}, "action": {"dismiss"}}, `dismiss {"dry_run":true,"reason":"Dismissed in the console","state":"open"}`, "/jobs/j1?"},
		{url.Values{"all": {"1"}, "action": {"dismiss"}, "start": {"1"}, "reason": {" a test "}}, `dismiss {"dry_run":false,"reason":"a test","state":"open"}`, "/jobs/j1?"},
		{url.Values{"all": {"1"}, "until": {"2026-11-22T11:00:00.000Z"}, "action": {"resubmit"}, "start": {"1"}}, `resubmit {"dry_run":false,"state":"open","until":"2026-11-22T11:00:00.000Z"}`, "/jobs/j1?"},
		{url.Values{"action": {"dismiss"}}, "GET /v1/session", "?done=nothing+selected"},
	} {
		w := post(c, "/console/rejects/bulk", e.form)
		if got := w.Header().Get("Location"); w.Code != 303 || got != "/console/rejects"+e.goes || !strings.HasSuffix(v.asked[len(v.asked)-1], e.asked) {
			t.Errorf("%v: %d %s after %s", e.form, w.Code, got, v.asked[len(v.asked)-1])
		}
	}
	v.answers["POST /v1/rejects/dismiss"] = 503
	must(t, post(c, "/console/rejects/bulk", url.Values{"id": {"a"}, "action": {"dismiss"}}), 503)
}

func TestAJobShowsHowFarItIsAndADryRunAsks(t *testing.T) {
	v := newV1(object{})
	c := newConsole(v)
	job := func(state string, dry bool, members object) string {
		answer := object{"id": "j1", "action": "resubmit", "state": state, "dry_run": dry, "total": 40, "looked_at": 40}
		maps.Copy(answer, members)
		v.answers["GET /v1/rejects/jobs/j1"] = answer
		return must(t, get(c, "/console/rejects/jobs/j1?code=SVCPRB022&state=open&id=a&id=%3Cb%3E"), 200, "/console/rejects?code=SVCPRB022&amp;state=open")
	}
	for _, e := range []struct {
		text  string
		wants []string
		not   string
	}{
		{job("running", true, object{"looked_at": 10}), []string{"data-again", `aria-live="off"`, "10 of 40 looked at", "Refresh"}, `name="start"`},
		{job("done", true, object{"accepted": 30, "rejected": 9, "skipped": 1}), []string{"30 of 40 would be accepted", "<b>30</b> would be accepted", "<b>9</b> would be rejected again", "<b>1</b> decided by others", `value="a"`, `value="&lt;b&gt;"`, "Resubmit 30</button>"}, "data-again"},
		{job("done", true, object{"rejected": 40}), []string{"0 of 40 would be accepted"}, `name="start"`},
		{job("done", true, object{"action": "dismiss", "dismissed": 40}), []string{"40 of 40 would be dismissed", "<b>40</b> would be dismissed", `name="reason" maxlength="1000"`, "Dismiss 40</button>"}, "data-again"},
		{job("done", false, object{"accepted": 40}), []string{"Done.", "40 of 40 accepted", "<b>40</b> accepted"}, `name="start"`},
		{job("done", false, object{"accepted": 40}), []string{`role="status" tabindex="-1" autofocus`}, "aria-live=\"off\""}, // the end is announced
		{job("stopped", false, object{"looked_at": 20}), []string{"Stopped after 20 of 40", "the key is no longer allowed to do this"}, "data-again"},
	} {
		for _, want := range e.wants {
			if !strings.Contains(e.text, want) {
				t.Errorf("no %q in %s", want, e.text)
			}
		}
		if strings.Contains(e.text, e.not) {
			t.Errorf("%q in %s", e.not, e.text)
		}
	}
	v.answers["GET /v1/rejects/jobs/j1"] = object{"id": "j1", "action": "dismiss", "state": "done", "dry_run": true, "dismissed": 1, "began": "2026-11-22T11:00:00.000Z"}
	must(t, get(c, "/console/rejects/jobs/j1?state=open"), 200, `name="all" value="1"><input type="hidden" name="until" value="2026-11-22T11:00:00.000Z">`)
	part := must(t, get(c, "/console/rejects/jobs/j1?rows="), 200, `id="job"`)
	if strings.Contains(part, "<html") {
		t.Error("a part is a whole page")
	}
	must(t, get(c, "/console/rejects/jobs/unknown"), 404, "Not found")
}
