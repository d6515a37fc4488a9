package changes

import (
	"fmt"
	"testing"

	"bagtrail/internal/bag"
)

// If two plates share a slot, the one that was told first is told again. Neither is left out since
// the other has the same state, such as no bags.
func TestTwoPlatesInOneSlotAreNotMistakenForEachOther(t *testing.T) {
	d, state := newDigests(), []byte("[]")
	plates := make(map[*uint64]bag.Plate)
	for i := 0; ; i++ {
		plate := bag.Plate(fmt.Sprintf("%010d", i))
		other, shared := plates[d.lastOf(plate)]
		if !shared {
			plates[d.lastOf(plate)] = plate
			continue
		}
		*d.lastOf(other) = d.of(other, state)
		if *d.lastOf(other) != d.of(other, state) {
			t.Errorf("the state of %s is not known", other)
		}
		if *d.lastOf(plate) == d.of(plate, state) {
			t.Errorf("the state of %s is taken for that of %s", other, plate)
		}
		d.forget()
		if *d.lastOf(other) == d.of(other, state) {
			t.Errorf("the state of %s is still known", other)
		}
		return
	}
}
