package trail

import (
	"context"

	"bagtrail/internal/bag"
)

// seen returns a list as r's sight sees it. The asker may see the flight at that end. Only the plates
// are read again of which he may not see everything. Which bags are listed, and their loading
// statuses, are the same for everybody (rules §4).
func (r *Reader) seen(ctx context.Context, listed []Listed, arriving bool) ([]Listed, error) {
	isOpen := func(l *Listed) bool {
		if arriving {
			return l.open.to
		}
		return l.open.from
	}
	var plates []bag.Plate
	for i := range listed {
		if !isOpen(&listed[i]) {
			plates = append(plates, listed[i].Bag.Plate)
		}
	}
	if len(plates) == 0 {
		return listed, nil
	}
	s := r.newSession()
	if err := s.load(ctx, plates, Wanted{}); err != nil {
		return nil, err
	}
	viewer := bag.NewViewer(ctx, r.sight)
	for i := range listed {
		if l := &listed[i]; !isOpen(l) {
			*l = s.narrow(l, viewer)
		}
	}
	return listed, viewer.Err()
}

// narrow returns what the asker sees of a listed bag. Of a bag that is out of scope, or that has
// changed meanwhile, that is the plate, whether it is a rush bag, and the loading status.
func (s *session) narrow(l *Listed, viewer *bag.Viewer) Listed {
	seen := Listed{Bag: &bag.Bag{Plate: l.Bag.Plate, Rush: l.Bag.Rush}, Leg: l.Leg, Changed: l.Changed}
	seen.Leg.Seat = ""
	for _, b := range s.bags.Value(l.Bag.Plate) {
		if b.PNR != l.Bag.PNR || b.Surname != l.Bag.Surname {
			continue
		}
		view := viewer.View(b)
		if view == nil {
			continue
		}
		for _, leg := range view.Legs {
			if leg.Flight == l.Leg.Flight && leg.From == l.Leg.From && leg.To == l.Leg.To {
				seen.Bag.PNR, seen.Bag.Surname, seen.Bag.GivenName = view.PNR, view.Surname, view.GivenName
				seen.Leg.Seat = leg.Seat
				return seen
			}
		}
	}
	return seen
}
