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
	for i, p := range plates {
		all[i] = s.bags.Value(p)
	}
	if err := s.loadRushPNRs(ctx, slices.Concat(all...)); err != nil {
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
		if !s.reflightable(b) {
			continue
		}
		if err := s.leaveBehind(ctx, []*bag.Bag{b}); err != nil {
			return err
		}
	}
	return nil
}

// loadRushPNRs reads, in one round trip, which of the PNRs of bags have rush bags.
func (s *session) loadRushPNRs(ctx context.Context, bags []*bag.Bag) error {
	var pnrs []string
	for _, b := range bags {
		if !b.Rush {
			pnrs = append(pnrs, b.PNRs...)
		}
	}
	if len(pnrs) == 0 {
		return nil
	}
	slices.Sort(pnrs)
	_, err := s.ask(ctx, Wanted{RushPNRs: slices.Compact(pnrs)})
	return err
}

// reflightable reports whether there may be a rush bag of b, by what loadRush and loadRushPNRs have
// read.
func (s *session) reflightable(b *bag.Bag) bool {
	return len(s.rush.Value(b.Plate)) > 0 || slices.ContainsFunc(b.PNRs, func(pnr string) bool {
		return len(s.rushPNRs.Value(pnr)) > 0
	})
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
