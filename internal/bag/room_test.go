package bag_test

import (
	"runtime"
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
