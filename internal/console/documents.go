package console

import (
	"cmp"
	"slices"
	"time"
)

// The documents of /v1, with the members that pages show.

type session struct {
	Name       string    `json:"name"`
	Airlines   []string  `json:"airlines"`
	Airports   []string  `json:"airports"`
	Operations []string  `json:"operations"`
	Ends       time.Time `json:"ends"`
}

// may reports whether the key of the session has a right.
func (s session) may(right string) bool {
	return slices.Contains(s.Operations, "*") || slices.Contains(s.Operations, right)
}

// covers reports whether an airport is in the scope of the session.
func (s session) covers(airport string) bool {
	return slices.Contains(s.Airports, "*") || slices.Contains(s.Airports, airport)
}

type bagDoc struct {
	Plate     string `json:"plate"`
	Unknown   bool   `json:"unknown"`
	Rush      bool   `json:"rush"`
	Cancelled bool   `json:"cancelled"`
	Passenger struct {
		LastName      string `json:"last_name"`
		FirstName     string `json:"first_name"`
		PNR           string `json:"pnr"`
		Status        string `json:"status"`
		FrequentFlyer string `json:"frequent_flyer"`
	} `json:"passenger"`
	Checked struct {
		Bags   int    `json:"bags"`
		Weight int    `json:"weight"`
		Unit   string `json:"unit"`
	} `json:"checked"`
	Legs      []legDoc   `json:"legs"`
	Events    []eventDoc `json:"events"`
	RushPlate string     `json:"rush_plate"`
	Chain     []string   `json:"chain"`
	Changed   time.Time  `json:"changed"`
}

// listedDoc is a bag in the list of a flight.
type listedDoc struct {
	bagDoc
	Last        *eventDoc `json:"last_event"`
	Device      string    `json:"stowage_device"`
	Compartment string    `json:"aircraft_compartment"`
}

// Leg returns the leg of the bag on the flight, the only one in a list.
func (b *listedDoc) Leg() legDoc {
	if len(b.Legs) == 0 {
		return legDoc{}
	}
	return b.Legs[0]
}

type legDoc struct {
	Airline     string    `json:"airline"`
	Flight      string    `json:"flight"`
	Date        string    `json:"date"`
	From        string    `json:"from"`
	To          string    `json:"to"`
	Living      bool      `json:"living"`
	Seat        string    `json:"seat"`
	Status      string    `json:"status"`
	StatusSince time.Time `json:"status_since"`
	Departure   timesDoc  `json:"departure"`
	Arrival     timesDoc  `json:"arrival"`
}

// Ahead reports whether the flight is known to depart later. A bag may be reported delayed before
// its flight departs.
func (l legDoc) Ahead(now time.Time) bool { return l.Departure.Best().After(now) }

type timesDoc struct {
	Scheduled time.Time `json:"scheduled"`
	Estimated time.Time `json:"estimated"`
	Actual    time.Time `json:"actual"`
}

// Best returns the best known time, zero if none is known.
func (t timesDoc) Best() time.Time {
	return cmp.Or(t.Actual, t.Estimated, t.Scheduled)
}

type segmentDoc struct {
	Airline     string `json:"airline"`
	Flight      string `json:"flight"`
	Date        string `json:"date"`
	Origin      string `json:"orig_airport"`
	Destination string `json:"dest_airport"`
}

type eventDoc struct {
	ID          string    `json:"id"`
	Code        string    `json:"code"`
	Description string    `json:"description"`
	Airport     string    `json:"airport"`
	Happened    time.Time `json:"happened"`
	Local       time.Time `json:"local"`
	Read        string    `json:"read_location"`
	Sent        string    `json:"sent_location"`
	Device      string    `json:"stowage_device"`
	Compartment string    `json:"aircraft_compartment"`
	Raw         string    `json:"raw_bim_msg"`
	Flights     struct {
		Inbound  segmentDoc `json:"inbound"`
		Outbound segmentDoc `json:"outbound"`
	} `json:"flight_info"`
	Reflighted struct {
		Plate string `json:"bagtag"`
	} `json:"reflighted_info"`
	AirlineData []struct {
		Line string `json:"airline_data"`
	} `json:"airline_data_set"`
}

type flightDoc struct {
	Airline   string         `json:"airline"`
	Flight    string         `json:"flight"`
	Date      string         `json:"date"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Departure timesDoc       `json:"departure"`
	Arrival   timesDoc       `json:"arrival"`
	Bags      int            `json:"bags"`
	Rush      int            `json:"rush"`
	Status    map[string]int `json:"status"`
}

// Missing returns how many bags are Not Loaded or Offloaded: those that are at risk near departure.
func (f flightDoc) Missing() int { return f.Status[notLoaded] + f.Status[offloaded] }
