package bagstore

import (
	"fmt"
	"testing"
	"unsafe"

	"bagtrail/internal/bagstore/codec"
)

func TestABatchHoldsTheValueOfAMessageOnce(t *testing.T) {
	b, value, identity := &batch{}, string(make([]byte, 4000)), string(make([]byte, len(codec.Identity{})))
	for i := range 40 {
		b.add(nil, "hset", fmt.Sprintf("b:%010d", i), identity, value)
	}
	for _, c := range b.commands {
		if held, _ := c.args[3].(string); unsafe.StringData(held) != unsafe.StringData(value) {
			t.Fatal("a command has a copy of the value")
		}
	}
	if b.full() {
		t.Errorf("%d bytes of values are a full batch", b.bytes)
	}
	for range 30 { // what is sent counts, not what is held
		b.add(nil, "hset", "b:0220000001", identity, value)
	}
	if !b.full() {
		t.Errorf("%d bytes of values are no full batch", b.bytes)
	}
}
