package rejectstore

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
	"bagtrail/internal/strictjson"
)

var (
	//go:embed addjob.lua
	addJobScript string
	//go:embed hold.lua
	holdScript string
	//go:embed advance.lua
	advanceScript string

	addJob  = goredis.NewScript(addJobScript)
	hold    = goredis.NewScript(holdScript)
	advance = goredis.NewScript(decisionScript + advanceScript)
)

// Job is a decision on many rejects. A process holds a job while it works on it, so that others do
// not do the same work. Nothing else depends on the hold: each advance of a job is made only once,
// even if two processes try. Times are UTC, in whole milliseconds.
type Job struct {
	ID       string
	Action   string // "resubmit" or "dismiss"
	Key      string // name of the API key that began it
	Digest   string // of that key, in hexadecimal
	Rights   uint32 // of that key when the job began: the hash that apikey.Key.Rights returns
	DryRun   bool   // nothing is decided
	Question string // names the rejects, in a form that the store does not read; "" once the job has ended
	Total    int64  // rejects to be looked at, as counted when it began
	Began    time.Time
	Ended    time.Time // zero while it runs
	State    JobState
	At       string // its place in the list of rejects, as its caller gave it; "" is the beginning
	Counts
}

// JobState is the state of a job.
type JobState string

// The states of jobs.
const (
	Running JobState = "running"
	Done    JobState = "done"
	Stopped JobState = "stopped" // its key has lost the right
)

// Counts counts the rejects that a job has looked at, and their outcomes.
type Counts struct {
	Looked, Accepted, Rejected, Unauthorised, Dismissed int64
	Skipped                                             int64 // not open, or claimed, or gone, or out of scope
}

// named returns the counts by the names of their fields.
func (c *Counts) named() map[string]*int64 {
	return map[string]*int64{
		"looked": &c.Looked, "accepted": &c.Accepted, "rejected": &c.Rejected, "unauthorised": &c.Unauthorised,
		"dismissed": &c.Dismissed, "skipped": &c.Skipped,
	}
}

// Advance is what AdvanceJob changes of a job.
type Advance struct {
	At        string // the next place
	State     JobState
	Counts    // to be added to those of the job, beside those of the decisions
	Decisions []Decision
}

// Decision is a decision of a job on a reject; the first four fields are the arguments of Decide.
type Decision struct {
	ID, Claim string
	Next      State
	Step      Step
	Count     string // the field of Counts to which it adds 1, in lower case: "accepted"
}

// holdTime is how long a process holds a job after each advance.
const holdTime = 3 * time.Second

func (s *Store) jobKey(id string) string { return s.prefix() + "b:" + id }
func (s *Store) jobsKey() string         { return s.prefix() + "jobs" }

// ErrTooManyJobs says that too many jobs run, and ErrTooManyOwnJobs that too many of the same key do.
var (
	ErrTooManyJobs    = errors.New("too many jobs over rejects are running")
	ErrTooManyOwnJobs = errors.New("too many jobs over rejects of this key are running")
)

// AddJob adds a job that runs, unless as many as all jobs, or as many as own jobs of its key, run
// already. Then it fails with ErrTooManyJobs or ErrTooManyOwnJobs. After any other error it may have
// been added.
func (s *Store) AddJob(ctx context.Context, j *Job, all, own int) error {
	reply, err := addJob.Run(ctx, s.redis.WriteClient(), []string{s.jobKey(j.ID), s.jobsKey()},
		s.prefix(), j.ID, j.Key, all, own, j.Began.UnixMilli(), int64(s.retention/time.Second),
		"action", j.Action, "key", j.Key, "digest", j.Digest, "rights", j.Rights, "dry", strconv.FormatBool(j.DryRun), "question", j.Question,
		"total", j.Total, "began", j.Began.UnixMilli(), "at", "", "state", string(Running)).Int()
	switch {
	case err != nil:
		return redis.Unavailable("rejectstore: add a job", err)
	case reply < 0:
		return ErrTooManyJobs
	case reply == 0:
		return ErrTooManyOwnJobs
	}
	return nil
}

// RunningJobs returns the ids of the jobs that run, the oldest first.
func (s *Store) RunningJobs(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	ids, err := s.redis.ReadClient().ZRange(ctx, s.jobsKey(), 0, -1).Result()
	return ids, redis.Unavailable("rejectstore: list jobs", err)
}

// Job returns a job. It returns false if there is none.
func (s *Store) Job(ctx context.Context, id string) (j Job, there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, redis.ReadLimit(1))
	defer cancel()
	fields, err := s.redis.ReadClient().HGetAll(ctx, s.jobKey(id)).Result()
	return jobOf(id, fields), len(fields) > 0, redis.Unavailable("rejectstore: get a job", err)
}

// HoldJob holds a job for a process. It returns false if another process holds the job, or if the
// job does not run.
func (s *Store) HoldJob(ctx context.Context, id, process string) (j Job, held bool, err error) {
	now := s.now()
	reply, err := hold.Run(ctx, s.redis.WriteClient(), []string{s.jobKey(id), s.jobsKey()},
		id, process, now.UnixMilli(), now.Add(holdTime).UnixMilli()).StringSlice()
	fields := make(map[string]string, len(reply)/2)
	for field := range slices.Chunk(reply, 2) {
		fields[field[0]] = field[1]
	}
	return jobOf(id, fields), len(fields) > 0, redis.Unavailable("rejectstore: hold a job", err)
}

// jobOf returns the job with these fields.
func jobOf(id string, fields map[string]string) Job {
	j := Job{
		ID: id, Action: fields["action"], Key: fields["key"], Digest: fields["digest"], Rights: uint32(number(fields["rights"])),
		DryRun: fields["dry"] == "true", Question: fields["question"], Total: number(fields["total"]), Began: instant(fields["began"]), State: JobState(fields["state"]), At: fields["at"],
	}
	if ended := fields["ended"]; ended != "" {
		j.Ended = instant(ended)
	}
	for name, count := range j.named() {
		*count = number(fields[name])
	}
	return j
}

// AdvanceJob decides on rejects, and moves a job from its place j.At to the next one, all or nothing.
// It returns false if the job does not run any more, or is at another place: then another process has
// moved it. A decision that cannot be made counts as skipped.
func (s *Store) AdvanceJob(ctx context.Context, j *Job, a *Advance) (bool, error) {
	now := s.now()
	counts := a.named()
	args := []any{
		s.prefix(), j.ID, j.At, a.At, string(a.State), now.UnixMilli(), now.Add(holdTime).UnixMilli(), int64(s.retention / time.Second), len(counts),
	}
	for name, count := range counts {
		args = append(args, name, *count)
	}
	for i := range a.Decisions {
		d := &a.Decisions[i]
		args = append(args, d.ID, d.Claim, string(d.Next), strictjson.Encode(d.Step), d.Count)
	}
	done, err := advance.Run(ctx, s.redis.WriteClient(), []string{s.jobKey(j.ID), s.jobsKey()}, args...).Int()
	return done == 1, redis.Unavailable("rejectstore: advance a job", err)
}
