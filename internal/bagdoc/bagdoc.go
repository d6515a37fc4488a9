// Package bagdoc writes a bag as the JSON document of /v1, for answers to queries and for changes.
//
// A Writer belongs to one asker. It takes complete bags and writes only what the asker sees. It
// leaves out members without a value. Equal bags and equal reference data give equal bytes.
package bagdoc

import (
	"slices"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/flightref"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/trail"
)

// Fields selects how much of a bag is written.
type Fields uint8

// The fields.
const (
	Brief  Fields = iota // every event, with only its id, code, airport and time
	List                 // the last event
	Events               // every event
	Raw                  // every event, with the text of its message
)

// References is the flight reference; *flightref.Store implements it.
type References interface {
	// Lookup returns the reference data of a leg. An airport "" matches every airport.
	Lookup(f bag.Flight, origin, destination string) (*flightref.Reference, bool)
	// Departure returns the reference data by which a flight departs from an airport. If from is ""
	// and the flight has several legs, it is that of the leg that arrives at to.
	Departure(f bag.Flight, from, to string) (*flightref.Reference, bool)
}

// Writer writes bags for one asker.
type Writer struct {
	Viewer     *bag.Viewer // of the asker; nil sees everything
	Airports   *airport.Library
	References References
	Fields     Fields
	ShowsRaw   func(*bag.Message) bool // reports whether the asker may read the text of a message; for Raw
	MaxEvents  int                     // only the newest MaxEvents events of a bag are written; 0: no limit
	Part       func([]byte) []byte     // if set, called with the buffer after each event; its result is the buffer from then on
}

// Append appends a bag. If the asker does not see the bag, it appends nothing and returns false.
func (w *Writer) Append(dst []byte, t trail.Traced) (_ []byte, ok bool) {
	seen := w.Viewer.View(t.Bag)
	if seen == nil {
		return dst, false
	}
	t.Bag = seen
	dst = strictjson.AppendText(append(dst, '{'), "plate", string(seen.Plate))
	dst = strictjson.AppendBool(dst, "unknown", seen.Unknown)
	dst = strictjson.AppendBool(dst, "rush", seen.Rush)
	dst = strictjson.AppendBool(dst, "cancelled", seen.Cancelled)
	dst = appendPassenger(dst, seen)
	dst = appendChecked(dst, seen)
	dst = append(dst, `,"legs":[`...)
	for i := range seen.Legs {
		dst = strictjson.AppendComma(dst)
		dst = w.appendLeg(dst, t, &seen.Legs[i])
	}
	dst = append(dst, `],"events":[`...)
	first := 0
	if w.Fields == List {
		first = len(seen.Events) - 1
	} else if w.MaxEvents > 0 {
		first = max(0, len(seen.Events)-w.MaxEvents)
	}
	for i := first; i < len(seen.Events); i++ {
		dst = strictjson.AppendComma(dst)
		dst = w.appendEvent(dst, seen, &seen.Events[i])
		if w.Part != nil {
			dst = w.Part(dst)
		}
	}
	dst = append(dst, ']')
	if first > 0 && w.Fields != List {
		dst = strictjson.AppendNumber(dst, "events_left_out", first)
	}
	originals := w.originals(seen)
	if len(originals) > 0 {
		dst = strictjson.AppendTexts(dst, "originals", originals)
	}
	dst = strictjson.AppendMember(dst, "rush_plate", string(RushPlate(seen, w.Viewer)))
	chain := t.Chain
	if len(originals) > 0 && len(chain) > 0 && chain[0] == seen.Plate {
		chain = append([]bag.Plate{originals[0]}, chain...) // only the plate of the original is known
	}
	if len(chain) > 1 {
		dst = strictjson.AppendTexts(dst, "chain", chain)
	}
	return append(strictjson.AppendInstant(dst, "changed", w.changed(t)), '}'), true
}

// changed returns the received time of the newest message that has changed the bag: a message of
// the bag, or a message of its rush bag that set a status. Only messages that the asker sees count.
func (w *Writer) changed(t trail.Traced) time.Time {
	newest := t.Bag.LastEvent()
	for i := range t.Bag.Legs {
		if _, by := w.cause(t, &t.Bag.Legs[i]); by != nil && by.Received.After(newest) {
			newest = by.Received
		}
	}
	return newest
}

