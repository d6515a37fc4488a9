package bag

import "time"

// Filing is an accepted message as the index stores it: the text, and the entries that find it. It
// is a function of the text, the received time and the reference data, so filing a message again
// changes nothing.
type Filing struct {
	Report   bool      // Raw is the document of a delayed-bag report
	Raw      string    // the message as sent
	Received time.Time // UTC, whole milliseconds
	Position Position
	Entries  []Entry     // one for each plate, in plate order; none for a container positioning
	Stowage  []Container // the containers that the message positions; none if it names plates
	Ends     []End       // of the legs of these containers
}

// Entry is what a message says about one plate, as far as the index is searched by it.
type Entry struct {
	Plate     Plate
	Flights   []Flight    // all flights that groups with the plate name; entries may share the slice
	Ends      []End       // of the legs on these flights; entries may share the slice
	PNRs      []string    // in capitals
	Surnames  []string    // as FoldName returns them
	Stowage   []Container // the containers that groups with the plate name; entries may share the slice
	Rush      bool        // the plate is a rush bag, or may be one: the PNRs find it as a rush bag
	Originals []Plate     // the plates that groups with the plate name as re-flighted
}

// Named names the plates that messages name together with a flight and a surname.
type Named struct {
	Flight  Flight
	Surname string // as FoldName returns it
}

// End is an end of a leg: the airport that its flight departs from, or arrives at. The airport may
// be a metropolitan code.
type End struct {
	Flight   Flight
	Airport  string
	Arriving bool
}

// AirportDay names the flights of a day that depart from an airport, or arrive there. The day of a
// flight is the local date of its departure.
type AirportDay struct {
	Airport  string
	Arriving bool
	Day      Day
}

// AirportDay returns the flights to which the flight of the end belongs.
func (e End) AirportDay() AirportDay { return AirportDay{e.Airport, e.Arriving, e.Flight.Day} }

// Stored is a message as the index returns it.
type Stored struct {
	Report   bool // Raw is the document of a delayed-bag report
	Raw      string
	Received time.Time // UTC, whole milliseconds
	Position Position
}
