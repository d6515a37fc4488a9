package changes

import (
	"hash/maphash"

	"bagtrail/internal/bag"
)

// digestSlots is 256 KiB for each partition that a process owns. A partition of twelve gets 28 new
// plates a second from 5,000 messages a second: a slot keeps its digest for some 20 minutes.
const digestSlots = 1 << 15

// digests remembers, of plates that changed lately, a digest of the state that was told last. Each
// slot holds the digest of the last plate that was hashed to it. A state whose digest is forgotten
// is told again, which harms nobody.
type digests struct {
	seed  maphash.Seed
	slots []uint64
}

func newDigests() *digests {
	return &digests{seed: maphash.MakeSeed(), slots: make([]uint64, digestSlots)}
}

// of returns the digest of the state of a plate. Two plates with one state have two digests, since
// they may share a slot.
func (d *digests) of(plate bag.Plate, state []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	_, _ = h.WriteString(string(plate))
	_, _ = h.Write(state)
	return h.Sum64()
}

// lastOf returns the slot of a plate. It is 0 if nothing was told.
func (d *digests) lastOf(plate bag.Plate) *uint64 {
	return &d.slots[maphash.String(d.seed, string(plate))%digestSlots]
}

// forget forgets all digests.
func (d *digests) forget() { clear(d.slots) }
