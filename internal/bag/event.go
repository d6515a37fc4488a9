package bag

import (
	"context"

	"bagtrail/parser"
)

// eventRule returns the event of a message that names plates, by the event table (rules §2).
type eventRule func(*history, *Message) EventCode

// eventRules has the rule of each kind of message.
var eventRules = [...]eventRule{
	parser.BSM: (*history).sourceEvent,
	parser.BPM: func(_ *history, m *Message) EventCode { return processingEvent(m) },
}

// If the parser accepts a kind that has no rule, this does not compile.
var _ [parser.KindCount]eventRule = eventRules

// history makes the events of a bag. Its messages are added in the order of events.
type history struct {
	plate   Plate
	current *currentBSMs
}

// events makes the events of a bag from its messages, which are in the order of events. It also
// returns the BSMs that are current after the last of them. It fails only with the error of ctx.
func (r Rules) events(ctx context.Context, plate Plate, messages []*Message) ([]Event, *currentBSMs, error) {
	h := history{plate, r.newCurrentBSMs(messages)}
	made := make([]Event, 0, len(messages)+2)
	for _, m := range messages {
		if err := ctx.Err(); err != nil { // a DEL compares all onward flights of the current BSMs
			return nil, nil, err
		}
		made = append(made, eventRules[m.Kind](&h, m).of(m))
	}
	return made, h.current, nil
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

// sourceEvent returns the event of a source message, such as a BSM.
func (h *history) sourceEvent(m *Message) EventCode {
	var before predecessor
	if m.Change == parser.Revise {
		before = h.current.predecessor(m)
	}
	h.current.add(m)
	switch {
	case m.Change == parser.Delete:
		return entry(EventCancelled)
	case m.Rush || h.plate[0] == '2':
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
	case m.Device != "" && m.Compartment == "":
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
	case m.Device != "":
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
