package changefeed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
)

func subjectOf(plate bag.Plate, key *apikey.Key) []subject {
	return []subject{{plate: plate, key: key}}
}

// folding returns what folds documents that name their plate, and counts what it folds.
func folding(n *int, plate bag.Plate, weight int) func([]int) ([]folded, error) {
	return func(places []int) ([]folded, error) {
		*n += len(places)
		return []folded{{Change: Change{Candidate: changes.Candidate{Plate: plate}}, weight: weight}}, nil
	}
}

func TestWhoAsksAtOnceWaitsForOneFold(t *testing.T) {
	var s shared
	begun, proceed := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = s.get(t.Context(), subjectOf("0724100001", nil), func([]int) ([]folded, error) {
			close(begun)
			<-proceed
			return []folded{{Change: Change{Candidate: changes.Candidate{Plate: "0724100001"}}}}, nil
		})
	})
	<-begun
	for range 10 {
		all.Go(func() {
			n := 0
			found, err := s.get(t.Context(), subjectOf("0724100001", nil), folding(&n, "", 0))
			if err != nil || n != 0 || found[0].Plate != "0724100001" {
				t.Errorf("%d folds, %v", n, err)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.get(ended, subjectOf("0724100001", nil), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits no more: %v", err)
	}
	close(proceed)
	all.Wait()
}

func TestKeysWithLimitsShareNothing(t *testing.T) {
	var s shared
	n := 0
	for _, key := range []*apikey.Key{nil, {Name: "A"}, {Name: "A"}} {
		if _, err := s.get(t.Context(), subjectOf("0724100001", key), folding(&n, "", 0)); err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d folds, want 3", n)
	}
}

func TestAFoldThatFailsIsDoneAgain(t *testing.T) {
	for _, fails := range []func([]int) ([]folded, error){
		func([]int) ([]folded, error) { return nil, errors.New("no index") },
		func([]int) ([]folded, error) { return make([]folded, 1), errors.New("the views ended early") },
		func([]int) ([]folded, error) { panic("broken") },
	} {
		var s shared
		func() {
			defer func() { _ = recover() }()
			if _, err := s.get(t.Context(), subjectOf("0724100001", nil), fails); err == nil {
				t.Error("no error")
			}
		}()
		n := 0
		if _, err := s.get(t.Context(), subjectOf("0724100001", nil), folding(&n, "", 0)); err != nil || n != 1 {
			t.Errorf("%d folds, %v", n, err)
		}
	}
}

// waiting is a context that says when somebody begins to wait.
type waiting struct {
	context.Context
	begun chan struct{}
	once  sync.Once
}

func (w *waiting) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

func TestWhoWaitsForAFoldThatFailsFoldsAgain(t *testing.T) {
	var s shared
	claimed, fail := make(chan struct{}), make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = s.get(t.Context(), subjectOf("0724100001", nil), func([]int) ([]folded, error) {
			close(claimed)
			<-fail
			return nil, errors.New("no index")
		})
	})
	<-claimed
	ctx := &waiting{Context: t.Context(), begun: make(chan struct{})}
	both.Go(func() {
		n := 0
		found, err := s.get(ctx, subjectOf("0724100001", nil), folding(&n, "0724100001", 0))
		if err != nil || n != 1 || found[0].Plate != "0724100001" {
			t.Errorf("%d folds, %v", n, err)
		}
	})
	<-ctx.begun
	close(fail)
	both.Wait()
}

func TestWhatIsSharedIsBounded(t *testing.T) {
	var s shared
	n := 0
	for i := range 1000 {
		plate := bag.Plate(fmt.Sprintf("0724%06d", i))
		if _, err := s.get(t.Context(), subjectOf(plate, nil), folding(&n, plate, maxEntry)); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range 1000 {
		if _, have := s.entries.Get(subjectOf(bag.Plate(fmt.Sprintf("0724%06d", i)), nil)[0]); have {
			kept++
		}
	}
	if most := 2 * (maxShared/maxEntry + 1); kept == 0 || kept > most {
		t.Errorf("%d entries are kept, want 1 to %d", kept, most)
	}
	for range 2 {
		if _, err := s.get(t.Context(), subjectOf("0125000001", nil), folding(&n, "0125000001", maxEntry+1)); err != nil {
			t.Fatal(err)
		}
	}
	if n != 1002 {
		t.Errorf("%d folds: what is large is kept", n-1000)
	}
}
