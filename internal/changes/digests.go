package changes

import (
	"hash/maphash"

	"bagtrail/internal/bag"
)

// digestSlots is the number of slots, which take 256 KiB for each partition that a process owns. At
// 5,000 messages a second, each of twelve partitions gets 28 new plates a second, so a slot keeps
// its digest for some 20 minutes.
const digestSlots = 1 << 15

// digests remembers, for plates that changed lately, a digest of the state that was last told. Each
// slot holds the digest of the last plate whose hash selects the slot. A state whose digest is
// forgotten is told again, which is harmless.
type digests struct {
	seed  maphash.Seed
	slots []uint64
}

func newDigests() *digests {
	return &digests{seed: maphash.MakeSeed(), slots: make([]uint64, digestSlots)}
}

// of returns the digest of the state of a plate. Two plates with the same state have different
// digests, since they may share a slot.
func (d *digests) of(plate bag.Plate, state []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	_, _ = h.WriteString(string(plate))
	_, _ = h.Write(state)
	return h.Sum64()
}

// lastOf returns the slot of a plate. Its value is 0 if nothing was told.
func (d *digests) lastOf(plate bag.Plate) *uint64 {
	return &d.slots[maphash.String(d.seed, string(plate))%digestSlots]
}

// forget forgets all digests.
func (d *digests) forget() { clear(d.slots) }
