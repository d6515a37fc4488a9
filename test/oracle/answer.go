package oracle

import "slices"

// Bag is a bag with everything that the rules say about it.
type Bag struct {
	Plate      string `json:"bagtag"`
	FirstName  string `json:"passenger_first_name,omitempty"`
	LastName   string `json:"passenger_last_name,omitempty"`
	Pieces     string `json:"no_of_checked_bags,omitempty"`
	Weight     string `json:"total_weight_of_checkedin_bags,omitempty"`
	WeightUnit string `json:"weight_indicator,omitempty"`

	PNR       string  `json:"pnr,omitempty"`
	Unknown   bool    `json:"unknown,omitempty"`
	Rush      bool    `json:"rush,omitempty"`
	Cancelled bool    `json:"cancelled,omitempty"`
	RushTag   string  `json:"rushtag,omitempty"`
	Legs      []Leg   `json:"legs,omitempty"` // living ones in the order of travel, then the others
	Events    []Event `json:"events,omitempty"`

	items      []*item // its messages, in order
	events     []*event
	living     []sourcedLeg // in the order of travel
	others     []sourcedLeg
	first      int      // first flight date
	flightless bool     // no message names a flight
	dates      []string // departure dates by which history finds the bag
	pnrs       []string // by which the bag is found
	surnames   []string
	ownRush    bool
	originals  []original
}

// Leg is one flight of a bag. Its status is empty for a leg that is known from an inbound element
// only, unless an event at its departure sets one.
type Leg struct {
	Airline string `json:"airline"`
	Number  string `json:"flight"`
	Date    string `json:"date"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Living  bool   `json:"living"`
	Status  string `json:"loading_status,omitempty"`

	seat string
}

// FlightEntry is a list entry of bags for flight (interface 2.1).
type FlightEntry struct {
	Plate     string `json:"bagtag"`
	Rush      string `json:"rush_bag_indicator"`
	FirstName string `json:"passenger_first_name,omitempty"`
	LastName  string `json:"passenger_last_name,omitempty"`
	Status    string `json:"loading_status,omitempty"`
	Seat      string `json:"seat_number,omitempty"`
	PNR       string `json:"pnr,omitempty"`
}

// PassengerEntry is a list entry of bags for passenger (interface 2.2).
type PassengerEntry struct {
	Plate     string `json:"bagtag"`
	FirstName string `json:"passenger_first_name,omitempty"`
	LastName  string `json:"passenger_last_name,omitempty"`
	Rush      string `json:"rush_bag_indicator"`
	RushTag   string `json:"rushtag,omitempty"`
}

// Event is a bag history event (interface 2.3).
type Event struct {
	Airport         string        `json:"airport"`
	Code            string        `json:"event_code"`
	Description     string        `json:"event_desc"`
	Local           string        `json:"local_date_time"`
	UTC             string        `json:"utc_date_time"`
	Compartment     string        `json:"aircraft_compartment,omitempty"`
	Inbound         *Flight       `json:"inbound,omitempty"`
	Outbound        *Flight       `json:"outbound,omitempty"`
	Onward          []Flight      `json:"onward,omitempty"`
	Loading         *Flight       `json:"flight_loading_info,omitempty"`
	Connection      *Flight       `json:"connection_flight_info,omitempty"`
	Reflighted      *Reflighted   `json:"reflighted_info,omitempty"`
	FrequentFlyer   string        `json:"frequent_flyer,omitempty"`
	PassengerStatus string        `json:"passenger_status,omitempty"`
	PNR             string        `json:"pnr,omitempty"`
	Raw             string        `json:"raw_bim_msg,omitempty"`
	ReadLocation    string        `json:"read_location,omitempty"`
	SentLocation    string        `json:"sent_location,omitempty"`
	Device          string        `json:"stowage_device,omitempty"`
	Unknown         string        `json:"unknown_bag_flag,omitempty"`
	TagStatus       string        `json:"bagtag_status,omitempty"`
	Longitude       string        `json:"longitude,omitempty"`
	Latitude        string        `json:"latitude,omitempty"`
	AirlineData     []AirlineData `json:"airline_data_set,omitempty"`
}

// AirlineData is one element of airline_data_set.
type AirlineData struct {
	Data string `json:"airline_data,omitempty"`
}

// Flight is a flight of an event; absent members are "".
type Flight struct {
	Date        string `json:"date,omitempty"`
	Number      string `json:"flight,omitempty"`
	Airline     string `json:"airline,omitempty"`
	Origin      string `json:"orig_airport,omitempty"`
	Destination string `json:"dest_airport,omitempty"`
}

// Reflighted is reflighted_info: the original plate and, if known, the flight that the bag missed.
type Reflighted struct {
	Plate   string `json:"bagtag"`
	Airline string `json:"airline,omitempty"`
	Number  string `json:"flight,omitempty"`
	Date    string `json:"date,omitempty"`
}

// Dates returns the departure dates under which history finds the bag.
func (b *Bag) Dates() []string { return b.dates }

// FoundByPNR reports whether the bag is found by the PNR.
func (b *Bag) FoundByPNR(pnr string) bool { return slices.Contains(b.pnrs, pnrOf(pnr)) }

// FoundBySurname reports whether the bag is found by the surname.
func (b *Bag) FoundBySurname(surname string) bool {
	return slices.Contains(b.surnames, lettersOf(surname))
}
