package queryapi

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/changefeed"
	"bagtrail/internal/fault"
	"bagtrail/internal/trail"
	"bagtrail/parser"
)

// search is a question for bags: by plates, PNR, surname or the end of the plate.
type search struct {
	by       string // the argument that selects bags
	plates   []bag.Plate
	pnr      string
	lastName string
	plateEnd string
	airport  string     // of a search by airport; otherwise ""
	flight   bag.Flight // of a search by flight; otherwise it has only a Day: the date of the question, if there is one
}

// search reads the arguments of a search. Arguments that do not go together are faults.
func (a *arguments) search(airports *airport.Library) (s search) {
	a.allowOnly("plate", "pnr", "last_name", "plate_end", "airline", "flight", "airport", "date", "fields", "limit", "cursor")
	s.plates = a.plates(maxPlates)
	s.pnr = a.text("pnr", parser.IsPNR, pnrForm)
	s.lastName = a.text("last_name", isSurname, "up to 60 characters with a letter among them")
	s.plateEnd = a.text("plate_end", func(s string) bool { return len(s) == 6 && strings.Trim(s, "0123456789") == "" }, "the last 6 digits")
	s.airport = a.knownAirport(airports)
	s.flight = a.flight()
	switch {
	case a.sent("plate"):
		s.by = a.goTogether("plate")
	case a.sent("pnr"):
		s.by = a.goTogether("pnr", "date")
	case a.sent("last_name") && (a.sent("airline") || a.sent("flight")):
		s.by = a.goTogether("last_name", "airline", "flight", "date")
	case a.sent("last_name"):
		s.by = a.goTogether("last_name", "airport", "date")
	case a.sent("plate_end"):
		s.by = a.goTogether("plate_end", "airport", "date")
	default:
		a.failMissing("plate", "plate, or pnr and date, or last_name with airline, flight and date or with airport and date, or plate_end, airport and date")
	}
	return s
}

// goTogether adds a fault for each argument that the search needs and that is missing, and for each
// that does not go with by. It returns by.
func (a *arguments) goTogether(by string, with ...string) string {
	expected := by + " alone"
	if len(with) > 0 {
		expected = by + " with " + strings.Join(with, ", ")
	}
	for _, name := range []string{"plate", "pnr", "last_name", "plate_end", "airline", "flight", "airport", "date"} {
		given := a.all(name)
		switch {
		case name == by:
		case slices.Contains(with, name) && len(given) == 0:
			a.failMissing(name, expected)
		case !slices.Contains(with, name):
			for _, g := range given {
				a.fail(g, fault.Conflict, expected)
			}
		}
	}
	return by
}

// filter returns the filter of changes that selects every bag that the search finds.
func (s *search) filter() changefeed.Filter {
	switch {
	case s.by == "plate":
		return changefeed.Filter{Plates: filterPlates(s.plates)}
	case s.by == "pnr":
		return changefeed.Filter{PNR: strings.ToUpper(s.pnr), Date: s.flight.Day}
	case s.airport != "":
		return changefeed.Filter{Airport: s.airport}
	}
	return changefeed.Filter{Airline: s.flight.Airline}
}

// guesses reports whether the search is by a value that a caller can guess: a surname, or the end
// of a plate. If bags are found and the key sees none of them, the answer is then that there are no
// bags. Otherwise it would show whether the guess is right (rules §4, as for histories).
func (s *search) guesses() bool { return s.by == "last_name" || s.by == "plate_end" }

// isSurname reports whether a text has letters to compare.
func isSurname(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxSurname && bag.FoldName(s) != ""
}

// trace returns the bags that may match, with their links to bags of other plates.
func (s *search) trace(ctx context.Context, trails Trails) ([]trail.Traced, error) {
	if s.by == "pnr" {
		return trails.TracePassenger(ctx, s.pnr, s.flight.Day)
	}
	if s.by != "plate" {
		flights := []bag.Flight{s.flight}
		if s.airport != "" {
			flights = nil
			for _, arriving := range []bool{false, true} {
				there, err := trails.FlightsAt(ctx, s.airport, arriving, s.flight.Day)
				if err != nil {
					return nil, err
				}
				flights = append(flights, there...)
			}
		}
		var err error
		if s.by == "last_name" {
			s.plates, err = trails.PlatesNamed(ctx, flights, s.lastName)
		} else {
			s.plates, err = trails.PlatesEnding(ctx, flights, s.plateEnd)
		}
		if err != nil || len(s.plates) == 0 {
			return nil, err
		}
	}
	return trails.TracePlates(ctx, s.plates)
}

// matches reports whether a bag, or a view of it, matches the search.
func (s *search) matches(b *bag.Bag, airports *airport.Library) bool {
	switch s.by {
	case "plate":
		return true
	case "pnr":
		return b.HasPNR(s.pnr) && b.DepartsOn(s.flight.Day)
	}
	return (s.lastName == "" || b.HasSurname(s.lastName)) && slices.ContainsFunc(b.Legs, func(l bag.Leg) bool {
		if s.airport == "" {
			return l.Living && l.Flight == s.flight
		}
		return l.Living && l.Day == s.flight.Day && (airports.Listed(l.From, s.airport) || airports.Listed(l.To, s.airport))
	})
}
