// Package changefeed returns the changes since a cursor that an API key may see. The delta query,
// the stream and webhooks use it.
//
// The index of changes says which plates changed. Their bags are folded when a change is returned,
// with the rights that the key has at that moment. A limited key gets no change of a
// plate if it sees none of its bags. To tell a key a change means to return it to the caller.
package changefeed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/budget"
	"bagtrail/internal/changes"
	"bagtrail/internal/redis"
	"bagtrail/internal/trail"
)

// Config is the configuration of a Feed.
type Config struct {
	Changes    *changes.Reader
	Tail       *changes.Tail
	Trails     *trail.Reader // unlimited
	Patient    *trail.Reader // Trails with more time for a read, for a plate that is read alone
	Airports   *airport.Library
	References bagdoc.References
	Clock      func() time.Time
}

// Feed returns the changes that a key may see. It is safe for concurrent use. Its errors are those
// of changes.Reader and trail.Reader; a method says if it has others.
type Feed struct {
	Config
	shared shared

	asking chan struct{}  // a lock for callers of Recent, of capacity 1
	recent changes.Cursor // the last cursor of Recent
	read   time.Time      // when it was read
}

// New returns a Feed.
func New(conf Config) *Feed { return &Feed{Config: conf, asking: make(chan struct{}, 1)} }

// Asker is a key that asks for changes, the filter that selects them, and the fields of their
// documents.
type Asker struct {
	Key    *apikey.Key
	Filter Filter
	Fields bagdoc.Fields
}

// Change is one change, as it is told to a key.
type Change struct {
	ID string
	changes.Candidate
	Document []byte // JSON
}

// Batch holds changes in the order in which they are told.
type Batch struct {
	Changes []Change
	Cursor  changes.Cursor // after them
	More    bool           // more changes may be available at once
}

// Limits bound a batch. A single change may be larger than Bytes.
type Limits struct {
	Changes int
	Bytes   int // of the documents
}

const (
	firstFold = 10              // how many plates are folded together at first
	maxFold   = 100             // how many plates are folded together at most
	foldBytes = 512 << 10       // approximate size of the documents of plates that are folded together
	maxFolds  = 2000            // how many plates are folded for a batch at most: the key may see none of them
	maxTime   = 2 * time.Second // time after which a batch ends
)

// Now returns the cursor after all changes in the index.
func (f *Feed) Now(ctx context.Context, a Asker) (changes.Cursor, error) {
	return f.Changes.Now(ctx, f.digests(a))
}

// recentFor is how long Recent keeps a cursor.
const recentFor = time.Second

// Recent returns what Now would have returned at a moment of the last second. It reads Redis at
// most once a second.
func (f *Feed) Recent(ctx context.Context, a Asker) (changes.Cursor, error) {
	select {
	case f.asking <- struct{}{}:
		defer func() { <-f.asking }()
	case <-ctx.Done():
		return changes.Cursor{}, ctx.Err()
	}
	if time.Since(f.read) > recentFor {
		read := time.Now()
		c, err := f.Changes.Now(ctx, changes.Question{})
		if err != nil {
			return c, err
		}
		f.recent, f.read = c, read
	}
	c, q := f.recent, f.digests(a)
	c.Filter, c.Rights = q.Filter, q.Rights
	return c, nil
}

// Since returns the cursor of a time, see changes.Reader.Since.
func (f *Feed) Since(ctx context.Context, a Asker, since time.Time) (changes.Cursor, error) {
	return f.Changes.Since(ctx, f.digests(a), since)
}

// Next returns the changes that follow a cursor.
func (f *Feed) Next(ctx context.Context, a Asker, c changes.Cursor, limits Limits) (b Batch, err error) {
	b.Cursor, b.More, err = f.Each(ctx, a, c, limits, func(told Change) error {
		b.Changes = append(b.Changes, told)
		return nil
	})
	return b, err
}

// Each calls tell with each change that follows a cursor. It returns the cursor after them, and
// whether more changes may be available at once. Its errors are also those of tell.
func (f *Feed) Each(
	ctx context.Context, a Asker, c changes.Cursor, limits Limits, tell func(Change) error,
) (end changes.Cursor, more bool, err error) {
	q := f.question(a)
	t := teller{Feed: f, asker: a, limits: limits, tell: tell, cursor: c, size: firstFold, until: time.Now().Add(maxTime)}
	t.cursor.Sequences = slices.Clone(c.Sequences)
	for folded := 0; folded < maxFolds && t.told < limits.Changes && time.Now().Before(t.until); {
		page, err := f.Changes.Next(ctx, t.cursor, q, min(maxFolds-folded, limits.Changes-t.told))
		if err != nil {
			return c, false, err
		}
		full, err := t.page(ctx, page)
		if err != nil {
			return c, false, err
		}
		if full {
			return t.cursor, true, nil
		}
		if t.cursor = page.End; !page.More {
			return t.cursor, false, nil
		}
		folded += len(page.Candidates)
	}
	return t.cursor, true, nil
}

