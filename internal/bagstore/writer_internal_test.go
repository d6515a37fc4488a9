package bagstore

import (
	"fmt"
	"testing"

	"bagtrail/internal/bagstore/codec"
)

func TestABatchHoldsTheValueOfAMessageOnce(t *testing.T) {
	b, value := &batch{}, make([]byte, 4000)
	for owner := range 2 {
		before := len(b.text)
		for i := range 20 {
			start := len(b.text)
			b.text = fmt.Appendf(b.text, "b:%010d", i)
			b.set(b.end(start), owner, codec.Identity{}, value)
		}
		if grown := len(b.text) - before; grown > len(value)+20*(12+8) {
			t.Errorf("the text grows by %d bytes", grown)
		}
	}
	if b.full() || b.values != 40*4000 {
		t.Errorf("%d bytes of values", b.values)
	}
	for range 30 { // what is sent counts, not what is held
		b.set(span{}, 1, codec.Identity{}, value)
	}
	if !b.full() {
		t.Errorf("%d bytes of values are to be sent at once", b.values)
	}
	text := string(b.text)
	for i, c := range b.commands {
		if got := c.value.of(text); got != string(value) {
			t.Fatalf("command %d sends %d bytes", i, len(got))
		}
	}
	b.reset()
	b.set(span{}, 1, codec.Identity{}, []byte("another"))
	if got := b.commands[0].value.of(string(b.text)); got != "another" {
		t.Errorf("after a reset %q is sent", got)
	}
}
