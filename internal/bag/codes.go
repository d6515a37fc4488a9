package bag

import "bagtrail/parser"

// The event codes. The table below describes them.
const (
	EventCancelled          = "CANCELLED"
	EventReflighted         = "REFLIGHTED"
	EventRerouted           = "REROUTED"
	EventPaxBoarded         = "PAX_BOARDED"
	EventExpected           = "EXPECTED"
	EventOffloaded          = "OFFLOADED"
	EventOnHand             = parser.StatusOnHand
	EventOnHandAuthorised   = parser.StatusOnHandAuthorised
	EventUnseen             = parser.StatusUnseen
	EventLoadedUnauthorised = parser.StatusLoadedUnauthorised
	EventLoadedOnAircraft   = "LOADED_ON_AIRCRAFT"
	EventLoadedInContainer  = "LOADED_IN_CONTAINER"
	EventArrived            = "ARRIVED"
	EventScreeningFailed    = "SCREENING_FAILED"
	EventScreeningPassed    = "SCREENING_PASSED"
	EventScreened           = "SCREENED"
	EventSorted             = "SORTED"
	EventGroundTracked      = "GROUND_TRACKED"
	EventHandScanned        = "HAND_SCANNED"
	EventTracked            = "TRACKED"
	EventMishandled         = "MISHANDLED"
	EventCheckedIn          = "CHECKED_IN" // registered, never made
)

// EventCode is an event code with its description and the loading status that an event with this
// code sets.
type EventCode struct {
	Code        string
	Description string
	Sets        Status // NoStatus if the event sets none
}

// eventCodes is the table of event codes.
var eventCodes = [...]EventCode{
	{EventCancelled, "Bag Cancelled", NoStatus},
	{EventReflighted, "Bag Re-flighted", NoStatus},
	{EventRerouted, "Bag Rerouted", NoStatus},
	{EventPaxBoarded, "Passenger Boarded", NoStatus},
	{EventExpected, "Bag Expected", NoStatus},
	{EventOffloaded, "Bag Offloaded", Offloaded},
	{EventOnHand, "Bag on Hand, Not Authorised to Load", NotLoaded},
	{EventOnHandAuthorised, "Bag on Hand, Authorised to Load", NotLoaded},
	{EventUnseen, "Bag Unseen", NotLoaded},
	{EventLoadedUnauthorised, "Bag Loaded, Not Authorised to Load", OnAircraft}, // see unauthorisedEvent
	{EventLoadedOnAircraft, "Bag Loaded on Aircraft", OnAircraft},
	{EventLoadedInContainer, "Bag Loaded in Container", InContainer},
	{EventArrived, "Bag Arrived", NoStatus},
	{EventScreeningFailed, "Bag Screening Failed", NoStatus},
	{EventScreeningPassed, "Bag Screening Passed", NoStatus},
	{EventScreened, "Bag Screened", NoStatus},
	{EventSorted, "Bag Sorted", NoStatus},
	{EventGroundTracked, "Bag Ground Tracked", NoStatus},
	{EventHandScanned, "Bag Hand Scanned", NoStatus},
	{EventTracked, "Bag Tracked", NoStatus},
	{EventMishandled, "Bag Mishandled", Delayed},
	{EventCheckedIn, "Bag checked in", NoStatus},
}

// EventCodes returns the table of event codes.
func EventCodes() []EventCode { return eventCodes[:] }

// entry returns the entry of an event code. If there is none, the code is a status code of .B that
// the configuration adds for an airport.
func entry(code string) EventCode {
	for i := range eventCodes {
		if eventCodes[i].Code == code {
			return eventCodes[i]
		}
	}
	return EventCode{code, "Bag Irregularity", NotLoaded}
}
