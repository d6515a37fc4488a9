package bag

import (
	"slices"
	"strings"

	"bagtrail/parser"
)

// EventCode is one row of the event table (rules §2).
type EventCode struct {
	Code        string
	Description string
	Sets        Status // the loading status that it sets, or NoStatus
}

// The event codes. EventCodes lists them; LOADED_ON_AIRCRAFT and NAL stand for every way to them.
var (
	cancelled         = EventCode{"CANCELLED", "Bag Cancelled", NoStatus}
	reflighted        = EventCode{"REFLIGHTED", "Bag Re-flighted", NoStatus}
	rerouted          = EventCode{"REROUTED", "Bag Rerouted", NoStatus}
	paxBoarded        = EventCode{"PAX_BOARDED", "Passenger Boarded", NoStatus}
	expected          = EventCode{"EXPECTED", "Bag Expected", NoStatus}
	offloaded         = EventCode{"OFFLOADED", "Bag Offloaded", Offloaded}
	onHand            = EventCode{"OND", "Bag on Hand, Not Authorised to Load", NotLoaded}
	onHandAuthorised  = EventCode{"ONA", "Bag on Hand, Authorised to Load", NotLoaded}
	unseen            = EventCode{"UNS", "Bag Unseen", NotLoaded}
	nalInContainer    = EventCode{"NAL", "Bag Loaded, Not Authorised to Load", InContainer}
	nalOnArrival      = EventCode{"NAL", "Bag Loaded, Not Authorised to Load", NoStatus}
	nalOnAircraft     = EventCode{"NAL", "Bag Loaded, Not Authorised to Load", OnAircraft}
	loadedOnAircraft  = EventCode{"LOADED_ON_AIRCRAFT", "Bag Loaded on Aircraft", OnAircraft}
	loadedInContainer = EventCode{"LOADED_IN_CONTAINER", "Bag Loaded in Container", InContainer}
	arrived           = EventCode{"ARRIVED", "Bag Arrived", NoStatus}
	screeningFailed   = EventCode{"SCREENING_FAILED", "Bag Screening Failed", NoStatus}
	screeningPassed   = EventCode{"SCREENING_PASSED", "Bag Screening Passed", NoStatus}
	screened          = EventCode{"SCREENED", "Bag Screened", NoStatus}
	sorted            = EventCode{"SORTED", "Bag Sorted", NoStatus}
	groundTracked     = EventCode{"GROUND_TRACKED", "Bag Ground Tracked", NoStatus}
	handScanned       = EventCode{"HAND_SCANNED", "Bag Hand Scanned", NoStatus}
	tracked           = EventCode{"TRACKED", "Bag Tracked", NoStatus}
	mishandled        = EventCode{"MISHANDLED", "Bag Mishandled", Delayed}
	checkedIn         = EventCode{"CHECKED_IN", "Bag checked in", NoStatus}
)

// EventCodes lists every event code once. CHECKED_IN is registered, never made. The status codes that a
// configuration adds for an airport become codes of their own, described "Bag Irregularity".
func EventCodes() []EventCode {
	return []EventCode{
		cancelled, reflighted, rerouted, paxBoarded, expected, offloaded, onHand, onHandAuthorised, unseen,
		nalOnAircraft, loadedOnAircraft, loadedInContainer, arrived, screeningFailed, screeningPassed, screened,
		sorted, groundTracked, handScanned, tracked, mishandled, checkedIn,
	}
}

// irregularities are the .B status codes of the practice, other than NAL.
var irregularities = map[string]EventCode{
	"OFF": offloaded, "OND": onHand, "ONA": onHandAuthorised, "UNS": unseen,
}

// predecessor is what a BSM changes: the BSM before it at its airport, or the onward flight that another
// airport's BSM announced from there.
type predecessor struct {
	flight          Flight // zero where there is none
	passengerStatus string
}

// bsmEvent returns the event of a source message.
func bsmEvent(plate Plate, m *Message, before predecessor) EventCode {
	switch {
	case m.Change == parser.Delete:
		return cancelled
	case m.Rush || plate[0] == '2':
		return reflighted
	case m.Change == parser.Revise && !before.flight.IsZero() && before.flight != m.Outbound.Flight:
		return rerouted
	case m.Change == parser.Revise && m.PassengerStatus == "B" && before.passengerStatus != "B":
		return paxBoarded
	}
	return expected
}

// bpmEvent returns the event of a processed message that names the bag.
func (r Rules) bpmEvent(m *Message) EventCode {
	arrives := r.arrives(m)
	switch {
	case m.Irregularity == "NAL" && arrives:
		return nalOnArrival
	case m.Irregularity == "NAL" && m.Device != "" && m.Compartment == "":
		return nalInContainer
	case m.Irregularity == "NAL":
		return nalOnAircraft
	case m.Irregularity != "":
		if code, known := irregularities[m.Irregularity]; known {
			return code
		}
		return EventCode{strings.Clone(m.Irregularity), "Bag Irregularity", NotLoaded} // a code outlasts the message
	}
	if code, loading := loadingEvent(m); loading {
		if arrives {
			return arrived
		}
		return code
	}
	switch m.Screening {
	case parser.Refused:
		return screeningFailed
	case parser.Cleared:
		return screeningPassed
	case parser.Screened:
		return screened
	}
	code := processEvent(m)
	switch {
	case code != loadedOnAircraft:
		return code
	case arrives:
		return arrived
	case m.Outbound.IsZero(): // and no .I
		return tracked
	}
	return code
}

// arrives reports whether a BPM is on arrival (rules §2): its flight is the one that brings the bag to its airport.
func (r Rules) arrives(m *Message) bool {
	if m.Outbound.IsZero() {
		return !m.Inbound.IsZero()
	}
	return r.SamePlace(m.Outbound.Airport, m.Airport)
}

// loadingEvent returns the event of the .U rows.
func loadingEvent(m *Message) (EventCode, bool) {
	switch {
	case m.Compartment != "" && m.Compartment != m.Airport:
		return loadedOnAircraft, true
	case m.Device != "":
		return loadedInContainer, true
	}
	return EventCode{}, false
}

// processEvent returns the event of the .J rows.
func processEvent(m *Message) EventCode {
	if !m.Processing.Present {
		return loadedOnAircraft
	}
	switch m.Processing.Code {
	case 'S':
		return sorted
	case 'G':
		return groundTracked
	case 'H':
		return handScanned
	case 'R':
		return loadedOnAircraft
	}
	return tracked
}

func (c EventCode) of(m *Message) Event {
	return Event{Code: c.Code, Description: c.Description, Sets: c.Sets, Message: m}
}

// events makes the events of a bag from its messages, which are in the order of events.
func (r Rules) events(plate Plate, messages []*Message) []Event {
	made := make([]Event, 0, len(messages)+2)
	var current *sources // nil if no BSM asks for its predecessor
	if slices.ContainsFunc(messages, func(m *Message) bool { return m.Kind == parser.BSM && m.Change == parser.Revise }) {
		current = r.newSources(messages)
	}
	for _, m := range messages {
		if m.Kind == parser.BPM {
			made = append(made, r.bpmEvent(m).of(m))
			continue
		}
		var before predecessor
		if m.Change == parser.Revise {
			before = current.predecessor(m)
		}
		made = append(made, bsmEvent(plate, m, before).of(m))
		if current != nil {
			current.add(m)
		}
	}
	return made
}
