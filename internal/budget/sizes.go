package budget

import (
	"hash/maphash"
	"sync/atomic"
)

// Sizes remembers how many bytes something took the last time, by name. It is a hint: names share
// entries, so that it takes constant memory, and a later name replaces an earlier one. It is safe
// for concurrent use.
type Sizes struct {
	seed    maphash.Seed
	entries [1 << 10]atomic.Uint64 // the upper half of the hash of a name, then the bytes
}

const lowerHalf = 1<<32 - 1

// NewSizes returns empty Sizes.
func NewSizes() *Sizes { return &Sizes{seed: maphash.MakeSeed()} }

// Set sets how many bytes the name took; 0 forgets it.
func (s *Sizes) Set(bytes int64, name ...string) {
	entry, half := s.entry(name)
	if bytes > 0 {
		entry.Store(half | uint64(min(bytes, lowerHalf)))
	} else if noted := entry.Load(); noted != 0 && noted&^lowerHalf == half {
		entry.Store(0)
	}
}

// Get returns how many bytes the name took, or 0.
func (s *Sizes) Get(name ...string) int64 {
	entry, half := s.entry(name)
	if noted := entry.Load(); noted&^lowerHalf == half {
		return int64(noted & lowerHalf)
	}
	return 0
}

func (s *Sizes) entry(name []string) (entry *atomic.Uint64, half uint64) {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, part := range name {
		_, _ = h.WriteString(part) // never fails
		_ = h.WriteByte(0)
	}
	hash := h.Sum64()
	return &s.entries[hash%uint64(len(s.entries))], hash &^ lowerHalf
}