// teller tells the changes of a batch.
type teller struct {
	*Feed
	asker  Asker
	limits Limits
	tell   func(Change) error
	cursor changes.Cursor // after the changes that were told
	told   int
	bytes  int
	size   int       // how many plates are folded together next
	moved  bool      // the cursor has passed some plates
	until  time.Time // when the batch ends
}

// page tells the candidates of a page. It returns true if the batch is full before the end of the
// page.
func (t *teller) page(ctx context.Context, page changes.Page) (full bool, err error) {
	for rest := page.Candidates; len(rest) > 0; {
		some := rest[:min(t.size, len(rest))]
		part, done := budget.Part(ctx)
		list, err := t.fold(part, t.asker, t.cursor.Epoch, some, page.Clocks)
		done()
		if errors.Is(err, redis.ErrUnavailable) && len(some) > 1 { // these plates may have too many messages to be read together in time
			if t.moved {
				return true, nil // the next batch begins with these plates
			}
			t.size = 1 // one alone gets nearly all the time
			continue
		}
		if err != nil {
			return false, err
		}
		read := 0 // bytes of documents
		for i, c := range some {
			if n := len(list[i].Document); n > 0 {
				if t.told > 0 && t.bytes+n > t.limits.Bytes {
					return true, nil
				}
				if err := t.tell(list[i].Change); err != nil {
					return false, err
				}
				t.told++
				t.bytes += n
				read += n
			}
			t.cursor.Pass(c)
		}
		t.moved = true
		t.size = max(1, min(2*t.size, maxFold, foldBytes*len(some)/max(1, read)))
		if rest = rest[len(some):]; len(rest) > 0 && time.Now().After(t.until) {
			return true, nil
		}
	}
	return false, nil
}

// OfPublished returns those of the published changes that the filter selects and the key may see,
// and of each plate only the latest. The published changes have one epoch. OfPublished sorts them
// by sequence, since an owner that stood still may publish an earlier change again.
func (f *Feed) OfPublished(ctx context.Context, a Asker, published []changes.Published) (told []Change, err error) {
	slices.SortStableFunc(published, func(a, b changes.Published) int { return cmp.Compare(a.Sequence, b.Sequence) })
	clocks := make([]time.Time, len(published))
	last := make(map[bag.Plate]int, len(published))
	for i, p := range published {
		last[p.Plate], clocks[i] = i, p.Clock
	}
	var candidates []changes.Candidate
	for i, p := range published {
		if last[p.Plate] == i {
			candidates = append(candidates, p.Candidate)
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	epoch, everything := published[0].Epoch, Asker{Key: a.Key, Fields: a.Fields}
	subjects := make([]subject, len(candidates))
	for i, c := range candidates {
		subjects[i] = subject{plate: c.Plate, at: changes.Position{Epoch: epoch, Sequence: c.Sequence}, fields: a.Fields}
		if a.Key.Limited() {
			subjects[i].key = a.Key
		}
	}
	entries, err := f.shared.get(ctx, subjects, func(indexes []int) ([]folded, error) {
		missing := make([]changes.Candidate, len(indexes))
		for i, index := range indexes {
			missing[i] = candidates[index]
		}
		return f.fold(ctx, everything, epoch, missing, clocks)
	})
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Document != nil && a.Filter.matches(f.Airports, e.Plate, e.seen) {
			told = append(told, e.Change)
		}
	}
	return told, nil
}

// Follow returns a follower of the published changes that the filter may select and the key may
// see. The caller must call Leave in the end.
func (f *Feed) Follow(a Asker) *changes.Follower {
	mayMatch := a.Filter.mayMatch(f.Airports)
	return f.Tail.Follow(func(r *changes.Record) bool { return mayMatch(r) && f.mayCover(a.Key, r) })
}

// News returns a channel that has an element if there may be new changes for the key. The caller must
// call leave in the end.
func (f *Feed) News(a Asker) (news <-chan struct{}, leave func()) {
	follower := f.Follow(a)
	return follower.Changed(), follower.Leave
}
