package webhooks

import (
	"testing"

	"go.uber.org/zap"

	"bagtrail/internal/kafka"
	"bagtrail/internal/strictjson"
)

// Otherwise a customer who changes its webhooks without end has the senders of all others read the
// index without end.
func TestAChangedDefinitionWakesItsOwnSenderAlone(t *testing.T) {
	table := newTable(nil, "", zap.NewNop())
	next := int64(0)
	take := func(key string, value []byte) {
		next++
		table.take(0, kafka.Batch{Records: []kafka.Record{{Key: []byte(key), Value: value}}, Next: next})
	}
	define := func(id string) { take(id, strictjson.Encode(Definition{ID: id, Customer: "C"})) }
	woken := func(channel <-chan struct{}) bool {
		select {
		case <-channel:
			return true
		default:
			return false
		}
	}
	define("one")
	define("two")
	for _, change := range []struct {
		what string
		do   func()
	}{
		{"a change", func() { define("one") }},
		{"a deletion", func() { take("one", nil) }},
	} {
		_, one, _ := table.watch("one")
		_, two, there := table.watch("two")
		_, all := table.in(0)
		change.do()
		if !woken(one) || woken(two) || !woken(all) || !there {
			t.Errorf("%s wakes: its sender %t, another %t, the owner %t", change.what, woken(one), woken(two), woken(all))
		}
	}
	if _, _, there := table.watch("one"); there {
		t.Error("the deleted webhook is there")
	}
	_, two, _ := table.watch("two")
	take("two"+positionSuffix, strictjson.Encode(Position{Cursor: "c"}))
	if w, _, _ := table.watch("two"); woken(two) || w.At.Cursor != "c" {
		t.Errorf("a position wakes a sender (%t), or is not kept: %+v", woken(two), w.At)
	}
}
