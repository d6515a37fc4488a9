// Package rejectstore keeps rejected messages in Redis, with the decisions on them. It implements
// ingestor.Rejects. A reject is open until a request or a job resubmits or dismisses it. That
// happens once, even if a process fails meanwhile. Rejects are removed when the retention is over.
// If there are too many, the oldest ones of the sources that have the most are removed earlier.
package rejectstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/ingestor"
	"bagtrail/internal/redis"
	"bagtrail/internal/strictjson"
)

// The keys. Each begins with the prefix of the installation and j:{rejects}:. The braces put them
// into one slot of a cluster, since the scripts change several at once.
//
//	key                    type  holds
//	r:<id>                 hash  a reject: its message, faults, state and history
//	i:<state>|<cell>       zset  place → received, in milliseconds, of the rejects in a cell
//	h:<state>|<cell>       hash  hour since 1970 → how many of them were received in it
//	s:<source>             zset  place → received, of the rejects of a source
//	b:<id>                 hash  a job; it expires after the retention
//	jobs                   zset  id → began, of the jobs that run
//	n                      hash  tally → how many rejects have it; b:<source> → size of the texts, diagnostics and histories of a source
//
// A cell is door|place|code. A place is an airport, or "" if the message names no known airport.
// Then the reject is also at a second place: @ and the name of the API key that posted it. Place
// and code may be * for all. A reject is in every cell that it fits, for its first maxCodes codes.
// A source is door|sender, or door|airport if the sender is not known, as of Kafka records. A tally
// is d:<door>, p:<airport>, c:<code> or s:<source>. In a zset a reject is its order (see order),
// followed by its id, since Redis sorts members of one received time by their bytes.
const keyKind = "j:{rejects}:"

// everything stands for all places or codes in a cell.
const everything = "*"

//go:embed add.lua
var addScript string

//go:embed decision.lua
var decisionScript string

//go:embed claim.lua
var claimScript string

// The script decide calls the Lua function decide with its arguments ARGV, and returns the values
// that the function returns. Its key is the key of the reject.
var decide, claim = goredis.NewScript(decisionScript + "return {decide(unpack(ARGV))}"), goredis.NewScript(claimScript)

// State is the state of a reject.
type State string

// The states.
const (
	Open        State = "open"
	Resubmitted State = "resubmitted"
	Dismissed   State = "dismissed"
)

// States returns all states.
func States() []State { return []State{Open, Resubmitted, Dismissed} }

// Reject is a rejected message.
type Reject struct {
	ID          string
	State       State
	Received    time.Time // UTC, whole milliseconds
	Order       string    // its place among the rejects of its source that have its received time
	Door        string
	Sender      string          // name of the API key with which it was posted, or ""
	Airport     string          // of .V; "" if it is missing or unknown
	Text        string          // as sent, any bytes
	JSON        bool            // Text is a document that holds the message
	Report      bool            // Text is the document of a delayed-bag report
	RecordKey   string          // key of its Kafka record, or ""
	Codes       []string        // of its faults, each once, at most maxCodes
	Value       string          // at the first fault
	Diagnostics json.RawMessage // a list
	History     []Step          // oldest first
	Claim       string          // set while a request or a job resubmits it, else ""
}

// Step is something that was done to a reject.
type Step struct {
	At          time.Time       `json:"at"`
	Action      string          `json:"action"`        // "resubmit" or "dismiss"
	Key         string          `json:"key"`           // name of the API key
	Job         string          `json:"job,omitempty"` // by which it was done
	Verdict     string          `json:"verdict,omitempty"`
	Text        string          `json:"text,omitempty"` // as it was mended
	Reason      string          `json:"reason,omitempty"`
	Diagnostics json.RawMessage `json:"diagnostics,omitempty"`
}

// Store is safe for concurrent use. Its errors wrap redis.ErrUnavailable, except ErrTooManyJobs and
// ErrTooManyOwnJobs.
type Store struct {
	redis     *redis.Client
	retention time.Duration
	now       func() time.Time
	bounds    bounds
}

// New returns a Store in the Redis of a client.
func New(client *redis.Client, retention time.Duration, now func() time.Time) *Store {
	return &Store{client, retention, now, defaultBounds}
}

