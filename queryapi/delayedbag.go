package queryapi

import (
	"context"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/wtr"
)

// reported is what a request is about: the bags as the answer shows them, and the plates of those whose event it is to be.
type reported struct {
	shown   []delayedBag
	reached []bag.Plate
}

// bags finds the bags of a request. They are read before the request is forwarded, so that nothing is created downstream while
// the index is away. A limited key reaches only bags that it sees, so that it cannot make those of others Delayed.
func (d *DelayedBags) bags(ctx context.Context, request wtr.Request, key *apikey.Key) (found reported, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	today := bag.DayOf(d.Clock().In(d.Airports.Location(request.Station)))
	sight := sightOf(key, d.Airports)
	trails, viewer := d.Trails(sight), bag.NewViewer(ctx, sight)
	for _, plate := range request.Plates {
		bags, err := trails.OfPlate(ctx, plate)
		if err != nil {
			return reported{}, err
		}
		meant := current(bags, today)
		seen := views(meant, viewer)
		if viewer == nil || len(meant) > 0 && len(seen) == len(meant) {
			found.reached = append(found.reached, plate)
		}
		if len(seen) != 1 {
			// Of a bag that is not there, or is not to be seen, only the request itself is known. If it may be one of two, nobody
			// knows whose names to show.
			found.shown = append(found.shown, delayedBag{bag: &bag.Bag{Plate: plate, Surname: request.Surname, Rush: plate[0] == '2'}})
			continue
		}
		tag, err := reflightedAs(ctx, trails, seen[0], viewer)
		if err != nil {
			return reported{}, err
		}
		found.shown = append(found.shown, delayedBag{seen[0], tag})
	}
	return found, viewer.Err()
}

// current returns the bags of a plate that a report of that day is about: those with the latest first flight date not after it.
func current(bags []*bag.Bag, day bag.Day) (latest []*bag.Bag) {
	for _, b := range bags {
		switch {
		case b.FirstDay > day || b.FirstDay < day-bag.DelayDays:
		case len(latest) == 0 || b.FirstDay > latest[0].FirstDay:
			latest = []*bag.Bag{b}
		case b.FirstDay == latest[0].FirstDay:
			latest = append(latest, b)
		}
	}
	return latest
}

// reflightedAs returns the plate under which a bag was re-flighted last, or "". Rush bags are joined in the list of the passenger.
func reflightedAs(ctx context.Context, trails Trails, b *bag.Bag, viewer *bag.Viewer) (bag.Plate, error) {
	if b.PNR == "" || len(b.Legs) == 0 || !b.Legs[0].Living {
		return "", nil
	}
	listed, err := trails.OfPassenger(ctx, b.PNR, b.Legs[0].Day)
	if err != nil {
		return "", err
	}
	for _, same := range listed {
		if same.Plate == b.Plate && same.FirstDay == b.FirstDay {
			return bagdoc.RushPlate(same, viewer), nil
		}
	}
	return "", nil
}
