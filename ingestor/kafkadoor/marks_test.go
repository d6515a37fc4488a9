package kafkadoor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"bagtrail/ingestor"
)

// marker implements ingestor.Marks.
type marker func(*ingestor.Batch) error

// Mark implements ingestor.Marks.
func (m marker) Mark(_ context.Context, b *ingestor.Batch) error { return m(b) }

// Who marks must know which records an owner before may have handled, since a reader may have seen a
// state that the index has lost; and which ones a door of the service has filed itself.
func TestMarksLearnWhatMayHaveBeenHandledBeforeAndWhatADoorHasFiled(t *testing.T) {
	w := newWorld(t, 4)
	if _, err := w.poster().Accept(t.Context(), envelopeOf(message(0))); err != nil { // as the HTTP door does
		t.Fatal(err)
	}
	w.produce(0, records(1, 1)...)
	var learned sync.Map // by text
	w.consume(marker(func(b *ingestor.Batch) error {
		for i, env := range b.Envelopes {
			learned.Store(env.Raw, fmt.Sprintf("%v, again %t, relayed %t", b.Outcomes[i].Verdict, env.Again, env.Relayed))
		}
		return nil
	}))
	w.waitCommitted(2)
	w.produce(0, records(2, 1)...)
	w.waitCommitted(3)
	for i, want := range []string{
		"duplicate, again true, relayed true", "accepted, again true, relayed false", "accepted, again false, relayed false",
	} {
		if got, _ := learned.Load(message(i)); got != want {
			t.Errorf("record %d: %v, want %s", i, got, want)
		}
	}
}

func TestOffsetsStandStillWhileNothingCanBeMarked(t *testing.T) {
	w := newWorld(t, 1)
	var away atomic.Bool
	away.Store(true)
	var marked sync.Map // plates
	w.produce(0, append(records(0, 10), record("BSM"))...)
	w.consume(marker(func(b *ingestor.Batch) error {
		if away.Load() {
			return errors.New("the broker is away")
		}
		for _, o := range b.Outcomes {
			for _, e := range o.Filing.Entries {
				marked.Store(e.Plate, true)
			}
		}
		return nil
	}))
	w.eventually("it is tried again", func() bool { return w.metrics.retried("marks") > 3 })
	if got := w.committed()[0]; got > 0 {
		t.Errorf("committed %d although nothing is marked", got)
	}
	away.Store(false)
	w.waitCommitted(11)
	for i := range 10 {
		if _, ok := marked.Load(plate(i)); !ok {
			t.Errorf("%s is not marked", plate(i))
		}
	}
}