func appendPassenger(dst []byte, b *bag.Bag) []byte {
	return strictjson.AppendGroup(dst, "passenger", "{}", func(dst []byte) []byte {
		dst = strictjson.AppendMember(dst, "last_name", b.Surname)
		dst = strictjson.AppendMember(dst, "first_name", b.GivenName)
		dst = strictjson.AppendMember(dst, "pnr", b.PNR)
		dst = strictjson.AppendMember(dst, "status", b.PassengerStatus)
		return strictjson.AppendMember(dst, "frequent_flyer", b.FrequentFlyer)
	})
}

func appendChecked(dst []byte, b *bag.Bag) []byte {
	return strictjson.AppendGroup(dst, "checked", "{}", func(dst []byte) []byte {
		dst = strictjson.AppendNumber(dst, "bags", b.Pieces)
		dst = strictjson.AppendNumber(dst, "weight", b.Weight)
		return strictjson.AppendMember(dst, "unit", b.WeightUnit)
	})
}

func (w *Writer) appendLeg(dst []byte, t trail.Traced, l *bag.Leg) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "airline", l.Carrier)
	dst = strictjson.AppendMember(dst, "flight", l.Number)
	dst = strictjson.AppendMember(dst, "date", l.Day.String())
	dst = strictjson.AppendMember(dst, "from", l.From)
	dst = strictjson.AppendMember(dst, "to", l.To)
	dst = strictjson.AppendBool(dst, "living", l.Living)
	dst = strictjson.AppendMember(dst, "seat", l.Seat)
	if l.Status != bag.NoStatus {
		dst = strictjson.AppendMember(dst, "status", l.Status.String())
		dst = w.appendCause(dst, t, l)
	}
	if reference, known := w.References.Lookup(l.Flight, l.From, l.To); known {
		dst = AppendTimes(dst, "departure", reference.Departure)
		dst = AppendTimes(dst, "arrival", reference.Arrival)
	}
	return append(dst, '}')
}

// appendCause appends the event that set the status of a leg, and its time, if the asker sees that
// event. If the flight left without the bag, the time is that of its departure.
func (w *Writer) appendCause(dst []byte, t trail.Traced, l *bag.Leg) []byte {
	if l.LeftWithoutBag {
		if reference, known := w.References.Departure(l.Flight, l.From, l.To); known {
			at, _ := reference.Departure.Best()
			dst = strictjson.AppendInstant(dst, "status_since", at)
		}
		return strictjson.AppendMember(dst, "status_event", "departed")
	}
	plate, by := w.cause(t, l)
	if by == nil {
		return dst
	}
	dst = strictjson.AppendInstant(dst, "status_since", by.Happened)
	return strictjson.AppendMember(dst, "status_event", bag.EventID(plate, by))
}

// cause returns the message that set the status of a leg, and the plate of its event: that of the
// bag itself or of its rush bag. The message is nil if there is none, or if the asker does not see
// it.
func (w *Writer) cause(t trail.Traced, l *bag.Leg) (bag.Plate, *bag.Message) {
	switch {
	case l.SetBy == nil:
		return "", nil
	case hasEvent(t.Bag, l.SetBy):
		return t.Bag.Plate, l.SetBy
	case t.LeftBy != nil:
		if rush := w.Viewer.View(t.LeftBy); rush != nil && hasEvent(rush, l.SetBy) {
			return rush.Plate, l.SetBy
		}
	}
	return "", nil
}

// hasEvent reports whether a message is an event of a bag.
func hasEvent(b *bag.Bag, m *bag.Message) bool {
	return slices.ContainsFunc(b.Events, func(e bag.Event) bool { return e.Message == m })
}

