package changes

import (
	"hash/maphash"

	"bagtrail/internal/bag"
)

// digests remembers, in bounded memory, a digest of the last state that was told of each plate that
// changed lately. A state that it has forgotten is told again.
//
// It has two generations. When the young one is full, it replaces the old one.
type digests struct {
	seed       maphash.Seed
	young, old map[bag.Plate]uint64
}

// maxDigests is how many plates a generation holds.
const maxDigests = 20_000

func newDigests() *digests {
	return &digests{seed: maphash.MakeSeed(), young: make(map[bag.Plate]uint64)}
}

// of returns the digest of a state.
func (d *digests) of(state []byte) uint64 { return maphash.Bytes(d.seed, state) }

// remembers reports whether a digest is that of the state that was told last.
func (d *digests) remembers(plate bag.Plate, digest uint64) bool {
	told, known := d.young[plate]
	if !known {
		if told, known = d.old[plate]; known {
			d.remember(plate, told)
		}
	}
	return known && told == digest
}

// remember notes the digest of the state that is told of a plate.
func (d *digests) remember(plate bag.Plate, digest uint64) {
	if _, known := d.young[plate]; !known && len(d.young) >= maxDigests {
		d.old, d.young = d.young, make(map[bag.Plate]uint64)
	}
	d.young[plate] = digest
}

func (d *digests) forget(plate bag.Plate) {
	delete(d.young, plate)
	delete(d.old, plate)
}
