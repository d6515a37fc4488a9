package budget

import (
	"hash/maphash"
	"sync/atomic"
)

// Notes are hints of how many bytes something took the last time, by name. They take constant memory: names share entries, and of
// two that do the later one is noted. They are safe for concurrent use.
type Notes struct {
	seed    maphash.Seed
	entries [1 << 10]atomic.Uint64 // the upper half of the hash of a name, and behind it the bytes
}

const lowerHalf = 1<<32 - 1

// NewNotes returns notes of nothing.
func NewNotes() *Notes { return &Notes{seed: maphash.MakeSeed()} }

// Note notes how many bytes the name took; 0 forgets it.
func (n *Notes) Note(bytes int64, name ...string) {
	entry, half := n.entry(name)
	if bytes > 0 {
		entry.Store(half | uint64(min(bytes, lowerHalf)))
	} else if noted := entry.Load(); noted != 0 && noted&^lowerHalf == half {
		entry.Store(0)
	}
}

// Of returns how many bytes the name took, 0 where that is not known.
func (n *Notes) Of(name ...string) int64 {
	entry, half := n.entry(name)
	if noted := entry.Load(); noted&^lowerHalf == half {
		return int64(noted & lowerHalf)
	}
	return 0
}

func (n *Notes) entry(name []string) (entry *atomic.Uint64, half uint64) {
	var h maphash.Hash
	h.SetSeed(n.seed)
	for _, part := range name {
		_, _ = h.WriteString(part) // never fails
		_ = h.WriteByte(0)
	}
	hash := h.Sum64()
	return &n.entries[hash%uint64(len(n.entries))], hash &^ lowerHalf
}
