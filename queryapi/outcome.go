package queryapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
)

// Outcomes remembers for a day what became of requests; *reportstore.Store does. A call MUST return when ctx ends.
type Outcomes interface {
	// Claim notes that a request is about to be sent on. If somebody has claimed it before, claimed is false, and note is what was
	// noted since, or "". After an error the request may be claimed.
	Claim(ctx context.Context, id string) (note string, claimed bool, err error)
	// Note notes what became of a request that was claimed. A note is not empty.
	Note(ctx context.Context, id, note string) error
	// Release gives a claim back: the request had no effect, and may be made again.
	Release(ctx context.Context, id string) error
}

// creation is a report that was created downstream. It is noted as JSON.
type creation struct {
	Reference string      `json:"reference"`
	Station   string      `json:"station"`
	Made      time.Time   `json:"made"`
	Plates    []bag.Plate `json:"plates"` // that the report reaches
	Filed     bool        `json:"filed"`  // it is in the log and in the index
}

// unknown is noted of a request that was sent on without a proper answer, so that nobody waits for its outcome.
const unknown = "unknown"

// identify names a request: the same text of the same customer, or of a key without one, is the same request, unless its header
// Idempotency-Key differs.
func identify(key *apikey.Key, idempotency []string, document string) string {
	who := "customer " + key.Customer
	if key.Customer == "" {
		who = "key " + key.Name
	}
	sum := sha256.Sum256([]byte(who + "\x00" + strings.Join(idempotency, "\x01") + "\x00" + document))
	return hex.EncodeToString(sum[:])
}

// recheck is how often a request that another call has claimed is looked up.
const recheck = 50 * time.Millisecond

// claim claims a request. If another call has the claim, it waits for what that notes, as long as a caller may wait: made is what was
// created, or nil if it is not known yet.
func (d *DelayedBags) claim(ctx context.Context, id string) (made *creation, claimed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for waited := false; ; waited = true {
		note, claimed, err := d.Outcomes.Claim(ctx, id)
		switch {
		case err != nil && waited && ctx.Err() != nil:
			return nil, false, nil
		case err != nil || claimed:
			return nil, claimed, err
		case note == unknown:
			return nil, false, nil
		case note != "":
			made = new(creation)
			if err := json.Unmarshal([]byte(note), made); err != nil {
				return nil, false, fmt.Errorf("read what became of a report: %w", err)
			}
			return made, false, nil
		}
		select {
		case <-time.After(recheck):
		case <-ctx.Done():
			return nil, false, nil
		}
	}
}

// noteMade notes what was created.
func (d *DelayedBags) noteMade(ctx context.Context, id string, made *creation) error {
	text, err := json.Marshal(made)
	if err != nil {
		return fmt.Errorf("note what became of a report: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return d.Outcomes.Note(ctx, id, string(text))
}

// noteUnknown notes that the outcome is not known. If that fails, a repetition waits a moment and is told the same.
func (d *DelayedBags) noteUnknown(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = d.Outcomes.Note(ctx, id, unknown)
}

// release gives a claim back. If that fails, a repetition is told that the outcome is not known, which costs a call and harms nobody.
func (d *DelayedBags) release(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = d.Outcomes.Release(ctx, id)
}
