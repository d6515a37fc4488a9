package webhooks

import (
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/internal/kafka"
	"bagtrail/internal/secret"
	"bagtrail/internal/strictjson"
)

func TestEachSecretIsGoodForADayAfterItsReplacement(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &Service{conf: Config{Secret: secret.Secret("0123456789012345678901234567890123456789"), Now: func() time.Time { return at }}}
	d := &Definition{ID: "wh_1", Secret: 1}
	for _, step := range []struct {
		after   time.Duration
		replace bool
		want    []int
	}{
		{0, false, []int{1}},
		{0, true, []int{2, 1}},
		{time.Hour, true, []int{3, 2, 1}}, // a customer whose first answer was lost asks again
		{22 * time.Hour, false, []int{3, 2, 1}},
		{time.Hour, false, []int{3, 2}},
		{time.Hour, false, []int{3}},
		{0, true, []int{4, 3}},
		{0, true, []int{5, 4, 3}},
		{0, true, []int{6, 5, 4, 3}},
		{0, true, []int{7, 6, 5, 4, 3}},
		{0, true, []int{8, 7, 6, 5, 4}}, // no more than the latest four
	} {
		at = at.Add(step.after)
		if step.replace {
			d.replaceSecret(at)
		}
		got := s.secrets(d)
		if len(got) != len(step.want) {
			t.Fatalf("%v: %d secrets, want %v", step, len(got), step.want)
		}
		for i, n := range step.want {
			if got[i] != DeriveSecret(s.conf.Secret, "wh_1", n) {
				t.Errorf("%v: secret %d is not number %d", step, i, n)
			}
		}
	}
}

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
