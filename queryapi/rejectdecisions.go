package queryapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/fault"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// resubmitOne answers POST /v1/rejects/{id}/resubmit.
func (d Rejects) resubmitOne(ctx context.Context, c *web.Call) web.Answer {
	a := bodyArguments(c).allowOnly("text")
	mended := a.text("text", isNotEmpty, "a message")
	return d.one(ctx, c, a, func(r *rejectstore.Reject) web.Answer {
		outcome, err := d.resubmit(ctx, c.Key, r, resubmission{Key: c.Key.Name, Text: mended})
		if err != nil {
			return d.failed(c, err)
		}
		return d.decided(ctx, c, r.ID, &outcome)
	})
}

// maxReason is the length of the longest reason, in characters.
const maxReason = 1000

// dismissOne answers POST /v1/rejects/{id}/dismiss.
func (d Rejects) dismissOne(ctx context.Context, c *web.Call) web.Answer {
	a := bodyArguments(c).allowOnly("reason")
	reason := a.text("reason", isReason, reasonForm)
	a.failMissing("reason", "why it is dismissed")
	return d.one(ctx, c, a, func(r *rejectstore.Reject) web.Answer {
		if err := d.conclude(ctx, r, rejectstore.Dismissed, dismissal(d.Acceptor.Now(), c.Key.Name, "", reason)); err != nil {
			return d.failed(c, err)
		}
		return d.decided(ctx, c, r.ID, nil)
	})
}

// reasonForm says what isReason accepts.
var reasonForm = "a sentence of at most " + strconv.Itoa(maxReason) + " characters"

func isReason(s string) bool {
	return strings.TrimSpace(s) != "" && utf8.RuneCountInString(s) <= maxReason
}

// failed answers that a decision failed.
func (d Rejects) failed(c *web.Call, err error) web.Answer {
	if conflict, ok := errors.AsType[conflictError](err); ok {
		return c.Problem(fault.ConflictV1, conflict.Error())
	}
	return c.Unavailable(err)
}

// decided answers with a reject after a decision, and with the verdict on what was resubmitted.
func (d Rejects) decided(ctx context.Context, c *web.Call, id string, outcome *ingestor.Outcome) web.Answer {
	now, err := d.readOne(ctx, id)
	if err == nil && len(now) == 0 {
		err = errors.New("the reject was removed meanwhile")
	}
	if err != nil {
		return c.Unavailable(err)
	}
	dst := append(c.Buffer, '{')
	if outcome != nil {
		dst = strictjson.AppendText(dst, "verdict", outcome.Verdict.String())
		dst = ingestor.AppendDiagnostics(strictjson.AppendName(dst, "diagnostics"), slices.Concat(outcome.Errors, outcome.Warnings))
	}
	dst = appendReject(strictjson.AppendName(dst, "reject"), &now[0], true)
	return c.OK(append(dst, `}}`...))
}

// conflictError says why a decision is not possible.
type conflictError string

func (e conflictError) Error() string { return string(e) }

// conflict returns the error for a reject that has a state or a claim.
func conflict(state rejectstore.State) conflictError {
	switch state {
	case rejectstore.Open:
		return "The reject is being resubmitted"
	case "":
		return "The reject was removed"
	}
	return conflictError("The reject is " + string(state))
}

// resubmission describes the message that is filed if a reject is resubmitted. Before the message
// is filed, it is stored as the claim of the reject. Filing the message again changes nothing,
// since the time stays the same. So any process that finds the claim of an interrupted resubmission
// completes it.
type resubmission struct {
	Received time.Time `json:"received"`
	Key      string    `json:"key"` // name of the API key
	Job      string    `json:"job,omitempty"`
	Text     string    `json:"text,omitempty"` // the mended text; "": that of the reject
}

// interrupted is the age at which a resubmission that has not ended counts as interrupted.
const interrupted = 10 * time.Second

// envelope returns the message that is filed. authorise may be nil.
func (s *resubmission) envelope(r *rejectstore.Reject, authorise func(*parser.Message) bool) ingestor.Envelope {
	env := ingestor.Envelope{
		Raw: r.Text, JSON: r.JSON, Report: r.Report, Received: s.Received, Key: r.RecordKey, Sender: s.Key, Reject: r.ID,
		Origin: "reject/" + r.ID + "/" + strconv.FormatInt(s.Received.UnixMilli(), 10), NoPosition: true, Authorise: authorise,
	}
	if s.Text != "" {
		env.Raw, env.JSON, env.Report = s.Text, false, false
	}
	return env
}

