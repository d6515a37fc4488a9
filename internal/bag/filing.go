package bag

import "time"

// Filing is what the index is told of one accepted message: the text, and under what it is to be found.
// It is a function of the text, the received time and the reference data, so filing again changes nothing.
type Filing struct {
	Report   bool        // Raw is the document of a delayed-bag report
	Raw      string      // the message as sent
	Received time.Time   // UTC, in milliseconds
	Position Position    // where it stands in the log of record
	Entries  []Entry     // one a plate, in plate order; none for container positioning
	Stowage  []Container // containers that the message positions; none where it names plates
}

// Entry is what a message says about where one plate can be found.
type Entry struct {
	Plate     Plate
	Flights   []Flight    // every flight that a group with the plate names; may be shared between entries
	PNRs      []string    // capitals
	Stowage   []Container // in which the message says that the bag is; may be shared between entries
	Rush      bool        // it says that the plate is a rush bag, or may say the PNR of one: the PNRs find it as such
	Originals []Plate     // plates of the bags that this one re-flights: one a group that names one
}

// Stored is a message as the store gives it back.
type Stored struct {
	Report   bool // Raw is the document of a delayed-bag report
	Raw      string
	Received time.Time // UTC, in milliseconds
	Position Position  // where it stands in the log of record
}
