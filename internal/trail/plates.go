package trail

import (
	"context"
	"slices"
	"time"

	"bagtrail/internal/bag"
)

// At returns the Reader by a clock that stands still. Both share their caches.
func (r *Reader) At(now time.Time) *Reader {
	then := *r
	then.settings.Now = func() time.Time { return now }
	return &then
}

// OfPlates returns for each of many plates what OfPlate returns, in few round trips.
func (r *Reader) OfPlates(ctx context.Context, plates []bag.Plate) ([][]*bag.Bag, error) {
	s := r.newSession()
	s.viewer = bag.NewViewer(ctx, r.sight)
	if err := s.load(ctx, plates, Wanted{Originals: plates}); err != nil {
		return nil, err
	}
	if err := s.loadRush(ctx, plates); err != nil {
		return nil, err
	}
	all := make([][]*bag.Bag, len(plates))
	var pnrs []string
	for i, p := range plates {
		all[i] = s.bags.Value(p)
		for _, b := range all[i] {
			if !b.Rush {
				pnrs = append(pnrs, b.PNRs...)
			}
		}
	}
	slices.Sort(pnrs)
	if _, err := s.ask(ctx, Wanted{RushPNRs: slices.Compact(pnrs)}); err != nil {
		return nil, err
	}
	for _, bags := range all {
		if err := s.join(ctx, bags); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// join joins the bags of a plate with other plates. Whether there are rush bags of the plate, or
// under the PNRs of its bags, is known.
func (s *session) join(ctx context.Context, bags []*bag.Bag) error {
	for _, b := range bags {
		if err := s.joinOriginals(ctx, b); err != nil {
			return err
		}
		if len(s.rush.Value(b.Plate)) == 0 && !slices.ContainsFunc(b.PNRs, func(pnr string) bool {
			return len(s.rushPNRs.Value(pnr)) > 0
		}) {
			continue // no rush bag can be one of it
		}
		if err := s.leaveBehind(ctx, []*bag.Bag{b}); err != nil {
			return err
		}
	}
	return nil
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
