package bag

import "strings"

// Plate is a licence plate: the ten digits of a bag tag.
type Plate string

// Valid reports whether the plate is ten digits.
func (p Plate) Valid() bool { return len(p) == 10 && strings.Trim(string(p), "0123456789") == "" }

// Flight names a flight of one day. It is comparable. The zero Flight names none.
type Flight struct {
	Airline string // 2 or 3 characters: the IATA code of the airline if it has one
	Number  string // digits without leading zeros, and the operational suffix: "117A"
	Day     Day    // local date of departure
}

// IsZero reports whether f names no flight.
func (f Flight) IsZero() bool { return f.Airline == "" }

// Segment is a flight element of a message: the flight and the airport.
type Segment struct {
	Flight
	Carrier string // the airline code as sent
	Airport string // destination of .F, .O and .U; origin of .I; may be "" for .U
}