func (s *Store) prefix() string             { return s.redis.Prefix() + keyKind }
func (s *Store) rejectKey(id string) string { return s.prefix() + "r:" + id }

// ID returns the id of the reject with an origin.
func ID(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:10])
}

// order returns the order of the reject with an origin. Most origins end in a number: the offset of
// a record, or the place of a message in its request or file. The orders of two rejects compare,
// byte by byte, as these numbers do: the first letter tells how many digits follow. The order is ""
// if the origin has no number.
func order(origin string) string {
	number, err := strconv.ParseUint(origin[strings.LastIndexByte(origin, '/')+1:], 10, 64)
	if err != nil {
		return ""
	}
	digits := strconv.FormatUint(number, 16)
	return string(rune('g'+len(digits))) + digits // after the digits of an id
}

// Reject implements ingestor.Rejects. It ignores rejections that are older than the retention.
func (s *Store) Reject(ctx context.Context, rejections []ingestor.Rejection) error {
	err := s.redis.Write(ctx, func(p goredis.Pipeliner) {
		for i := range rejections {
			if r := &rejections[i]; s.now().Sub(r.Received) < s.retention {
				id := ID(r.Origin)
				p.Eval(ctx, addScript, []string{s.rejectKey(id)}, s.addition(id, r)...)
			}
		}
	})
	return redis.Unavailable("rejectstore: add", err)
}

// maxCodes bounds the codes by which a reject is found.
const maxCodes = 8

// maxDiagnostics bounds the diagnostics that are kept of a reject, in bytes.
const maxDiagnostics = 64 << 10

// addition returns the arguments of the script that adds a rejection.
func (s *Store) addition(id string, r *ingestor.Rejection) []any {
	codes := ingestor.Codes(r.Errors)
	codes = codes[:min(len(codes), maxCodes)]
	places := []string{everything, r.Airport}
	if r.Airport == "" {
		places = append(places, "@"+r.Sender)
	}
	var cells []string
	source := r.Door + "|" + cmp.Or(r.Sender, r.Airport)
	tallies := []string{"d:" + r.Door, "p:" + r.Airport, "s:" + source}
	for _, code := range append([]string{everything}, codes...) {
		for _, place := range places {
			cells = append(cells, r.Door+"|"+place+"|"+code)
		}
		if code != everything {
			tallies = append(tallies, "c:"+code)
		}
	}
	received := r.Received.UnixMilli()
	faults, value := ingestor.AppendFirstDiagnostics(nil, r.Errors, maxDiagnostics), ""
	if len(r.Errors) > 0 {
		value = r.Errors[0].Value
	}
	bytes := len(r.Raw) + len(r.Key) + len(faults) + len(value)
	return []any{
		s.prefix(), id, "state", string(Open), "received", received, "order", order(r.Origin), "hour", received / time.Hour.Milliseconds(), "source", source, "bytes", bytes,
		"length", len(r.Raw), "cells", strings.Join(cells, "\n"), "tallies", strings.Join(tallies, "\n"),
		"door", r.Door, "sender", r.Sender, "airport", r.Airport, "text", r.Raw, "form", form(r.JSON, r.Report), "record", r.Key,
		"codes", strings.Join(codes, ","), "value", value, "diagnostics", faults,
	}
}

// Form returns what Text is: "text", "json" for a document that holds the message, or "report".
func (r *Reject) Form() string { return form(r.JSON, r.Report) }

func form(json, report bool) string {
	switch {
	case report:
		return "report"
	case json:
		return "json"
	}
	return "text"
}

// fields are the fields of a reject that Get asks for, in the order in which read takes them. The
// text is last.
var fields = []string{
	"state", "received", "door", "sender", "airport", "form", "record", "codes", "value", "diagnostics", "history", "claim", "order", "text",
}

// read returns the reject that has these values of fields, with or without that of the text. It
// returns false if there is none.
func read(id string, values []string) (Reject, bool) {
	if values[0] == "" {
		return Reject{}, false
	}
	values = append(values, "") // in place of the text, if that was not asked for
	r := Reject{
		ID: id, State: State(values[0]), Received: instant(values[1]), Door: values[2], Sender: values[3], Airport: values[4],
		JSON: values[5] == "json", Report: values[5] == "report", RecordKey: values[6], Value: values[8], Diagnostics: json.RawMessage(values[9]),
		Claim: values[11], Order: values[12], Text: values[13],
	}
	if values[7] != "" {
		r.Codes = strings.Split(values[7], ",")
	}
	for line := range strings.Lines(values[10]) {
		var step Step
		if json.Unmarshal([]byte(line), &step) == nil {
			r.History = append(r.History, step)
		}
	}
	return r, true
}

