package console

import (
	"cmp"
	"strings"

	"bagtrail/internal/bag"
)

// look says how an event is shown.
type look struct {
	icon string
	word string // "" for the description of the event
	mark string // class of its dot on the trail: "set" if it loads the bag, "bad" if something went wrong
}

// looks has the events that are shown differently from all others.
var looks = map[string]look{
	bag.EventLoadedOnAircraft:   {"air", "On aircraft", "set"},
	bag.EventLoadedInContainer:  {"con", "In container", "set"},
	bag.EventLoadedUnauthorised: {"warn", "", "bad"},
	bag.EventOffloaded:          {"off", "", "bad"},
	bag.EventMishandled:         {"del", "Mishandled", "bad"},
	bag.EventReflighted:         {"rush", "", ""},
	bag.EventScreeningFailed:    {"warn", "", "bad"},
	bag.EventUnseen:             {"warn", "", "bad"},
	bag.EventCancelled:          {"warn", "", "bad"},
	bag.EventExpected:           {"info", "", ""},
}

// Icon returns the name of the icon of the event.
func (e eventDoc) Icon() string { return cmp.Or(looks[e.Code].icon, "sort") }

// Mark returns the class of the dot of the event.
func (e eventDoc) Mark() string { return looks[e.Code].mark }

// Word returns the name of the event. Lists of flights have no descriptions.
func (e eventDoc) Word() string {
	description := e.Description
	for _, known := range bag.EventCodes() {
		if description == "" && known.Code == e.Code {
			description = known.Description
		}
	}
	return cmp.Or(looks[e.Code].word, strings.TrimPrefix(description, "Bag "), e.Code)
}

// arrivedWith reports whether the event says that the bag has arrived with the flight of a leg. The
// airline is not compared, since the message may have its other code.
func (e *eventDoc) arrivedWith(l *legDoc) bool {
	on := func(s segmentDoc) bool { return s.Flight == l.Flight && s.Date == l.Date }
	return e.Code == bag.EventArrived && (on(e.Flights.Inbound) || on(e.Flights.Outbound))
}

// Lines returns the lines of the message as sent.
func (e eventDoc) Lines() []string {
	return strings.Split(strings.TrimRight(strings.ReplaceAll(e.Raw, "\r\n", "\n"), "\n"), "\n")
}
