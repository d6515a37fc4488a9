package changes

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"bagtrail/ingestor"
)

// Notes stores the keys of the marks of each batch that a replay is filing. If the replay is
// killed, its notes remain.
type Notes interface {
	// Note keeps the keys of the marks of a batch under a name.
	Note(ctx context.Context, batch string, keys []string) error
	// Noted returns the keys by the names of their batches.
	Noted(ctx context.Context) (map[string][]string, error)
	// Forget removes the keys of batches.
	Forget(ctx context.Context, batches ...string) error
}

// Replay files the messages of the log again, and writes marks for those that the index did not
// hold. It notes the marks of each batch before it files the batch. If a replay is killed after it
// has filed a batch and before it has written the marks, the index holds the batch, and no later
// replay finds it missing. So the next replay writes all noted marks. Replay implements
// kafkadoor.Acceptor.
type Replay struct {
	*ingestor.Acceptor
	notes Notes
	run   string // the beginning of the names of its batches: the time at which it began, a blank, and a random text
}

// longestRun is how long a replay may run. The notes of younger replays are marked but not removed,
// since these replays may still run, and may be killed later.
const longestRun = 24 * time.Hour

// NewReplay writes the marks that other replays have noted, and returns a replay.
func NewReplay(ctx context.Context, conf ingestor.Config, marker Marker, notes Notes) (*Replay, error) {
	marker.Fresh = true
	conf.Marks = marker
	acceptor := ingestor.NewAcceptor(conf)
	now := acceptor.Now()
	noted, err := notes.Noted(ctx)
	if err != nil {
		return nil, err
	}
	var batches []string
	var marks []Mark
	for batch, keys := range noted {
		start, _, _ := strings.Cut(batch, " ")
		if began, err := time.Parse(time.RFC3339, start); err != nil || now.Sub(began) > longestRun {
			batches = append(batches, batch)
		}
		for _, key := range keys {
			m, err := parseMark(key, Mark{Certain: true}.Value())
			if err != nil {
				return nil, fmt.Errorf("a mark that a replay has noted: %w", err)
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
	return &Replay{acceptor, notes, now.Format(time.RFC3339) + " " + rand.Text()}, nil
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
