package changefeed

import (
	"bytes"
	"context"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changes"
	"bagtrail/internal/parallel"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

// folded is a change with the bags that were folded for it.
type folded struct {
	Change            // Document is nil if the key does not get the change
	seen   []*bag.Bag // the bags, as the key sees them
	weight int        // approximate bytes of memory
}

// maxAhead is how far the clock of an owner may be ahead of that of this process. A clock that is
// further ahead is wrong, and the index keeps its time long after it is corrected.
const maxAhead = time.Minute

// fold folds the bags of candidates and writes the document of each. It folds by the latest of
// these times: that of the clock of this process, and those of ownerClocks that are at most
// maxAhead ahead of it.
func (f *Feed) fold(ctx context.Context, a Asker, epoch int64, candidates []changes.Candidate, ownerClocks []time.Time) ([]folded, error) {
	now := f.Clock()
	clock := now
	for _, c := range ownerClocks {
		if c.After(clock) && c.Sub(now) <= maxAhead {
			clock = c
		}
	}
	plates := make([]bag.Plate, len(candidates))
	for i, c := range candidates {
		plates[i] = c.Plate
	}
	sight := a.Key.SightIfLimited(f.Airports)
	trails := f.Trails
	if len(plates) == 1 {
		trails = f.Patient
	}
	traced, err := trails.For(sight).Trace(ctx, plates, clock)
	if err != nil {
		return nil, err
	}
	if err := f.Changes.Check(ctx, epoch); err != nil {
		return nil, err
	}
	bags := make(map[bag.Plate][]trail.Traced, len(candidates))
	for _, t := range traced {
		bags[t.Bag.Plate] = append(bags[t.Bag.Plate], t)
	}
	told := make([]folded, len(candidates))
	err = parallel.Do(len(candidates), parallel.Workers(len(candidates), documentsAWorker), func(from, to int) error {
		w := writer{Writer: bagdoc.Writer{
			Viewer: bag.NewViewer(ctx, sight), Airports: f.Airports, References: f.References, Fields: a.Fields, MaxEvents: MaxEvents,
		}}
		for i, c := range candidates[from:to] {
			told[from+i] = w.change(&a.Filter, epoch, c, bags[c.Plate])
		}
		return w.Viewer.Err()
	})
	return told, err
}

// documentsAWorker is the smallest number of documents for which a goroutine is started.
const documentsAWorker = 16

// weightOfEvent is the approximate size of the message of an event, in bytes.
const weightOfEvent = 1 << 10

// MaxEvents is the largest number of events of a bag in a document. Only the newest events are
// shown.
const MaxEvents = 100

// writer writes the documents of changes for one asker, one after the other.
type writer struct {
	bagdoc.Writer
	text []byte // a buffer for a document
}

// change returns the change of a plate. It has a document if the filter and the key select it.
func (w *writer) change(filter *Filter, epoch int64, of changes.Candidate, bags []trail.Traced) folded {
	c := folded{Change: Change{ID: changes.Position{Epoch: epoch, Sequence: of.Sequence}.ID(of.Plate), Candidate: of}}
	for _, t := range bags {
		c.weight += len(t.Bag.Events) * weightOfEvent
		if view := w.Viewer.View(t.Bag); view != nil {
			c.seen = append(c.seen, view)
		}
	}
	if len(c.seen) == 0 && w.Viewer != nil || !filter.matches(w.Airports, of.Plate, c.seen) {
		return c
	}
	dst := strictjson.AppendText(append(w.text[:0], '{'), "id", c.ID)
	dst = strictjson.AppendText(dst, "plate", string(of.Plate))
	dst = strictjson.AppendNumber(dst, "epoch", epoch)
	dst = strictjson.AppendNumber(dst, "sequence", of.Sequence)
	dst = append(dst, `,"bags":[`...)
	for _, t := range bags {
		if next, seen := w.Append(strictjson.AppendComma(dst), t); seen {
			dst = next
		}
	}
	w.text = append(dst, "]}"...)
	c.Document = bytes.Clone(w.text)
	c.weight += len(c.Document)
	return c
}