func (w *Writer) appendEvent(dst []byte, seen *bag.Bag, e *bag.Event) []byte {
	m := e.Message
	dst = strictjson.AppendText(append(dst, '{'), "id", bag.EventID(seen.Plate, m))
	dst = strictjson.AppendMember(dst, "code", e.Code)
	if w.Fields == Brief {
		dst = strictjson.AppendMember(dst, "airport", m.Airport)
		return append(strictjson.AppendInstant(dst, "happened", m.Happened), '}')
	}
	dst = strictjson.AppendMember(dst, "description", e.Description)
	dst = strictjson.AppendMember(dst, "airport", m.Airport)
	dst = appendHappened(dst, m, w.Airports)
	dst = strictjson.AppendInstant(dst, "received", m.Received)
	dst = strictjson.AppendNumber(dst, "leg", w.legOf(seen, m))
	shown := bagjson.EventContext{Unknown: seen.Unknown, Raw: w.Fields == Raw && w.ShowsRaw(m), Reflighted: Reflighted(seen, e, w.Viewer)}
	return append(bagjson.AppendEventDetails(dst, e, w.Airports, shown), '}')
}

// appendHappened appends the time of an event, in UTC and in the local time of its airport.
func appendHappened(dst []byte, m *bag.Message, airports *airport.Library) []byte {
	dst = strictjson.AppendInstant(dst, "happened", m.Happened)
	return strictjson.AppendTime(dst, "local", m.Happened.In(airports.TimeZone(m.Airport)), strictjson.Millis)
}

// legOf returns the index in Legs of the leg that a message concerns, or -1. This is the leg of its
// .F or, if it has none, of its .I. If several legs have that flight, it is the leg that departs
// from the airport of the message or, if the flight arrives there, the leg that arrives there.
// Airports that are one place are one airport (rules §3, legs).
func (w *Writer) legOf(b *bag.Bag, m *bag.Message) int {
	f, arrives := m.Outbound.Flight, m.Arriving
	if f.IsZero() {
		f, arrives = m.Inbound.Flight, true
	}
	found := -1
	for i := range b.Legs {
		l := &b.Legs[i]
		end := l.From
		if arrives {
			end = l.To
		}
		if l.Flight == f && (found < 0 || w.Airports.SamePlace(end, m.Airport)) {
			found = i
		}
	}
	return found
}

// originals returns the plates of the originals in the REFLIGHTED events, without duplicates.
func (w *Writer) originals(seen *bag.Bag) (plates []bag.Plate) {
	for i := range seen.Events {
		if r := Reflighted(seen, &seen.Events[i], w.Viewer); r != nil && !slices.Contains(plates, r.Plate) {
			plates = append(plates, r.Plate)
		}
	}
	return plates
}

// RushPlate returns the plate under which a bag, or a view of it, was re-flighted last, or "".
func RushPlate(b *bag.Bag, viewer *bag.Viewer) bag.Plate {
	if b.RushTag == nil || !viewer.SeesFounder(b) || !viewer.SeesFounder(b.RushTag) {
		return ""
	}
	return b.RushTag.Plate
}

// Reflighted returns the data that a REFLIGHTED event of b shows about the original bag. If the
// viewer may not see the original, the data is only the plate that the message of the event itself
// names. It returns nil for any other event.
func Reflighted(b *bag.Bag, e *bag.Event, viewer *bag.Viewer) *bag.Reflighted {
	if e.Code != bag.EventReflighted {
		return nil
	}
	r := b.OriginalOf(e)
	if r == nil || viewer == nil {
		return r
	}
	if viewer.SeesFounder(b) && r.Bag != nil && viewer.SeesFounder(r.Bag) {
		seen := *r
		if !slices.ContainsFunc(viewer.View(r.Bag).Legs, func(l bag.Leg) bool { return l.Flight == r.Flight }) {
			seen.Flight = bag.Flight{}
		}
		return &seen
	}
	if e.Message.Original == "" {
		return nil
	}
	return &bag.Reflighted{Plate: e.Message.Original}
}

// AppendTimes appends the times of one end of a flight. If none is known, it appends nothing.
func AppendTimes(dst []byte, name string, t flightref.Times) []byte {
	return strictjson.AppendGroup(dst, name, "{}", func(dst []byte) []byte {
		dst = strictjson.AppendInstant(dst, "scheduled", t.Scheduled)
		dst = strictjson.AppendInstant(dst, "estimated", t.Estimated)
		return strictjson.AppendInstant(dst, "actual", t.Actual)
	})
}
