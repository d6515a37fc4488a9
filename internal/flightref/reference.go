// Package flightref knows when flights depart and arrive, from the flight reference file that an operator keeps. The
// file is read again when it changes; a flight that is not in it is not known, and nothing is made up for it.
package flightref

import (
	"time"

	"bagtrail/internal/bag"
)

// Reference is what the file says of one leg of a flight. It never changes once read.
type Reference struct {
	Flight              bag.Flight
	Carrier             string // the airline's code as the file has it
	Origin, Destination string // airports
	Departure, Arrival  Times
	BlackoutStart       time.Time // zero where there is none
	Subscription        bool      // passenger inquiry is configured for airport and airline
}

// Times is one moment of a flight as far as it is known; what is not known is zero. At least one is known.
type Times struct {
	Scheduled, Estimated, Actual time.Time
}

// Basis says what a time rests on, by its name in the interface.
type Basis string

// The bases, in the order in which a time is best known.
const (
	Actual    Basis = "ACTUAL"
	Estimated Basis = "ESTIMATED"
	Scheduled Basis = "SCHEDULED"
)

// Best returns the best known of the times: the actual, else the estimated, else the scheduled one.
func (t Times) Best() (time.Time, Basis) {
	switch {
	case !t.Actual.IsZero():
		return t.Actual, Actual
	case !t.Estimated.IsZero():
		return t.Estimated, Estimated
	}
	return t.Scheduled, Scheduled
}

// Departed reports whether the flight has left: it has an actual departure, or its best known one is past.
func (r *Reference) Departed(now time.Time) bool {
	at, basis := r.Departure.Best()
	return basis == Actual || !at.After(now)
}