// number returns a number that the store or one of its scripts has written. It is 0 if text is "".
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// instant returns a time that the store has written.
func instant(milliseconds string) time.Time { return time.UnixMilli(number(milliseconds)).UTC() }

// Sizes returns how many bytes Get reads for each of these ids, without the claim; 0 if there is no
// such reject.
func (s *Store) Sizes(ctx context.Context, withText bool, ids ...string) ([]int64, error) {
	replies, err := s.get(ctx, ids, "bytes", "length")
	sizes := make([]int64, len(replies))
	for i, values := range replies {
		sizes[i] = number(values[0])
		if !withText {
			sizes[i] -= number(values[1])
		}
	}
	return sizes, err
}

// Get returns the rejects with these ids, without those that are not there, and without their texts
// unless withText is set. It takes no memory from a budget: see Sizes.
func (s *Store) Get(ctx context.Context, withText bool, ids ...string) ([]Reject, error) {
	fields := fields
	if !withText {
		fields = fields[:len(fields)-1]
	}
	replies, err := s.get(ctx, ids, fields...)
	found := make([]Reject, 0, len(replies))
	for i, values := range replies {
		if r, there := read(ids[i], values); there {
			found = append(found, r)
		}
	}
	return found, err
}

// get returns the values of fields of each reject. The value of an absent field is "".
func (s *Store) get(ctx context.Context, ids []string, fields ...string) ([][]string, error) {
	replies, all := make([]*goredis.SliceCmd, len(ids)), make([][]string, len(ids))
	err := s.redis.ReadAll(ctx, func(p goredis.Pipeliner) {
		for i, id := range ids {
			replies[i] = p.HMGet(ctx, s.rejectKey(id), fields...)
		}
	})
	if err != nil {
		return nil, redis.Unavailable("rejectstore: get", err)
	}
	for i, reply := range replies {
		all[i] = make([]string, len(fields))
		for j, value := range reply.Val() {
			all[i][j], _ = value.(string)
		}
	}
	return all, nil
}

// Before is the state and the claim that a reject had before a script was run.
type Before struct {
	State State
	Claim string
}

// found returns the state and the claim of each of count rejects, from the reply of a script.
func found(count int, values []string, err error) ([]Before, error) {
	if err != nil || len(values) != 2*count {
		return make([]Before, count), redis.Unavailable("rejectstore: decide", cmp.Or(err, errReply))
	}
	all := make([]Before, count)
	for i := range all {
		all[i] = Before{State(values[2*i]), values[2*i+1]}
	}
	return all, nil
}

var errReply = errors.New("the reply of a script has another form")

// Claim claims open rejects, with a claim for each. It returns their states and claims from before
// the call: a reject was claimed by it if it was Open and had no claim.
func (s *Store) Claim(ctx context.Context, ids, claims []string) ([]Before, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys, args := make([]string, len(ids)), make([]any, len(ids))
	for i, id := range ids {
		keys[i], args[i] = s.rejectKey(id), claims[i]
	}
	values, err := claim.Run(ctx, s.redis.WriteClient(), keys, args...).StringSlice()
	return found(len(ids), values, err)
}

// Decide adds a step to the history of an open reject, gives it its next state, and removes its
// claim. It does nothing unless the reject is Open and its claim equals the argument; it returns
// the state and the claim from before the call, so that the caller can see whether it did. A
// repeated Decide adds nothing, unless next is Open and claim is "".
func (s *Store) Decide(ctx context.Context, id, claim string, next State, step Step) (State, string, error) {
	values, err := decide.Run(ctx, s.redis.WriteClient(), []string{s.rejectKey(id)},
		s.prefix(), id, claim, string(next), strictjson.Encode(step)).StringSlice()
	was, err := found(1, values, err)
	return was[0].State, was[0].Claim, err
}
