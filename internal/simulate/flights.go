package simulate

import "time"

// Flight is a departure of the timetable on one day.
type Flight struct {
	Airline, Number string
	From, To        string    // airports
	Date            time.Time // local date of departure
	Departs         time.Time // UTC
	Arrives         time.Time // UTC
}

// Flights returns the flights of the timetable of a seed that depart from one time on and before
// another, in the order of their departures.
func Flights(seed uint64, from, until time.Time) []Flight {
	g := newGenerator(Options{Seed: seed}, nil)
	var flights []Flight
	for midnight := from.Truncate(24 * time.Hour); midnight.Before(until); midnight = midnight.Add(24 * time.Hour) {
		for _, d := range g.table.all {
			f := flight{d, midnight.Add(d.leaves)}
			if !f.leaves.Before(from) && f.leaves.Before(until) {
				flights = append(flights, Flight{d.airline.code, d.number, d.from.code, d.to.code, f.date(), f.leaves, f.arrives()})
			}
		}
	}
	return flights
}
