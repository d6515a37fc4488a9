package bag

import "time"

// Filing is an accepted message as the index stores it: the text, and the entries under which it is
// found. It depends only on the text, the received time, the position and the reference data, so
// filing a message again changes nothing.
type Filing struct {
	Report   bool      // Raw is the document of a delayed-bag report
	Raw      string    // the message as sent
	Received time.Time // UTC, whole milliseconds
	Position Position
	Entries  []Entry     // one for each plate, in plate order; none for a container positioning
	Stowage  []Container // the containers that the message positions; none if it names plates
	Ends     []End       // the ends of the legs of these containers
}

// Entry says under which keys of the index a message files one plate.
type Entry struct {
	Plate     Plate
	Flights   []Flight    // all flights that groups with the plate name; entries may share the slice
	Ends      []End       // the ends of the legs on these flights; entries may share the slice
	PNRs      []string    // in capitals
	Surnames  []string    // as FoldName returns them
	Stowage   []Container // the containers that groups with the plate name; entries may share the slice
	Rush      bool        // the plate is or may be a rush bag, so it is also filed under its PNRs as a rush bag
	Originals []Plate     // the originals that groups with the plate name (rules §3, rush bags)
}

// Named is the key of the plates that messages name together with a flight and a surname.
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

// AirportDay is the key of the flights of a day that depart from an airport, or arrive there. The
// day of a flight is the local date of its departure.
type AirportDay struct {
	Airport  string
	Arriving bool
	Day      Day
}

// AirportDay returns the key under which the flight of the end is filed.
func (e End) AirportDay() AirportDay { return AirportDay{e.Airport, e.Arriving, e.Flight.Day} }

// Stored is a message as the index returns it.
type Stored struct {
	Report   bool // Raw is the document of a delayed-bag report
	Raw      string
	Received time.Time // UTC, whole milliseconds
	Position Position
}
