package queryapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/smallmap"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
)

// Bounds of jobs.
const (
	maxIDs      = 1000     // ids of rejects in a request
	maxQuestion = 64 << 10 // bytes of a request
	maxJobs     = 100      // running jobs
	maxOwnJobs  = 10       // running jobs of one key
)

// question says what a job must do.
type question struct {
	wanted
	ids    []string // of the rejects, each once; nil: all that match wanted
	dryRun bool
	reason string
}

var isRejectID = regexp.MustCompile(`^[0-9a-f]{20}$`).MatchString

// readQuestion reads the body of a request for a job.
func readQuestion(a *arguments, key *apikey.Key, action string) (q question) {
	names := append([]string{"ids", "dry_run"}, filterNames...)
	if action == "dismiss" {
		names = append(names, "reason")
	}
	a.allowOnly(names...)
	q.wanted = readFilter(a, key)
	q.Oldest = true
	if g, there := a.one("state"); there && q.State != rejectstore.Open {
		a.fail(g, fault.Malformed, "open, since nothing else can be decided")
	}
	q.dryRun, _ = a.truth("dry_run")
	if action == "dismiss" {
		q.reason = a.text("reason", isReason, reasonForm)
		a.failMissing("reason", "why they are dismissed")
	}
	filtered := slices.ContainsFunc(filterNames, a.sent)
	ids := a.all("ids")
	switch {
	case !filtered:
		q.ids = smallmap.Distinct(several(a, "ids", maxIDs, isRejectID, "the id of a reject"))
		a.failMissing("ids", `ids or filters: {"state": "open"} is every open reject`)
	case len(ids) > 0:
		a.fail(ids[0], fault.Conflict, "ids or filters")
	}
	return q
}

// begin answers a request for a job.
func (d Rejects) begin(ctx context.Context, c *web.Call, action string) web.Answer {
	a := bodyArguments(c, "dry_run")
	q := readQuestion(a, c.Key, action)
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	job := rejectstore.Job{
		ID: d.NewID(), Action: action, Key: c.Key.Name, Digest: digestOf(c.Key), Rights: c.Key.Rights(),
		DryRun: q.dryRun, Question: string(c.Body), Total: int64(len(q.ids)), Began: d.Acceptor.Now().UTC(), State: rejectstore.Running,
	}
	var err error
	if q.ids == nil {
		q.endAtStart(&job)
		job.Total, err = d.Store.Count(ctx, q.Filter)
	} else {
		job.Question, err = d.oldestFirst(ctx, &q)
	}
	if err != nil {
		return c.Unavailable(err)
	}
	switch err := d.Store.AddJob(ctx, &job, maxJobs, maxOwnJobs); {
	case errors.Is(err, rejectstore.ErrTooManyOwnJobs):
		return c.Problem(fault.LimitReached, fmt.Sprintf("%d jobs over rejects of this key are running, which is the limit", maxOwnJobs))
	case errors.Is(err, rejectstore.ErrTooManyJobs):
		return c.Problem(fault.LimitReached, fmt.Sprintf("%d jobs over rejects are running, which is the limit", maxJobs))
	case err != nil:
		return c.Unavailable(err)
	}
	select {
	case d.Begun <- struct{}{}:
	default: // RunJobs does not wait, or will wake up already
	}
	return c.Made(http.StatusAccepted, "/v1/rejects/jobs/"+job.ID, appendJob(c.Buffer, &job))
}

// oldestFirst returns the request for a job over ids with the ids in the order of receipt, the
// oldest first.
func (d Rejects) oldestFirst(ctx context.Context, q *question) (string, error) {
	ids, err := d.Store.OldestFirst(ctx, q.ids)
	return string(strictjson.Encode(struct {
		IDs    []string `json:"ids"`
		DryRun bool     `json:"dry_run"`
		Reason string   `json:"reason,omitempty"`
	}{ids, q.dryRun, q.reason})), err
}

// endAtStart leaves out the rejects that came after the start of a job.
func (q *question) endAtStart(j *rejectstore.Job) {
	if end := j.Began.Add(time.Millisecond); q.Until.IsZero() || q.Until.After(end) {
		q.Until = end
	}
}

// digestOf returns the digest of a key as a job has it. A job has the name of its key too, but
// another key may get that name.
func digestOf(key *apikey.Key) string { return fmt.Sprintf("%x", key.Digest()) }

// getJob answers GET /v1/rejects/jobs/{id}.
func (d Rejects) getJob(ctx context.Context, c *web.Call) web.Answer {
	a := newArguments(c, "id").allowOnly("id")
	if refusal, refused := a.refusal(c); refused {
		return refusal
	}
	job, there, err := d.Store.Job(ctx, c.Values[0])
	switch {
	case err != nil:
		return c.Unavailable(err)
	case !there || job.Key != c.Key.Name || job.Digest != digestOf(c.Key):
		return c.Problem(fault.NotFoundV1, "The key has begun no job with this id")
	}
	return c.OK(appendJob(c.Buffer, &job))
}

func appendJob(dst []byte, j *rejectstore.Job) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "id", j.ID)
	dst = strictjson.AppendText(dst, "action", j.Action)
	dst = strictjson.AppendText(dst, "state", string(j.State))
	dst = strictjson.AppendBool(dst, "dry_run", j.DryRun)
	dst = strictjson.AppendText(dst, "key", j.Key)
	dst = strictjson.AppendInstant(dst, "began", j.Began)
	dst = strictjson.AppendInstant(dst, "ended", j.Ended)
	dst = strictjson.AppendNumber(dst, "total", j.Total)
	dst = strictjson.AppendNumber(dst, "looked_at", j.Looked)
	dst = strictjson.AppendNumber(dst, "accepted", j.Accepted)
	dst = strictjson.AppendNumber(dst, "rejected", j.Rejected)
	dst = strictjson.AppendNumber(dst, "unauthorised", j.Unauthorised)
	dst = strictjson.AppendNumber(dst, "dismissed", j.Dismissed)
	dst = strictjson.AppendNumber(dst, "skipped", j.Skipped)
	return append(dst, '}')
}
