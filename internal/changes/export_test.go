package changes

import (
	"context"

	"bagtrail/internal/kafka"
	"bagtrail/internal/trail"
)

// NewOwner returns the owner of a partition, for tests that stop it in the middle.
func (s *Stage) NewOwner(partition int) kafka.Handler { return s.newOwner(partition) }

// ParseMark is parseMark.
var ParseMark = parseMark

// Look lets an owner look once, for tests that do not wait for its ticks.
func Look(ctx context.Context, h kafka.Handler) error { return h.(*owner).maintain(ctx) }

// DeparturesATurn is departuresATurn, and MaxMarkedAgain is maxMarkedAgain.
const (
	DeparturesATurn = departuresATurn
	MaxMarkedAgain  = maxMarkedAgain
)

// Len returns how many reloads are kept.
func (r *Reloads) Len() int { return len(r.list) }

// Summarise returns what a record says of bags for filters.
func Summarise(bags []trail.Traced) (airlines, airports, pnrs, flights []string) {
	var r Record
	r.summarise(bags)
	return r.Airlines, r.Airports, r.PNRs, r.Flights
}
