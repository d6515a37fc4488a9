package bagdoc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/flightref"
	"bagtrail/internal/trail"
	"bagtrail/parser"
)

// noFlights is a flight reference that knows no flight.
type noFlights struct{}

func (noFlights) Lookup(bag.Flight, string, string) (*flightref.Reference, bool) { return nil, false }

func (noFlights) Departure(bag.Flight, string, string) (*flightref.Reference, bool) {
	return nil, false
}

// only is the Sight of a key for one airline.
type only string

func (o only) Leg(l bag.Leg) bool { return l.Airline == string(o) }

func (only) Station(string) bool { return false }

var day = bag.DayIn(2026, time.March, 12)

// message is a BSM of a flight from ZRH to JFK, received at an hour of 12 March.
func message(airline string, hour int) *bag.Message {
	at := time.Date(2026, 3, 12, hour, 0, 0, 0, time.UTC)
	return &bag.Message{
		Head:     parser.Head{Kind: parser.BSM, Version: parser.Version{Source: 'L', Airport: "ZRH"}},
		Details:  parser.Details{Surname: "SMITH"},
		Outbound: bag.Segment{Flight: bag.Flight{Airline: airline, Number: "1", Day: day}, Carrier: airline, Airport: "JFK"},
		Received: at, Happened: at, Order: at, LocalDay: day, Text: at.String(),
	}
}

// bagOf is a bag with an event, and a living leg, for each message.
func bagOf(plate bag.Plate, messages ...*bag.Message) *bag.Bag {
	b := &bag.Bag{Plate: plate, Description: bag.Description{Surname: "SMITH", Pieces: -1, Weight: -1}}
	for _, m := range messages {
		b.Events = append(b.Events, bag.Event{Code: bag.EventReflighted, Message: m})
		b.Legs = append(b.Legs, bag.Leg{Flight: m.Outbound.Flight, Carrier: m.Outbound.Carrier, From: "ZRH", To: "JFK", Living: true, Status: bag.NotLoaded})
	}
	return b
}

// document is what a test looks at.
type document struct {
	Legs []struct {
		Seat        string
		Status      string
		StatusEvent string `json:"status_event"`
	}
	Events []struct {
		ID         string
		Leg        *int
		Reflighted *struct {
			Bagtag  string
			Flights *struct{ Airline string }
		} `json:"reflighted_info"`
	}
	LeftOut     int    `json:"events_left_out"`
	RushPlate   string `json:"rush_plate"`
	Chain       []string
	LastEvent   *struct{ Code string } `json:"last_event"`
	Device      string                 `json:"stowage_device"`
	Compartment string                 `json:"aircraft_compartment"`
}

func read(t *testing.T, text []byte) (d document) {
	t.Helper()
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return d
}

func writer(t *testing.T, s bag.Sight) *bagdoc.Writer {
	return &bagdoc.Writer{Viewer: bag.NewViewer(t.Context(), s), Airports: airport.New(), References: noFlights{}, Fields: bagdoc.Events}
}

// written is a bag as a key for one airline sees it.
func written(t *testing.T, s bag.Sight, traced trail.Traced) document {
	t.Helper()
	text, ok := writer(t, s).Append(nil, traced)
	if !ok {
		t.Fatal("the bag is not seen")
	}
	return read(t, text)
}

func TestOnlyTheNewestEventsAreWritten(t *testing.T) {
	b := bagOf("0220000001", message("LX", 1), message("LX", 2), message("LX", 3))
	w := writer(t, nil)
	w.MaxEvents = 2
	text, _ := w.Append(nil, trail.Traced{Bag: b})
	if d := read(t, text); len(d.Events) != 2 || d.Events[0].ID != bag.EventID(b.Plate, b.Events[1].Message) || d.LeftOut != 1 {
		t.Errorf("%s", text)
	}
}

func TestAChainBeginsWithAnOriginalOfWhichOnlyThePlateIsKnown(t *testing.T) {
	b := bagOf("2220000001", message("LX", 1))
	b.Reflighted = []bag.Reflighted{{Plate: "0220000001"}}
	for _, chain := range [][]bag.Plate{{b.Plate}, {"0220000001", b.Plate}} {
		if d := written(t, nil, trail.Traced{Bag: b, Chain: chain}); strings.Join(d.Chain, " ") != "0220000001 2220000001" {
			t.Errorf("of %v: %v", chain, d.Chain)
		}
	}
}

func TestTheCauseOfAStatusIsNotNamedIfItsMessageIsNotSeen(t *testing.T) {
	rush := bagOf("2220000001", message("LX", 3), message("BA", 4))
	original := bagOf("0220000001", message("LX", 1))
	for _, e := range rush.Events {
		original.Legs[0].Status, original.Legs[0].SetBy = bag.Delayed, e.Message
		d := written(t, only("LX"), trail.Traced{Bag: original, LeftBy: rush})
		if seen := e.Message.Outbound.Airline == "LX"; (d.Legs[0].StatusEvent != "") != seen || d.Legs[0].Status != "Delayed" {
			t.Errorf("by %s: %+v", e.Message.Outbound.Airline, d.Legs[0])
		}
	}
}

