package telemetry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Readiness holds the parts of a process, and checks whether each is ready. Its methods may be
// called from any goroutine.
type Readiness struct {
	mu    sync.Mutex
	parts []part
}

type part struct {
	name   string
	needed bool
	check  func(context.Context) error
}

// Add adds a part. If it is needed and not ready, the process is not ready. check returns nil if
// the part is ready, else what it lacks, in words that every caller of the ops server may read. Each
// call of Check calls it, with a limit of one second.
func (r *Readiness) Add(name string, needed bool, check func(context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = append(r.parts, part{name, needed, check})
}

// PartStatus is the state of one part.
type PartStatus struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Lacks string `json:"lacks,omitempty"` // what is missing, if it is not ready
}

// checkTimeout is how long a check may take.
const checkTimeout = time.Second

// Check checks all parts at the same time. It returns their states in the order in which they were
// added, and whether all needed ones are ready.
func (r *Readiness) Check(ctx context.Context) (parts []PartStatus, ready bool) {
	r.mu.Lock()
	checked := slices.Clip(r.parts)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()

	parts = make([]PartStatus, len(checked))
	var wg sync.WaitGroup
	for i, p := range checked {
		wg.Go(func() {
			parts[i] = PartStatus{Name: p.name, Ready: true}
			if err := p.check(ctx); err != nil {
				parts[i] = PartStatus{Name: p.name, Lacks: err.Error()}
			}
		})
	}
	wg.Wait()
	ready = true
	for i, p := range parts {
		ready = ready && (p.Ready || !checked[i].needed)
	}
	return parts, ready
}

// State is a part whose state is set by Set. The zero State is "starting".
type State struct{ lacks atomic.Pointer[error] }

// Set sets what the part lacks; nil if it is ready.
func (s *State) Set(lacks error) { s.lacks.Store(&lacks) }

// Check returns the error that was Set last. It is a check for [Readiness.Add].
func (s *State) Check(context.Context) error {
	if lacks := s.lacks.Load(); lacks != nil {
		return *lacks
	}
	return errors.New("starting")
}
