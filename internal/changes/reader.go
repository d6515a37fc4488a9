package changes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/kafka"
)

// ReadIndex is the index of changes, as readers use it.
type ReadIndex interface {
	// Epoch returns the epoch; the zero Epoch says that there is none.
	Epoch(ctx context.Context) (Epoch, error)
	// State returns the epoch, and the progress of each partition. The zero Epoch says that there is
	// none.
	State(ctx context.Context) (Epoch, []Progress, error)
	// Between returns, for each partition, the plates of some scopes whose latest sequence is above
	// after and at most upTo, in the order of their sequences. It reads about limit plates of each
	// scope, spread over the partitions that have changes. If no more plates follow, upTo is equal
	// to told; otherwise it is below told and above after. It fails as Complete does.
	Between(ctx context.Context, e Epoch, scopes []Scope, after, told []int64, limit int) (found [][]Candidate, upTo []int64, err error)
	// Sequences returns the latest sequence of each plate, -1 if there is none. It fails as Complete
	// does.
	Sequences(ctx context.Context, e Epoch, plates []bag.Plate, after, told []int64) ([]int64, error)
}

// Complete returns nil if the answer of an index has every change with a sequence above after and
// at most told, in each partition. progress is the progress that was read right before or right
// after the answer. Complete fails with ErrBeingBuilt if the Told of a partition is lower than
// told, since Redis has then lost something. It fails with a *ResetError if a floor has risen above
// the first of these changes.
func Complete(after, told []int64, progress []Progress) error {
	for i, p := range progress {
		switch {
		case after[i] >= told[i]: // nothing was asked for
		case p.Told < told[i]:
			return ErrBeingBuilt
		case after[i] < p.Floor-1:
			return errTooOld
		}
	}
	return nil
}

var errTooOld = &ResetError{"the cursor is older than the changes that are kept"}

// Scope is a part of the index: all plates, or the plates of an airline or an airport.
type Scope string

// All is the scope of all plates.
const All Scope = "all"

// OfAirline returns the scope of the plates with a flight of an airline.
func OfAirline(code string) Scope { return Scope("a:" + code) }

// OfAirport returns the scope of the plates with a flight or an event at an airport.
func OfAirport(code string) Scope { return Scope("p:" + code) }

// Candidate is a plate that changed. A reader gets the change only if the bags of the plate match
// its filter and its key.
type Candidate struct {
	Plate     bag.Plate
	Partition int
	Sequence  int64
}

// Question says which changes a reader asks for.
type Question struct {
	// Plates, if not nil, returns the plates whose changes are asked for. It is called after the
	// progress of the partitions was read, so that a plate that is filed meanwhile is in a later page.
	Plates func(context.Context) ([]bag.Plate, error)
	Scopes []Scope // if Plates is nil: the changes in any of these scopes are asked for
	Filter uint32  // a digest of the filter
	Rights uint32  // a digest of what the key may see
}

// Page holds the next candidates after a cursor.
type Page struct {
	Candidates []Candidate // each plate once, and in each partition in the order of their sequences
	Clocks     []time.Time // the clocks of the owners: fold the bags by the latest that is not wrong, or by a later time
	End        Cursor      // after the candidates
	More       bool        // more candidates follow
}

// ErrBeingBuilt says that the index of changes is not complete: there is no epoch, or a partition
// has no progress yet. Either Redis has lost the index, and a replay or its owners will build it
// again, or no change was ever told.
var ErrBeingBuilt = errors.New("the index of changes is being built")

// ErrFilter says that a cursor belongs to another filter.
var ErrFilter = errors.New("the cursor belongs to another filter")

// ResetError says that a cursor cannot be used any more, and why.
type ResetError struct {
	Reason string // a sentence
}

func (e *ResetError) Error() string { return e.Reason }

// Reader finds the plates that changed. It is safe for concurrent use.
type Reader struct {
	Index ReadIndex
	Kafka *kafka.Client
	Marks string // the topic of marks
}

// Now returns the cursor after all changes that are told.
func (r *Reader) Now(ctx context.Context, q Question) (Cursor, error) {
	e, progress, err := r.state(ctx)
	if err != nil {
		return Cursor{}, err
	}
	return q.cursor(e, progress), nil
}

// clockSkew is how much earlier than the given time Since begins, because clocks differ.
const clockSkew = time.Minute

// Since returns a cursor for a time. All changes that were marked after that time, or in the minute
// before it, follow the cursor. If the index does not have all of them, because the epoch began
// later, or changes were kept for a shorter time, the cursor is below a floor, so that Next fails
// with a *ResetError.
func (r *Reader) Since(ctx context.Context, q Question, since time.Time) (Cursor, error) {
	e, progress, err := r.state(ctx)
	if err != nil {
		return Cursor{}, err
	}
	spans, err := r.Kafka.Spans(ctx, r.Marks, kafka.Start{Time: since.Add(-clockSkew)})
	if err != nil {
		return Cursor{}, err
	}
	c := q.cursor(e, progress)
	for _, s := range spans {
		if s.Partition >= len(c.Sequences) {
			continue
		}
		c.Sequences[s.Partition] = min(c.Sequences[s.Partition], s.From-1)
		if floor := progress[s.Partition].Floor; since.Unix() >= e.Begun && floor-1 > c.Sequences[s.Partition] {
			// The floor rises with time. It may have risen above the first marks, but not far: the time is at
			// most a minute older than the retention, by a clock that may differ from that of the owner.
			late, err := r.Kafka.Span(ctx, r.Marks, s.Partition, kafka.Start{Time: since.Add(2 * clockSkew)})
			if err != nil {
				return Cursor{}, err
			}
			c.Sequences[s.Partition] = min(floor, late.From) - 1
		}
	}
	return c, nil
}

