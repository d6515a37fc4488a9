package trail

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/budget"
)

// Uncached returns a Reader that does not cache the plates that it reads, for plates that are read
// only once.
func (r *Reader) Uncached() *Reader {
	once := *r
	once.uncached = true
	return &once
}

// Over returns a Reader that reads the same index in another way. Both share their caches.
func (r *Reader) Over(index Index) *Reader {
	other := *r
	other.index = index
	return &other
}

// Lengths returns how many messages and reports each plate has.
func (r *Reader) Lengths(ctx context.Context, plates []bag.Plate) ([]int, error) {
	return r.index.Lengths(ctx, plates)
}

// InContainers returns the plates that messages say are in each container.
func (r *Reader) InContainers(ctx context.Context, containers []bag.Container) ([][]bag.Plate, error) {
	found, err := r.index.Read(ctx, Wanted{Contents: containers})
	return found.Contents, err
}

// OnFlights returns the plates that messages name with each flight.
func (r *Reader) OnFlights(ctx context.Context, flights []bag.Flight) ([][]bag.Plate, error) {
	found, err := r.index.Read(ctx, Wanted{Flights: flights})
	return found.Flights, err
}

// UnderPNR returns the plates that messages name with a PNR.
func (r *Reader) UnderPNR(ctx context.Context, pnr string) ([]bag.Plate, error) {
	found, err := r.index.Read(ctx, Wanted{PNRs: []string{pnr}})
	return slices.Concat(found.PNRs...), err
}

// PlatesNamed returns the plates that messages name together with one of the flights and a surname,
// in ascending order. It may also return a few plates with another surname.
func (r *Reader) PlatesNamed(ctx context.Context, flights []bag.Flight, surname string) ([]bag.Plate, error) {
	w := Wanted{Named: make([]bag.Named, len(flights))}
	for i, f := range flights {
		w.Named[i] = bag.Named{Flight: f, Surname: bag.FoldName(surname)}
	}
	found, err := r.index.Read(ctx, w)
	return merged(found.Named...), err
}

// PlatesEnding returns the plates with these last digits that messages name together with one of the
// flights, in ascending order.
func (r *Reader) PlatesEnding(ctx context.Context, flights []bag.Flight, digits string) ([]bag.Plate, error) {
	var all [][]bag.Plate
	for some := range slices.Chunk(flights, flightsAtOnce) {
		part, done := budget.Part(ctx)
		found, err := r.OnFlights(part, some)
		done()
		if err != nil {
			return nil, err
		}
		for _, plates := range found {
			all = append(all, slices.DeleteFunc(plates, func(p bag.Plate) bool { return !strings.HasSuffix(string(p), digits) }))
		}
	}
	return merged(all...), nil
}

// flightsAtOnce is how many flights are searched for plates in one round trip.
const flightsAtOnce = 32

// merged returns the plates of lists, each once, in ascending order.
func merged(lists ...[]bag.Plate) []bag.Plate {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