// The key of LX sees the first messages of the bags of LX.
func TestBagsAreJoinedForAKeyThatSeesTheirFirstMessages(t *testing.T) {
	for _, first := range []string{"LX", "BA"} {
		for _, ofOther := range []string{"LX", "BA"} {
			rush, original := bagOf("2220000001", message(first, 3), message("LX", 4)), bagOf("0220000001", message(ofOther, 1), message("LX", 2))
			for _, e := range rush.Events {
				e.Message.Original = original.Plate
			}
			rush.Reflighted = []bag.Reflighted{{Plate: original.Plate, Flight: original.Legs[1].Flight, Carrier: "LX", Bag: original}}
			original.RushTag = rush
			joined := first == "LX" && ofOther == "LX"
			d := written(t, only("LX"), trail.Traced{Bag: rush})
			if info := d.Events[len(d.Events)-1].Reflighted; info == nil || info.Bagtag != string(original.Plate) || (info.Flights != nil) != joined {
				t.Errorf("first messages of %s and %s: %+v", first, ofOther, info)
			}
			if d := written(t, only("LX"), trail.Traced{Bag: original}); (d.RushPlate != "") != joined {
				t.Errorf("first messages of %s and %s: rush plate %q", first, ofOther, d.RushPlate)
			}
		}
	}
}

func TestAFlightOfTheOriginalThatNoSeenMessageNamesIsNotShown(t *testing.T) {
	rush, original := bagOf("2220000001", message("LX", 3)), bagOf("0220000001", message("LX", 1), message("BA", 2))
	rush.Reflighted = []bag.Reflighted{{Plate: original.Plate, Flight: original.Legs[1].Flight, Carrier: "BA", Bag: original}}
	if info := written(t, only("LX"), trail.Traced{Bag: rush}).Events[0].Reflighted; info == nil || info.Flights != nil {
		t.Errorf("%+v", info)
	}
}

func TestAnEventWithoutAFlightIsAboutNoLeg(t *testing.T) {
	b := bagOf("0220000001", message("LX", 1), message("LX", 2))
	b.Events[1].Message.Outbound = bag.Segment{}
	if d := written(t, nil, trail.Traced{Bag: b}); d.Events[0].Leg == nil || d.Events[1].Leg != nil {
		t.Errorf("%+v", d.Events)
	}
}

// onFlight is a bag as the list of its flight shows it to the key of LX.
func onFlight(t *testing.T, b *bag.Bag, change func(b *bag.Bag, listed *trail.Listed)) document {
	t.Helper()
	leg := &b.Legs[0]
	leg.Status, leg.SetBy = bag.InContainer, b.Events[0].Message
	leg.SetBy.Device, leg.SetBy.Compartment = "AKE1LX", "41L"
	listed := trail.Listed{Bag: b, Leg: *leg}
	if change != nil {
		change(b, &listed)
	}
	w := writer(t, only("LX"))
	return read(t, w.AppendOnFlight(nil, &listed, []trail.Traced{{Bag: w.Viewer.View(b)}}))
}

func TestABagOnAFlightShowsWhereItIsLoadedThere(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *bag.Bag, listed *trail.Listed)
		want   string
	}{
		"loaded":                            {nil, "AKE1LX 41L"},
		"in the compartment of its airport": {func(b *bag.Bag, _ *trail.Listed) { b.Legs[0].SetBy.Compartment = "ZRH" }, "AKE1LX "},
		"offloaded from the container": {func(b *bag.Bag, listed *trail.Listed) {
			b.Legs[0].Status, listed.Leg.Status = bag.Offloaded, bag.Offloaded
		}, " "},
		"by a message that is not seen": {func(b *bag.Bag, _ *trail.Listed) {
			other := message("BA", 2)
			other.Device = "AKE2BA"
			b.Events = append(b.Events, bag.Event{Message: other})
			b.Legs[0].SetBy = other
		}, " "},
	} {
		d := onFlight(t, bagOf("0220000001", message("LX", 1)), c.change)
		if got := d.Device + " " + d.Compartment; got != c.want || d.LastEvent == nil {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestABagOnAFlightHasTheSeatOfTheListWhileTheLegLives(t *testing.T) {
	seat := func(b *bag.Bag, listed *trail.Listed) { b.Legs[0].Seat, listed.Leg.Seat = "14C", "12A" }
	if d := onFlight(t, bagOf("0220000001", message("LX", 1)), seat); d.Legs[0].Seat != "12A" || d.LastEvent == nil {
		t.Errorf("%+v", d)
	}
	past := func(b *bag.Bag, _ *trail.Listed) { b.Legs[0].Living = false }
	if d := onFlight(t, bagOf("0220000001", message("LX", 1)), past); d.LastEvent != nil {
		t.Error("the last event of a bag is shown that has left the list")
	}
}
