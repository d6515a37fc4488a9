package budget

import "sync"

// Shares is a budget for several owners. Each owner takes at most half of it, so that no owner can
// use up the budget. It is safe for concurrent use.
type Shares struct {
	bytes *Bytes

	mu   sync.Mutex
	held map[string]int64 // bytes by owner; no value is 0
}

// NewShares returns a budget with the arguments of New.
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
