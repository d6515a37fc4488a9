package queryapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/operation"
	"bagtrail/internal/pause"
	"bagtrail/internal/rejectstore"
	"bagtrail/internal/strictjson"
)

// jobsEvery is the interval at which a process looks for jobs that it can advance.
const jobsEvery = 500 * time.Millisecond

// RunJobs advances the jobs of all processes until ctx ends. It leaves out jobs that another
// process holds. report gets each error; the step is tried again.
func (d Rejects) RunJobs(ctx context.Context, report func(error)) {
	process := rand.Text()
	ticker := time.NewTicker(jobsEvery)
	defer ticker.Stop()
	for {
		for ctx.Err() == nil {
			advanced, err := d.AdvanceJobs(ctx, process)
			if err != nil && ctx.Err() == nil {
				report(err)
			}
			if err != nil || !advanced {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-d.Begun:
		case <-ticker.C:
		}
	}
}

// AdvanceJobs advances each running job by one step, unless another process holds it, or may have a
// newer key file (see step). It reports whether it has advanced any.
func (d Rejects) AdvanceJobs(ctx context.Context, process string) (advanced bool, err error) {
	ids, err := d.Store.RunningJobs(ctx)
	for _, id := range ids {
		job, _, failure := d.Store.Job(ctx, id)
		if _, sure := d.step(&job); failure != nil || !sure {
			err = errors.Join(err, failure)
			continue
		}
		job, held, failure := d.Store.HoldJob(ctx, id, process)
		if held {
			advanced = true
			failure = d.advance(ctx, &job)
		}
		err = errors.Join(err, failure)
	}
	return advanced, err
}

// jobStep is one step of a job under way.
type jobStep struct {
	Rejects
	rejectstore.Advance
	job  *rejectstore.Job
	key  *apikey.Key
	asks question
}

// step returns the next step of a job. It is Stopped if the key of the job may not do what the job
// asks for. sure is false if this process may have read an older key file than the process that
// began the job, since the key has other rights here, or if it may be of an older version.
func (d Rejects) step(job *rejectstore.Job) (step jobStep, sure bool) {
	step = jobStep{Rejects: d, job: job, Advance: rejectstore.Advance{At: job.At, State: rejectstore.Running}}
	now := d.Acceptor.Now()
	late := now.Sub(job.Began) >= apikey.MaxKeyFileLag
	key, active := d.Keys.Named(job.Key, now)
	own := key != nil && digestOf(key) == job.Digest // else an older file may have another key with that name
	if own && active {
		a := new(arguments)
		a.readObject([]byte(job.Question), "dry_run")
		step.key, step.asks = key, readQuestion(a, key, job.Action)
		step.asks.endAtStart(job)
		if key.MayUse(operation.Rejects) && !a.forbidden && len(a.errors) == 0 {
			return step, late || key.Rights() == job.Rights
		}
	}
	step.State = rejectstore.Stopped
	return step, own && !active || late
}

// advance takes one step of a job. It reads the next rejects and files those that are accepted.
// Then it writes the decisions on all of them together with the new position of the job. If the
// step is interrupted, it is taken again, with the claims of the first time.
func (d Rejects) advance(ctx context.Context, job *rejectstore.Job) error {
	step, _ := d.step(job)
	if step.State == rejectstore.Running {
		rejects, err := step.read(ctx)
		if err == nil {
			err = step.decide(ctx, rejects)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Store.AdvanceJob(ctx, job, &step.Advance)
	return err
}

// Bounds of a step.
const (
	stepRejects = 200
	stepTexts   = 25      // how many texts are read together; each has up to 1 MiB
	stepBytes   = 1 << 20 // bytes of texts after which no more are read
)

// read returns the rejects of a step that can be decided on, and moves the position of the job
// past them.
func (s *jobStep) read(ctx context.Context) (list []rejectstore.Reject, err error) {
	ids, positions, last, err := s.next(ctx)
	bytes := 0
	for from := 0; from < len(ids) && err == nil; from += stepTexts {
		to := min(from+stepTexts, len(ids))
		found, failure := s.Store.Get(ctx, true, ids[from:to]...)
		if err = failure; err != nil {
			break
		}
		s.At, s.Looked, s.Skipped = positions[to-1], s.Looked+int64(to-from), s.Skipped+int64(to-from-len(found))
		for i := range found {
			r := &found[i]
			bytes += len(r.Text)
			switch {
			case s.asks.ids == nil && !s.asks.matches(r):
			case r.State != rejectstore.Open || !inScope(s.key, r):
				s.Skipped++
			default:
				list = append(list, *r)
			}
		}
		if bytes >= stepBytes {
			return list, nil
		}
	}
	if last {
		s.State = rejectstore.Done
	}
	return list, err
}

// next returns the ids of the next rejects of the job, the position after each, and whether no others
// follow.
func (s *jobStep) next(ctx context.Context) (ids, positions []string, last bool, err error) {
	if s.asks.ids != nil {
		from, _ := strconv.Atoi(s.job.At) // "" is 0
		to := min(from+stepRejects, len(s.asks.ids))
		for i := from; i < to; i++ {
			positions = append(positions, strconv.Itoa(i+1))
		}
		return s.asks.ids[from:to], positions, to == len(s.asks.ids), nil
	}
	after := rejectstore.ParsePosition(s.job.At)
	found, err := s.Store.List(ctx, s.asks.Filter, after, stepRejects)
	for _, p := range found {
		ids, positions = append(ids, p.ID), append(positions, p.String())
	}
	return ids, positions, len(found) < stepRejects, err
}

// decide makes or prepares the decisions of a step.
func (s *jobStep) decide(ctx context.Context, rejects []rejectstore.Reject) error {
	if s.job.Action == "resubmit" {
		return s.resubmitAll(ctx, rejects)
	}
	step := dismissal(s.Acceptor.Now(), s.job.Key, s.job.ID, s.asks.reason)
	for i := range rejects {
		r := &rejects[i]
		switch {
		case !s.claimable(ctx, r):
			s.Skipped++
		case s.job.DryRun:
			s.Dismissed++
		default:
			s.Decisions = append(s.Decisions, rejectstore.Decision{ID: r.ID, Next: rejectstore.Dismissed, Step: step, Count: "dismissed"})
		}
	}
	return nil
}

// claimable reports whether no other request or job has claimed a reject. If the resubmission of
// another claim was interrupted, claimable completes it.
func (s *jobStep) claimable(ctx context.Context, r *rejectstore.Reject) bool {
	if _, own := s.claimed(r.Claim); r.Claim == "" || own {
		return true
	}
	if !s.job.DryRun {
		_ = s.yield(ctx, r, r.State, r.Claim) // either way the reject is not for this job
	}
	return false
}

// claimed returns the resubmission of a claim that this job has made. It returns false for other
// claims.
func (s *jobStep) claimed(claim string) (r resubmission, own bool) {
	own = json.Unmarshal([]byte(claim), &r) == nil && r.Job == s.job.ID
	return r, own
}

// attempt is a resubmission under way.
type attempt struct {
	reject *rejectstore.Reject
	resubmission
	outcome ingestor.Outcome
	claim   string
}

// attempt judges a resubmission of a reject: the one of claim, if the job has made that claim, else a
// new one that is received at the given time. The key was checked before a claim was made, so it is
// not checked again.
func (s *jobStep) attempt(r *rejectstore.Reject, claim string, at time.Time) attempt {
	if again, own := s.claimed(claim); own {
		return attempt{r, again, s.Acceptor.Judge(again.envelope(r, nil)), claim}
	}
	first := resubmission{Received: at, Key: s.job.Key, Job: s.job.ID}
	return attempt{reject: r, resubmission: first, outcome: s.judge(s.key, r, &first)}
}

// resubmitAll judges rejects again. It claims those that are accepted now, files them, and prepares
// the decisions.
func (s *jobStep) resubmitAll(ctx context.Context, rejects []rejectstore.Reject) error {
	at := s.Acceptor.Now().UTC().Truncate(time.Millisecond)
	noted := map[any]bool{}
	var attempts []attempt
	for i := range rejects {
		r := &rejects[i]
		if !s.claimable(ctx, r) {
			s.Skipped++
			continue
		}
		a := s.attempt(r, r.Claim, at)
		if a.outcome.Verdict == ingestor.Accepted && a.claim == "" && a.meets(noted) {
			at = at.Add(time.Millisecond)
			clear(noted)
			a = s.attempt(r, "", at)
			a.meets(noted)
		}
		switch {
		case s.job.DryRun || a.outcome.Verdict == ingestor.Unauthorised:
			s.count(a.outcome.Verdict)
		case a.outcome.Verdict == ingestor.Rejected:
			s.settle(&a)
		default:
			attempts = append(attempts, a)
		}
	}
	return s.file(ctx, attempts)
}

// inside is a container that bags are put into; it is noted beside the container itself.
type inside bag.Container

// meets notes the text of the message, its bags and its containers. It reports whether the message
// must get another received time than the messages before: because one of them has the same text,
// or is about the same bag or container. Messages about one bag must be received at different
// times, in their order. A positioning is about all bags in its container, so it must not have the
// received time of a message that puts a bag in there. Two messages that put different bags in may
// have one received time.
func (a *attempt) meets(noted map[any]bool) (met bool) {
	note := func(name any) { met, noted[name] = met || noted[name], true }
	f := &a.outcome.Filing
	note(f.Raw)
	for _, e := range f.Entries {
		note(e.Plate)
		for _, c := range e.Stowage {
			met, noted[inside(c)] = met || noted[c], true
		}
	}
	for _, c := range f.Stowage {
		note(c)
		met = met || noted[inside(c)]
	}
	return met
}

func (s *jobStep) count(v ingestor.Verdict) {
	switch v {
	case ingestor.Rejected:
		s.Rejected++
	case ingestor.Unauthorised:
		s.Unauthorised++
	default:
		s.Accepted++
	}
}

// file claims rejects and files their messages, then prepares the decisions. It returns when the clock
// has passed the received times.
func (s *jobStep) file(ctx context.Context, attempts []attempt) error {
	ids, claims := make([]string, len(attempts)), make([]string, len(attempts))
	for i := range attempts {
		a := &attempts[i]
		if a.claim == "" {
			a.claim = string(strictjson.Encode(a.resubmission))
		}
		ids[i], claims[i] = a.reject.ID, a.claim
	}
	found, err := s.Store.Claim(ctx, ids, claims)
	if err != nil {
		return err
	}
	var envelopes []ingestor.Envelope
	var outcomes []ingestor.Outcome
	for i, was := range found {
		a := &attempts[i]
		if was.State == rejectstore.Open && was.Claim != "" && was.Claim != a.claim { // another process was here first
			*a = s.attempt(a.reject, was.Claim, a.Received)
		}
		if was.State == rejectstore.Open && a.claim != "" && a.outcome.Verdict == ingestor.Accepted {
			envelopes, outcomes = append(envelopes, a.envelope(a.reject, nil)), append(outcomes, a.outcome)
		}
	}
	if err := s.Acceptor.ApplyAll(ctx, envelopes, outcomes); err != nil {
		return err
	}
	last := time.Time{}
	for i := range attempts {
		s.settle(&attempts[i])
		last = attempts[i].Received
	}
	// So the next step gives later received times, in any process.
	return pause.For(ctx, min(last.Sub(s.Acceptor.Now())+time.Millisecond, stepRejects*time.Millisecond))
}

// settle prepares the decision after an attempt. A message that another attempt has filed counts as
// accepted.
func (s *jobStep) settle(a *attempt) {
	next, count := rejectstore.Resubmitted, "accepted"
	if a.outcome.Verdict == ingestor.Rejected {
		next, count = rejectstore.Open, "rejected"
	}
	s.Decisions = append(s.Decisions, rejectstore.Decision{ID: a.reject.ID, Claim: a.claim, Next: next, Step: a.step(&a.outcome), Count: count})
}
