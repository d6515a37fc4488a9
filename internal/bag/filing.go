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
}

// Entry is what a message says about one plate, as far as the index is searched by it.
type Entry struct {
	Plate     Plate
	Flights   []Flight    // all flights that groups with the plate name; entries may share the slice
	PNRs      []string    // in capitals
	Stowage   []Container // the containers that groups with the plate name; entries may share the slice
	Rush      bool        // the plate is a rush bag, or may be one: the PNRs find it as a rush bag
	Originals []Plate     // the plates that groups with the plate name as re-flighted
}

// Stored is a message as the index returns it.
type Stored struct {
	Report   bool // Raw is the document of a delayed-bag report
	Raw      string
	Received time.Time // UTC, whole milliseconds
	Position Position
}