// step returns what the history says of the resubmission.
func (s *resubmission) step(o *ingestor.Outcome) rejectstore.Step {
	step := rejectstore.Step{At: s.Received, Action: "resubmit", Key: s.Key, Job: s.Job, Verdict: o.Verdict.String()}
	if len(s.Text) <= ingestor.MaxMessage {
		step.Text = s.Text
	}
	if len(o.Errors) > 0 {
		step.Diagnostics = ingestor.AppendDiagnostics(nil, o.Errors[:min(len(o.Errors), maxShown)])
	}
	return step
}

// maxShown is how many diagnostics of a resubmission its history keeps.
const maxShown = 20

// resubmit judges a reject again, as it is or mended. If it is accepted now, it is filed as a
// message that is received now, and the reject is resubmitted. Otherwise the reject stays open. The
// error is a conflictError if the reject is not open.
func (d Rejects) resubmit(ctx context.Context, key *apikey.Key, r *rejectstore.Reject, s resubmission) (ingestor.Outcome, error) {
	s.Received = d.Acceptor.Now().UTC().Truncate(time.Millisecond)
	if r.State != rejectstore.Open {
		return ingestor.Outcome{}, conflict(r.State)
	}
	outcome := d.judge(key, r, &s)
	if outcome.Verdict == ingestor.Rejected {
		return outcome, d.conclude(ctx, r, rejectstore.Open, s.step(&outcome))
	}
	if outcome.Verdict != ingestor.Accepted {
		return outcome, nil
	}
	own := string(strictjson.Encode(s))
	was, err := d.Store.Claim(ctx, []string{r.ID}, []string{own})
	if err != nil {
		return outcome, err
	}
	state, claim := was[0].State, was[0].Claim
	if state != rejectstore.Open || claim != "" && !s.repeats(claim) {
		return outcome, d.yield(ctx, r, state, claim)
	}
	return d.finish(ctx, r, cmp.Or(claim, own))
}

// judge decides on a resubmission by a key, and writes nothing.
func (d Rejects) judge(key *apikey.Key, r *rejectstore.Reject, s *resubmission) ingestor.Outcome {
	if r.Report && s.Text == "" && key.Limited() { // a report has no scope that could be compared
		return ingestor.Outcome{Verdict: ingestor.Unauthorised}
	}
	return d.Acceptor.Judge(s.envelope(r, key.Message))
}

// repeats reports whether a claim was made by the same resubmission, whose answer got lost.
func (s *resubmission) repeats(claim string) bool {
	var other resubmission
	return json.Unmarshal([]byte(claim), &other) == nil && other.Key == s.Key && other.Job == s.Job && other.Text == s.Text
}

// yield returns the conflict with another decision on a reject. It completes a resubmission that
// was interrupted, unless a job will do that.
func (d Rejects) yield(ctx context.Context, r *rejectstore.Reject, state rejectstore.State, claim string) error {
	var other resubmission
	if state == rejectstore.Open && claim != "" && json.Unmarshal([]byte(claim), &other) == nil && d.Acceptor.Now().Sub(other.Received) >= interrupted {
		if job, _, err := d.Store.Job(ctx, other.Job); err != nil || job.State == rejectstore.Running {
			return cmp.Or(err, error(conflict(state)))
		}
		outcome, err := d.finish(ctx, r, claim)
		if err != nil {
			return err
		}
		if outcome.Verdict != ingestor.Rejected {
			return conflict(rejectstore.Resubmitted)
		}
	}
	return conflict(state)
}

// finish files the message of a claim, and settles the reject.
func (d Rejects) finish(ctx context.Context, r *rejectstore.Reject, claim string) (ingestor.Outcome, error) {
	var s resubmission
	if err := json.Unmarshal([]byte(claim), &s); err != nil {
		return ingestor.Outcome{}, err
	}
	ctx = context.WithoutCancel(ctx)                           // the resubmission is completed even if the caller does not wait
	outcome, err := d.Acceptor.Accept(ctx, s.envelope(r, nil)) // the key was checked before the claim was made
	if err != nil {
		return outcome, err
	}
	next := rejectstore.Resubmitted
	if outcome.Verdict == ingestor.Rejected { // by a new version of the service
		next = rejectstore.Open
	}
	_, _, err = d.Store.Decide(ctx, r.ID, claim, next, s.step(&outcome))
	return outcome, err
}

// conclude decides on a reject. The error is a conflictError if it is not open.
func (d Rejects) conclude(ctx context.Context, r *rejectstore.Reject, next rejectstore.State, step rejectstore.Step) error {
	state, claim, err := d.Store.Decide(ctx, r.ID, "", next, step)
	if err == nil && (state != rejectstore.Open || claim != "") {
		err = d.yield(ctx, r, state, claim)
	}
	return err
}

// dismissal returns what the history says of a dismissal. job is "" without one.
func dismissal(at time.Time, key, job, reason string) rejectstore.Step {
	return rejectstore.Step{At: at.UTC().Truncate(time.Millisecond), Action: "dismiss", Key: key, Job: job, Reason: reason}
}