// Check fails with ErrBeingBuilt if the epoch has ended. Call it after bags were folded: if Redis
// has lost everything, it has also lost messages, and the folded bags are wrong.
func (r *Reader) Check(ctx context.Context, epoch int64) error {
	e, err := r.Index.Epoch(ctx)
	if err == nil && e.Begun != epoch {
		err = ErrBeingBuilt
	}
	return err
}

// state returns the epoch and the progress of each partition. It fails with ErrBeingBuilt if there
// is no epoch, or if a partition has no progress. A cursor from such a time would be reset once the
// index of the partition is built. And a stream would find nothing in such an index, as if it had
// sent all changes. It would send the next published change, and miss the changes that the index
// held before it was lost.
func (r *Reader) state(ctx context.Context) (Epoch, []Progress, error) {
	e, progress, err := r.Index.State(ctx)
	if err != nil {
		return Epoch{}, nil, err
	}
	if e == (Epoch{}) || slices.ContainsFunc(progress, Progress.None) {
		return Epoch{}, nil, ErrBeingBuilt
	}
	return e, progress, nil
}

// cursor returns the cursor after all changes that are told.
func (q Question) cursor(e Epoch, progress []Progress) Cursor {
	c := Cursor{Epoch: e.Begun, Sequences: make([]int64, len(progress)), Filter: q.Filter, Rights: q.Rights}
	for i, p := range progress {
		c.Sequences[i] = p.Told
	}
	return c
}

// Next returns the candidates that follow a cursor, at most limit. The error is ErrFilter or a
// *ResetError if the cursor cannot be followed.
func (r *Reader) Next(ctx context.Context, c Cursor, q Question, limit int) (Page, error) {
	e, progress, err := r.state(ctx)
	if err == nil {
		err = q.check(c, e, progress)
	}
	if err != nil {
		return Page{}, err
	}
	told := q.cursor(e, progress)
	var page Page
	for _, p := range progress {
		page.Clocks = append(page.Clocks, p.Clock)
	}
	passed := int64(0)
	for i, s := range c.Sequences { // the cursor may be ahead if Redis has lost its last second
		told.Sequences[i] = max(s, told.Sequences[i])
		passed += s + 1
	}
	byPartition, upTo, err := r.candidates(ctx, c, told.Sequences, q, e, limit)
	if err != nil {
		return Page{}, err
	}
	// If pages have fewer candidates than there are partitions, each page begins with another
	// partition. The same cursor always gives the same page.
	first := int(passed % int64(len(byPartition)))
	page.Candidates = interleave(slices.Concat(byPartition[first:], byPartition[:first]))
	page.End, page.More = told, !slices.Equal(upTo, told.Sequences)
	if len(page.Candidates) <= limit {
		page.End.Sequences = upTo
		return page, nil
	}
	page.Candidates, page.More = page.Candidates[:limit], true
	page.End.Sequences = slices.Clone(c.Sequences)
	for _, candidate := range page.Candidates {
		page.End.Pass(candidate)
	}
	return page, nil
}

// check returns why a cursor cannot be followed, or nil.
func (q Question) check(c Cursor, e Epoch, progress []Progress) error {
	switch {
	case c.Filter != q.Filter:
		return ErrFilter
	case c.Epoch != e.Begun || len(c.Sequences) != len(progress):
		return &ResetError{"the numbering of changes has begun anew"}
	case c.Rights != q.Rights:
		return &ResetError{"what the key may see was changed"}
	}
	for i, s := range c.Sequences {
		if s < progress[i].Floor-1 {
			return errTooOld
		}
	}
	return nil
}

// candidates returns the candidates of each partition, and the sequence up to which the list is
// complete.
func (r *Reader) candidates(
	ctx context.Context, c Cursor, told []int64, q Question, e Epoch, limit int,
) (byPartition [][]Candidate, upTo []int64, err error) {
	if slices.Equal(c.Sequences, told) {
		return make([][]Candidate, len(told)), told, nil
	}
	if q.Plates == nil {
		return r.Index.Between(ctx, e, q.Scopes, c.Sequences, told, limit)
	}
	plates, err := q.Plates(ctx)
	if err != nil {
		return nil, nil, err
	}
	sequences, err := r.Index.Sequences(ctx, e, plates, c.Sequences, told)
	if err != nil {
		return nil, nil, err
	}
	byPartition = make([][]Candidate, len(told))
	for i, plate := range plates {
		p := kafka.PartitionOf([]byte(plate), len(told))
		if s := sequences[i]; s > c.Sequences[p] && s <= told[p] {
			byPartition[p] = append(byPartition[p], Candidate{plate, p, s})
		}
	}
	for _, list := range byPartition {
		slices.SortFunc(list, func(a, b Candidate) int { return cmp.Compare(a.Sequence, b.Sequence) })
	}
	return byPartition, told, nil
}

// interleave takes a candidate from each partition in turn, so that no partition waits for another.
func interleave(byPartition [][]Candidate) []Candidate {
	var all []Candidate
	for depth := 0; ; depth++ {
		before := len(all)
		for _, list := range byPartition {
			if depth < len(list) {
				all = append(all, list[depth])
			}
		}
		if len(all) == before {
			return all
		}
	}
}

// Pass moves the cursor past a candidate.
func (c *Cursor) Pass(to Candidate) {
	c.Sequences[to.Partition] = max(c.Sequences[to.Partition], to.Sequence)
}
