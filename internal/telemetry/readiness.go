package telemetry

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Readiness knows which parts of a process must be there before it may be given work, and which it can miss.
// Its methods may be called from any goroutine.
type Readiness struct {
	mu    sync.Mutex
	parts []part
}

type part struct {
	name   string
	needed bool
	check  func(context.Context) error
}

// Add names a part that is needed. check returns nil when the part can work now, else what it lacks, in words that may be shown to
// anyone who reaches the ops server. It is asked at every look at /readyz, and given one second.
func (r *Readiness) Add(name string, check func(context.Context) error) {
	r.add(part{name, true, check})
}

// AddOptional names a part whose absence is shown, but takes no work away from the process.
func (r *Readiness) AddOptional(name string, check func(context.Context) error) {
	r.add(part{name, false, check})
}

func (r *Readiness) add(p part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = append(r.parts, p)
}

// Standing is how one part stands.
type Standing struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Lacks string `json:"lacks,omitempty"` // what is missing, where it is not ready
}

// checkTimeout is what one part is given to answer.
const checkTimeout = time.Second

// Look asks every part, all at once, and returns their standings in the order in which they were added, and whether all
// that are needed are ready.
func (r *Readiness) Look(ctx context.Context) (parts []Standing, ready bool) {
	r.mu.Lock()
	asked := r.parts[:len(r.parts):len(r.parts)]
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()

	parts = make([]Standing, len(asked))
	var wg sync.WaitGroup
	for i, p := range asked {
		wg.Go(func() {
			parts[i] = Standing{Name: p.name, Ready: true}
			if err := p.check(ctx); err != nil {
				parts[i] = Standing{Name: p.name, Lacks: err.Error()}
			}
		})
	}
	wg.Wait()
	ready = true
	for i, p := range parts {
		ready = ready && (p.Ready || !asked[i].needed)
	}
	return parts, ready
}

// State is a part that says itself how it stands. The zero State is starting.
type State struct{ lacks atomic.Pointer[error] }

var errStarting = errors.New("starting")

// Set says what is missing; nil says that the part is ready.
func (s *State) Set(lacks error) { s.lacks.Store(&lacks) }

// Check returns what was Set last; it is made for [Readiness.Add].
func (s *State) Check(context.Context) error {
	if lacks := s.lacks.Load(); lacks != nil {
		return *lacks
	}
	return errStarting
}
