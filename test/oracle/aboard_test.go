package oracle_test

import (
	"testing"

	"bagtrail/test/oracle"
)

// notAboard returns a leg of the bag that shows as Loaded although the last event at its departure
// says that the bag is not on board. Only events of flights that leave the airport, or of no
// flight, count.
func notAboard(b *oracle.Bag) (leg oracle.Leg, last oracle.Event, wrong bool) {
	for _, l := range b.Legs {
		if !l.Living || l.Status != "Loaded on Aircraft" && l.Status != "Loaded in Container" {
			continue
		}
		var last oracle.Event
		for _, e := range b.Events {
			leaves := e.Outbound == nil || !library.SamePlace(e.Outbound.Destination, e.Airport)
			if e.Code == "NAL" && e.Outbound == nil && e.Inbound != nil { // on arrival it does not say where the bag is
				continue
			}
			if l.From != "" && library.SamePlace(e.Airport, l.From) && leaves && saysWhere[e.Description] {
				last = e
			}
		}
		switch last.Code {
		case "", "LOADED_ON_AIRCRAFT", "LOADED_IN_CONTAINER", "NAL":
		default:
			return l, last, true
		}
	}
	return oracle.Leg{}, oracle.Event{}, false
}

// saysWhere holds the descriptions of BPM events that say whether a bag is on board.
var saysWhere = map[string]bool{
	"Bag Offloaded": true, "Bag on Hand, Not Authorised to Load": true, "Bag on Hand, Authorised to Load": true, "Bag Unseen": true,
	"Bag Irregularity": true, "Bag Loaded, Not Authorised to Load": true, "Bag Loaded on Aircraft": true, "Bag Loaded in Container": true,
}

// It checks the oracle in every world, and the service, which must answer like the oracle, in some.
func TestNoBagShowsAsLoadedThatItsDepartureSaidIsNot(t *testing.T) {
	loaded := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*worlds); seed++ {
		inputs := worldOf(seed)
		truth := oracle.New(inputs, settings)
		by := []answers{truth}
		if seed%20 == 0 {
			by = append(by, newWorld(t, inputs, settings))
		}
		for _, plate := range truth.Plates() {
			for _, a := range by {
				for _, b := range a.Bags(plate) {
					if l, last, wrong := notAboard(b); wrong {
						t.Fatalf("seed %d: %T: bag %s is %s on %s%s from %s, where the last word was %s",
							seed, a, plate, l.Status, l.Airline, l.Number, l.From, last.Code)
					}
					loaded += loadedLegs(b)
				}
			}
		}
	}
	if loaded == 0 {
		t.Fatal("no bag is loaded in any world")
	}
}

func loadedLegs(b *oracle.Bag) int {
	n := 0
	for _, l := range b.Legs {
		if l.Status == "Loaded on Aircraft" || l.Status == "Loaded in Container" {
			n++
		}
	}
	return n
}
