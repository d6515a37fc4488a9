package changefeed

import (
	"context"
	"sync"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/cache"
	"bagtrail/internal/changes"
)

// subject is a published change together with everything on which its document depends. Streams
// with the same subject share the document.
type subject struct {
	plate  bag.Plate
	at     changes.Position
	key    *apikey.Key // nil: sees everything
	fields bagdoc.Fields
}

// shared holds changes that were folded lately for streams. A published change wakes all streams
// that may send it at about the same time: one of them folds it, and the others wait. The zero
// value is ready for use.
type shared struct {
	mutex   sync.Mutex
	entries *cache.Cache[subject, *entry] // nil at first
}

// entry is the change of a subject that is folded, or is being folded.
type entry struct {
	folded
	failed bool          // folding has failed; the callers that wait must try again
	done   chan struct{} // closed when the other fields are set
}

// The limits of shared, in bytes.
const (
	maxShared = 1 << 20   // of a generation of the cache
	maxEntry  = 128 << 10 // of an entry; larger ones are not kept
)

// get returns the entry of each subject. It calls fold with the indexes of the subjects that have
// no entry yet, and waits for those that other callers are folding.
func (s *shared) get(ctx context.Context, subjects []subject, fold func(indexes []int) ([]folded, error)) ([]*entry, error) {
	entries := make([]*entry, len(subjects))
	open := make([]int, len(subjects))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		if mine := s.claim(subjects, entries, open); len(mine) > 0 {
			if err := s.fold(subjects, entries, mine, fold); err != nil {
				return nil, err
			}
		}
		var failed []int
		for _, i := range open {
			select {
			case <-entries[i].done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if entries[i].failed {
				failed = append(failed, i)
			}
		}
		open = failed
	}
	return entries, nil
}

// claim sets the entries at the indexes open, and returns the indexes that the caller must fold.
func (s *shared) claim(subjects []subject, entries []*entry, open []int) (mine []int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.entries == nil {
		s.entries = cache.New[subject, *entry](maxShared)
	}
	for _, i := range open {
		e, have := s.entries.Get(subjects[i])
		if !have {
			e = &entry{done: make(chan struct{})}
			s.entries.Put(subjects[i], e, 0)
			mine = append(mine, i)
		}
		entries[i] = e
	}
	return mine
}

// fold folds the subjects with the indexes mine. Even if it fails or panics, it wakes the callers
// that wait for them.
func (s *shared) fold(subjects []subject, entries []*entry, mine []int, fold func(indexes []int) ([]folded, error)) (err error) {
	var list []folded
	defer func() {
		for n, i := range mine {
			e := entries[i]
			if e.failed = err != nil || n >= len(list); !e.failed {
				e.folded = list[n]
			}
			if e.failed || e.weight > maxEntry {
				s.entries.Remove(subjects[i])
			} else {
				s.entries.Put(subjects[i], e, e.weight)
			}
			close(e.done)
		}
	}()
	list, err = fold(mine)
	return err
}
