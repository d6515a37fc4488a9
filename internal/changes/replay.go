package changes

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"bagtrail/ingestor"
)

// Notes stores the keys of the marks of each batch that replays are filing. The notes of a replay
// that was killed remain.
type Notes interface {
	// Note keeps the keys of the marks of a batch under a name.
	Note(ctx context.Context, batch string, keys []string) error
	// Noted returns what is kept.
	Noted(ctx context.Context) (map[string][]string, error)
	// Forget removes what is kept of batches.
	Forget(ctx context.Context, batches ...string) error
}

// Replay files the messages of the log again, and marks what the index did not hold. It notes what
// a batch names before it files it. If a replay is killed after it has filed a batch and before it
// has marked it, the index holds the batch, so that no later replay finds it missing: the next one
// marks what is noted. It implements kafkadoor.Acceptor.
type Replay struct {
	*ingestor.Acceptor
	notes Notes
	run   string // begins the names of its batches: when it began, a blank, and what no other replay has
}

// longestRun is how long a replay may run. Notes of others that began since are marked, but not
// removed: those may still run, file what they noted, and be killed before they mark it.
const longestRun = 24 * time.Hour

// NewReplay marks what other replays have in hand, or had when they ended, and returns a replay.
func NewReplay(ctx context.Context, conf ingestor.Config, marker Marker, notes Notes) (*Replay, error) {
	noted, err := notes.Noted(ctx)
	if err != nil {
		return nil, err
	}
	var batches []string
	var marks []Mark
	for batch, keys := range noted {
		start, _, _ := strings.Cut(batch, " ")
		if began, err := time.Parse(time.RFC3339, start); err != nil || time.Since(began) > longestRun {
			batches = append(batches, batch)
		}
		for _, key := range keys {
			m, err := parseMark(key, Mark{Certain: true}.Value())
			if err != nil {
				return nil, fmt.Errorf("what a replay noted: %w", err)
			}
			marks = append(marks, m)
		}
	}
	if err := marker.Write(ctx, marks); err != nil {
		return nil, err
	}
	if err := notes.Forget(ctx, batches...); err != nil {
		return nil, err
	}
	marker.Fresh = true
	conf.Marks = marker
	run := time.Now().UTC().Format(time.RFC3339) + " " + rand.Text()
	return &Replay{ingestor.NewAcceptor(conf), notes, run}, nil
}

// Apply implements kafkadoor.Acceptor.
func (r *Replay) Apply(ctx context.Context, b *ingestor.Batch) error {
	var keys []string
	for i := range b.Outcomes {
		for m := range named(&b.Outcomes[i].Filing) {
			keys = append(keys, m.Key())
		}
	}
	if len(keys) == 0 {
		return r.Acceptor.Apply(ctx, b)
	}
	batch := r.run + " " + b.Envelopes[0].Origin
	if err := r.notes.Note(ctx, batch, keys); err != nil {
		return err
	}
	if err := r.Acceptor.Apply(ctx, b); err != nil {
		return err
	}
	return r.notes.Forget(ctx, batch)
}
