package trail

import (
	"context"
	"time"

	"bagtrail/internal/bag"
)

// Uncached returns the Reader for plates that are read once: it caches none of them.
func (r *Reader) Uncached() *Reader {
	once := *r
	once.retention = retainNone
	return &once
}

// At returns the Reader by a clock that stands still. Both share their caches.
func (r *Reader) At(now time.Time) *Reader {
	then := *r
	then.settings.Now = func() time.Time { return now }
	return &then
}

// Lengths returns how many messages and reports are held of each plate.
func (r *Reader) Lengths(ctx context.Context, plates []bag.Plate) ([]int, error) {
	found, err := r.index.Read(ctx, Wanted{TrailVersions: plates})
	return found.TrailLengths, err
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
	if err != nil {
		return nil, err
	}
	return found.PNRs[0], nil
}
