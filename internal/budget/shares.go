package budget

import "sync"

// Shares is a budget of which each owner takes at most half, so that no owner keeps it from all
// others. It is safe for concurrent use.
type Shares struct {
	bytes *Bytes

	mu   sync.Mutex
	held map[string]int64 // by owner; none is 0
}

// NewShares returns a budget like that of New.
func NewShares(limit int64, press func() (end func())) *Shares {
	return &Shares{bytes: New(limit, press), held: make(map[string]int64)}
}

// Most returns how many bytes an owner may take.
func (s *Shares) Most() int64 { return s.bytes.limit / 2 }

// Try takes n bytes for an owner if they are left, and reports whether they were.
func (s *Shares) Try(owner string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[owner]+n > s.Most() || !s.bytes.Try(n) {
		return false
	}
	s.held[owner] += n
	return true
}

// Return returns n bytes of an owner.
func (s *Shares) Return(owner string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[owner] -= n; s.held[owner] == 0 {
		delete(s.held, owner)
	}
	s.bytes.Return(n)
}
