package trail

import (
	"cmp"
	"context"
	"slices"

	"bagtrail/internal/bag"
)

// seen removes from a list the fields that r.sight does not cover. The caller has checked that the
// key may ask for the list. Plates that every such key sees whole are not read again. The listed
// bags and their loading statuses are the same for everybody (rules §4); their order is that of what
// the key sees.
func (r *Reader) seen(ctx context.Context, listed []Listed) ([]Listed, error) {
	var plates []bag.Plate
	for i := range listed {
		if !listed[i].whole {
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
		if l := &listed[i]; !l.whole {
			*l = s.narrow(l, viewer)
		}
	}
	slices.SortStableFunc(listed, func(a, b Listed) int { // see sortBySeen
		return cmp.Or(cmp.Compare(a.Bag.Plate, b.Bag.Plate), cmp.Compare(a.Bag.PNR, b.Bag.PNR), cmp.Compare(a.Bag.Surname, b.Bag.Surname),
			cmp.Compare(a.Leg.Status, b.Leg.Status))
	})
	return listed, viewer.Err()
}

// narrow returns a listed bag with the fields that the viewer sees. If the bag is out of scope, or
// its place, its PNR or a name has changed since the list was read, the names, the PNR and the seat
// are empty.
func (s *session) narrow(l *Listed, viewer *bag.Viewer) Listed {
	seen := Listed{Bag: &bag.Bag{Plate: l.Bag.Plate, Nth: l.Bag.Nth, Rush: l.Bag.Rush}, Leg: l.Leg, Changed: l.Changed}
	seen.Leg.Seat = ""
	for _, b := range s.bags.Value(l.Bag.Plate) {
		if !l.IsOf(b) {
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
