package changefeed_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/pause"
)

// keeper follows a cursor and keeps the latest state of each plate, as docs/v1.md tells readers to do.
type keeper struct {
	*reader
	states map[bag.Plate]string
}

func (w *world) keeper(airlines, airports string, f changefeed.Filter) *keeper {
	w.t.Helper()
	return &keeper{w.reader(key(airlines, airports), f), map[bag.Plate]string{}}
}

// follow takes all changes that follow the cursor.
func (k *keeper) follow() {
	k.t.Helper()
	k.each(func(c changefeed.Change) {
		var document struct{ Bags json.RawMessage }
		k.unmarshal(c.Document, &document)
		k.states[c.Plate] = string(document.Bags)
	})
}

// queried returns the bags of a plate as the queries show them to the key now.
func (k *keeper) queried(plate bag.Plate) string {
	k.t.Helper()
	sight := k.asker.Key.SightIfLimited(k.feed.Airports)
	traced, err := k.feed.Trails.For(sight).Trace(k.t.Context(), []bag.Plate{plate}, k.feed.Clock())
	if err != nil {
		k.t.Fatal(err)
	}
	w := bagdoc.Writer{
		Viewer: bag.NewViewer(k.t.Context(), sight), Airports: k.feed.Airports, References: k.feed.References, Fields: bagdoc.Events, MaxEvents: 100,
	}
	dst := []byte("[")
	for _, b := range traced {
		if w.Viewer.View(b.Bag) == nil {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst, _ = w.Append(dst, b)
	}
	return string(append(dst, ']'))
}

// demand fails unless the keeper holds of a plate what the queries show.
func (k *keeper) demand(plate bag.Plate, when string) {
	k.t.Helper()
	k.quiet()
	k.follow()
	if got, want := k.states[plate], k.queried(plate); got != want {
		k.t.Errorf("%s:\nthe reader has    %s\nthe queries show  %s", when, got, want)
	}
}

// quiet waits until everything is told, also what follows from it.
func (w *world) quiet() {
	w.t.Helper()
	for before := int64(-1); ; {
		w.settle()
		_ = pause.For(w.t.Context(), 8*time.Millisecond) // marks that follow are written after their cause is told
		now := w.marked()
		if now == before {
			return
		}
		before = now
	}
}

const (
	original = "0724100001"
	rush     = "2724100003"

	// reflight re-flights the original as the rush bag.
	reflight = "BSM .V/1LZRH .F/LX200/15MAR/JFK .N/" + rush + "001 .P/MUELLER .L/ABC123 .M/" + original + " ENDBSM"
)

// For the owner, who sees everything, the original stays the same.
func TestAnOriginalIsToldToAKeyThatSeesMoreOfItsRushBag(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("LX", "*", changefeed.Filter{})
	w.send(bsm(original, "LX100", "MUELLER", "ABC123"))
	w.send("BSM .V/1LZRH .F/BA200/15MAR/JFK .N/" + rush + "001 .M/" + original + " ENDBSM")
	k.demand(original, "re-flighted by a message without a name")
	w.send(reflight)
	k.demand(original, "the key sees the first message of the rush bag that names the passenger")
}

func TestAnOriginalThatDoesNotFitItsRushBagAnyMoreIsTold(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("*", "*", changefeed.Filter{})
	w.send(bsm(original, "LX100", "MUELLER", "ABC123"))
	w.send(reflight)
	k.demand(original, "re-flighted")
	w.send("BPM .V/1LZRH .J/S .I/LX78/13MAR/GVA .F/LX200/15MAR/JFK .N/" + rush + "001 ENDBPM")
	k.demand(original, "the rush bag began earlier than the original")
}

func TestAPlateThatARushBagNamesAndNobodyHasSeenIsNotTold(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("*", "*", changefeed.Filter{})
	w.send(reflight)
	k.demand(rush, "without an original")
	if state, told := k.states[original]; told {
		t.Errorf("the plate without messages is told as %s", state)
	}
}

// The event keeps its id, but its received time is another.
func TestACopyThatWasReceivedEarlierIsTold(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("*", "*", changefeed.Filter{})
	const timed = "BPM .V/1LZRH .J/S//B1/14MAR/055000Z .F/LX100/14MAR/JFK .N/0724100001001 ENDBPM"
	w.send(bsm(original, "LX100", "MUELLER", "ABC123"), timed)
	at := w.received
	w.send(sorting(original, "LX100"))
	k.demand(original, "before")
	w.file(at.Add(-10*time.Second), timed)
	k.demand(original, "a copy that was received earlier has come")
}

// One of the events that the key sees is replaced. It is far behind the newest 100 of all events.
func TestAKeyThatSeesFewOfManyEventsIsToldOfAnOldOne(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("LX", "*", changefeed.Filter{})
	w.send(bsm(original, "BA200", "SMITH", "DEF456"), sorting(original, "LX100"))
	late := w.received.Add(-5 * time.Second)
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf("BPM .V/1LZRH .J/S//B%d/14MAR/0603%02dZ .F/BA200/14MAR/JFK .N/0724100001001 ENDBPM", i, i%60))
	}
	w.received = w.received.Add(2 * time.Minute)
	w.now.Store(w.received.Unix())
	w.file(w.received, many...)
	k.demand(original, "before")
	w.file(late, sorting(original, "LX100"))
	k.demand(original, "a copy that was received earlier has come")
}
