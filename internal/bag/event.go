package bag

import (
	"context"

	"bagtrail/parser"
)

// eventRule returns the event of a message that names the plate, by the event table (rules §2). It
// is called with the messages of a bag in the order of events.
type eventRule func(*currentBSMs, Plate, *Message) EventCode

// eventRules has the rule of each kind of message.
var eventRules = [...]eventRule{
	parser.BSM: (*currentBSMs).sourceEvent,
	parser.BPM: func(_ *currentBSMs, _ Plate, m *Message) EventCode { return processingEvent(m) },
}

// If the parser accepts a kind that has no rule, this does not compile.
var _ [parser.KindCount]eventRule = eventRules

// events makes the events of a bag from its messages, which are in the order of events. It also
// returns the BSMs that are current after the last message. It fails only with the error of ctx.
func (r Rules) events(ctx context.Context, plate Plate, messages []*Message) ([]Event, *currentBSMs, error) {
	current := r.newCurrentBSMs(messages)
	made := make([]Event, 0, len(messages)+2)
	for _, m := range messages {
		if err := ctx.Err(); err != nil { // a DEL compares all onward flights of the current BSMs
			return nil, nil, err
		}
		made = append(made, eventRules[m.Kind](current, plate, m).of(m))
	}
	return made, current, nil
}

func (c EventCode) of(m *Message) Event {
	return Event{Code: c.Code, Description: c.Description, Sets: c.Sets, Message: m}
}

// predecessor describes the BSM before another one at its airport, or the onward flight from there
// that the BSM of another airport names (rules §3, legs).
type predecessor struct {
	flight          Flight // zero if there is none
	passengerStatus string
}

// sourceEvent adds a source message, such as a BSM, and returns its event.
func (c *currentBSMs) sourceEvent(plate Plate, m *Message) EventCode {
	var before predecessor
	if m.Change == parser.Revise {
		before = c.predecessor(m)
	}
	c.add(m)
	switch {
	case m.Change == parser.Delete:
		return entry(EventCancelled)
	case m.Rush || plate[0] == '2':
		return entry(EventReflighted)
	case m.Change == parser.Revise && !before.flight.IsZero() && before.flight != m.Outbound.Flight:
		return entry(EventRerouted)
	case m.Change == parser.Revise && m.PassengerStatus == "B" && before.passengerStatus != "B":
		return entry(EventPaxBoarded)
	}
	return entry(EventExpected)
}

// processingEvent returns the event of a processing message, such as a BPM, that names the bag.
func processingEvent(m *Message) EventCode {
	arrives := m.onArrival()
	switch {
	case m.Irregularity == parser.StatusLoadedUnauthorised:
		return unauthorisedEvent(m, arrives)
	case m.Irregularity == parser.StatusOffloaded:
		return entry(EventOffloaded)
	case m.Irregularity != "":
		return entry(m.Irregularity)
	}
	if code, loading := loadingEvent(m); loading {
		if arrives {
			return entry(EventArrived)
		}
		return entry(code)
	}
	switch m.Screening {
	case parser.Refused:
		return entry(EventScreeningFailed)
	case parser.Cleared:
		return entry(EventScreeningPassed)
	case parser.Screened:
		return entry(EventScreened)
	}
	code := scanEvent(m)
	switch {
	case code != EventLoadedOnAircraft:
	case arrives:
		code = EventArrived
	case m.Outbound.IsZero(): // and no .I
		code = EventTracked
	}
	return entry(code)
}

// unauthorisedEvent returns the event of the NAL row.
func unauthorisedEvent(m *Message, arrives bool) EventCode {
	e := entry(EventLoadedUnauthorised)
	switch {
	case arrives:
		e.Sets = NoStatus
	case m.hasDevice() && m.Compartment == "":
		e.Sets = InContainer
	}
	return e
}

// onArrival reports whether a BPM is on arrival (rules §2): its flight brings the bag to its airport.
func (m *Message) onArrival() bool {
	return m.Arriving || m.Outbound.IsZero() && !m.Inbound.IsZero()
}

// loadingEvent returns the event code of the .U rows.
func loadingEvent(m *Message) (code string, loading bool) {
	switch {
	case m.Compartment != "" && m.Compartment != m.Airport:
		return EventLoadedOnAircraft, true
	case m.hasDevice():
		return EventLoadedInContainer, true
	}
	return "", false
}

// scanEvent returns the event code of the .J rows.
func scanEvent(m *Message) string {
	if !m.Processing.Present {
		return EventLoadedOnAircraft
	}
	switch m.Processing.Code {
	case 'S':
		return EventSorted
	case 'G':
		return EventGroundTracked
	case 'H':
		return EventHandScanned
	case 'R':
		return EventLoadedOnAircraft
	}
	return EventTracked
}
