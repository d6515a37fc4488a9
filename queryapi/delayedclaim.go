package queryapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/web"
)

// Outcomes stores the outcomes of delayed-bag requests for a day; *requeststore.Store implements it.
// A call MUST return when ctx ends.
type Outcomes interface {
	// Claim marks a request as about to be forwarded. If it was claimed before, claim is "", and
	// note is the text that Note has stored since, or "". After an error it is not known whether
	// the request is claimed.
	Claim(ctx context.Context, id string) (note, claim string, err error)
	// Note stores the outcome of a claimed request. A note MUST NOT be empty. After an error it may
	// be stored later.
	Note(ctx context.Context, id, note string) error
	// Release removes a claim: the request had no effect, and may be sent again. After an error the
	// claim may be removed later.
	Release(ctx context.Context, id, claim string) error
}

// creation is a report that was created downstream. Its JSON form is the note in Outcomes.
type creation struct {
	Reference string      `json:"reference"`
	Station   string      `json:"station"`
	At        time.Time   `json:"made"`   // when it was created; the received time of its event
	Plates    []bag.Plate `json:"plates"` // the plates whose bags get the report as an event
	Filed     bool        `json:"filed"`  // it is in the log and in the index
}

// unknownOutcome is the note of a forwarded request that got no proper reply, so that nobody waits
// for its outcome.
const unknownOutcome = "unknown"

// identify returns the identity of a request: a hash of its document, its header Idempotency-Key
// and the customer of its key, or the key if it has no customer.
func identify(key *apikey.Key, idempotency []string, document string) string {
	who := "customer " + key.Customer
	if key.Customer == "" {
		who = "key " + key.Name
	}
	sum := sha256.Sum256([]byte(who + "\x00" + strings.Join(idempotency, "\x01") + "\x00" + document))
	return hex.EncodeToString(sum[:])
}

var errStopping = errors.New("an equal report is in progress, and the process stops")

// recheck is the interval at which claim polls a request that another call has claimed.
const recheck = 50 * time.Millisecond

// claim claims a request. If another call has claimed it, claim waits for the outcome until that call
// must have noted it, or until ctx ends: made is the report that was created, or nil if the outcome is
// not known. If the process stops, it fails with errStopping: the outcome will be known.
func (d *DelayedBags) claim(ctx context.Context, c *web.Call, id string) (made *creation, claim string, err error) {
	waiting, cancel := context.WithTimeout(ctx, d.Limit+queryLimit)
	defer cancel()
	for {
		note, claim, err := d.claimOnce(context.WithoutCancel(ctx), id)
		switch {
		case err != nil || claim != "":
			return nil, claim, err
		case note == unknownOutcome:
			return nil, "", nil
		case note != "":
			made = new(creation)
			if err := json.Unmarshal([]byte(note), made); err != nil {
				return nil, "", fmt.Errorf("read the outcome of a report: %w", err)
			}
			return made, "", nil
		}
		tick := make(chan struct{})
		time.AfterFunc(recheck, func() { close(tick) })
		switch {
		case c.Wait(waiting, tick):
		case waiting.Err() != nil:
			return nil, "", nil
		default:
			return nil, "", errStopping
		}
	}
}

func (d *DelayedBags) claimOnce(ctx context.Context, id string) (note, claim string, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	return d.Outcomes.Claim(ctx, id)
}

// noteMade stores a created report as the outcome.
func (d *DelayedBags) noteMade(ctx context.Context, id string, made *creation) error {
	return d.note(ctx, id, string(strictjson.Encode(made)))
}

func (d *DelayedBags) note(ctx context.Context, id, text string) error {
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	return d.Outcomes.Note(ctx, id, text)
}

// release removes a claim. An error is ignored: until the claim is removed after all, a repeated
// request waits, and is then told that the outcome is not known, which is safe.
func (d *DelayedBags) release(ctx context.Context, id, claim string) {
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	_ = d.Outcomes.Release(ctx, id, claim)
}
