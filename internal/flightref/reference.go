// Package flightref holds the departure and arrival times of flights, from the flight reference
// file that an operator keeps. The file is read again when it changes. A flight that is not in the
// file has no known times.
package flightref

import (
	"time"

	"bagtrail/internal/bag"
)

// Reference is one entry of the file: a leg of a flight. It never changes once it is read.
type Reference struct {
	Flight              bag.Flight
	Carrier             string // the airline's code as the file spells it
	Origin, Destination string // airports
	Departure, Arrival  Times
	BlackoutStart       time.Time // zero if there is none
	Subscription        bool      // the passenger-inquiry service is configured for airport and airline
}

// Times are the known times of a departure or an arrival. Unknown ones are zero. At least one is
// known.
type Times struct {
	Scheduled, Estimated, Actual time.Time
}

// Basis is the kind of a time, by its name in the interface.
type Basis string

// The bases, the most certain first.
const (
	Actual    Basis = "ACTUAL"
	Estimated Basis = "ESTIMATED"
	Scheduled Basis = "SCHEDULED"
)

// Best returns the best known time and its basis: the actual time, else the estimated one, else the
// scheduled one.
func (t Times) Best() (time.Time, Basis) {
	switch {
	case !t.Actual.IsZero():
		return t.Actual, Actual
	case !t.Estimated.IsZero():
		return t.Estimated, Estimated
	}
	return t.Scheduled, Scheduled
}

// departsBefore reports whether r departs before other. A leg with an actual time departs before a
// leg without one.
func (r *Reference) departsBefore(other *Reference) bool {
	at, basis := r.Departure.Best()
	otherAt, otherBasis := other.Departure.Best()
	if (basis == Actual) != (otherBasis == Actual) {
		return basis == Actual
	}
	return at.Before(otherAt)
}
