package bagstore

import (
	"strconv"
	"testing"
)

// sendOnce sends an entry, if it must be sent, in a round of its own, and reports whether it must.
func sendOnce(k *knownWrites, name string) bool {
	r := k.begin()
	sent := r.mustSend("p:"+name, "0220000001", 1000)
	r.confirm()
	return sent
}

func TestKnownWritesGrowUpToTheirLimit(t *testing.T) {
	const limit = 4 * fewestMarks
	k := newKnownWrites(limit, func() uint64 { return 0 })
	if !sendOnce(k, "FIRST") || sendOnce(k, "FIRST") {
		t.Error("an entry is not remembered")
	}
	for i := range fewestMarks {
		sendOnce(k, strconv.Itoa(i))
	}
	if size := len(k.table.Load().slots); size != 2*fewestMarks {
		t.Errorf("%d slots after %d entries, want %d", size, fewestMarks, 2*fewestMarks)
	}
	if last := strconv.Itoa(fewestMarks - 1); sendOnce(k, last) {
		t.Error("the last entry is not remembered")
	}
	r := k.begin()
	for i := range 2 * limit { // in one round: each is sent once, though nothing is confirmed yet
		if r.mustSend("f:"+strconv.Itoa(i), "0220000001", 1000); i%1000 == 0 {
			r.confirm()
			r = k.begin()
		}
	}
	if size := len(k.table.Load().slots); size != limit {
		t.Errorf("%d slots in the end, want %d", size, limit)
	}
	sendOnce(k, "LAST")
	if k.forget(); !sendOnce(k, "LAST") {
		t.Error("what was forgotten is remembered")
	}
}

func TestANewConnectionForgetsKnownWrites(t *testing.T) {
	connects := uint64(0)
	k := newKnownWrites(fewestMarks, func() uint64 { return connects })
	sendOnce(k, "A")
	r := k.begin()
	if connects++; r.valid() || !sendOnce(k, "A") {
		t.Error("what another server confirmed is taken for known")
	}
}
