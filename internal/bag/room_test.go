package bag_test

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"bagtrail/internal/bag"
)

// What a list of a large flight took must not stay with the room.
func TestAClearedRoomHoldsNoText(t *testing.T) {
	room := bag.BorrowRoom()
	var texts []weak.Pointer[[4096]byte]
	for range 5000 {
		text := new([4096]byte)
		texts = append(texts, weak.Make(text))
		room.Add().Raw = unsafe.String(&text[0], len(text))
	}
	room.Clear()
	runtime.GC()
	held := 0
	for _, text := range texts {
		if text.Value() != nil {
			held++
		}
	}
	if held > 0 {
		t.Errorf("%d of %d texts are held", held, len(texts))
	}
	room.Return()
}

// A message that names a plate twice makes one more than was foreseen.
func TestARoomThatIsKeptTakesLittleMoreThanItsMessages(t *testing.T) {
	before := allocated()
	rooms := make([]*bag.Room, 1000)
	for i := range rooms {
		rooms[i] = bag.NewRoom(1)
		rooms[i].Add()
		rooms[i].Add()
	}
	if took := (allocated() - before) / uint64(len(rooms)); took > 4096 {
		t.Errorf("two messages take %d bytes", took)
	}
	runtime.KeepAlive(rooms)
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// What was added since a mark is given up; what was there before stays, texts as well, whatever their size.
func TestARoomReleasesWhatCameAfterAMark(t *testing.T) {
	text := func(n, size int) string { return strings.Repeat(string(rune('a'+n%26)), size) }
	room := bag.BorrowRoom()
	defer room.Return()
	add := func(n, size int) *bag.Message {
		m := room.Add()
		m.Raw = room.Keep(append(room.Texts(), text(n, size)...))
		return m
	}
	var kept []*bag.Message
	sizes := []int{0, 1, 300, 4095, 4097, 40_000}
	for n := range 500 {
		kept = append(kept, add(n, sizes[n%len(sizes)]))
		before := room.Mark()
		for i := range n % 200 {
			add(n+i+1, sizes[(n+i)%len(sizes)])
		}
		room.Release(before)
		if m := add(n+7, 100); m.PNR != "" || m.Raw != text(n+7, 100) {
			t.Fatalf("after %d: %+v", n, m)
		}
		room.Release(before)
	}
	for n, m := range kept {
		if m.Raw != text(n, sizes[n%len(sizes)]) {
			t.Errorf("text %d has changed", n)
		}
	}
	for _, m := range kept[1:] {
		if m == kept[0] {
			t.Error("a message was given twice")
		}
	}
}
