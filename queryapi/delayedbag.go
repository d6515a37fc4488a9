package queryapi

import (
	"context"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/wtr"
)

// reportDays is how many days before a report the first flight of a bag may lie (rules §4).
const reportDays = 14

// delayed finds the bags of a request. They are read before the request is forwarded, so that nothing is created downstream while
// the index is away.
func (d *DelayedBags) delayed(ctx context.Context, request wtr.Request, key *apikey.Key) ([]delayedBag, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	today := bag.DayOf(d.Clock().In(d.Airports.Location(request.Station)))
	var found []delayedBag
	for _, plate := range request.Plates {
		bags, err := d.Trails.OfPlate(ctx, plate)
		if err != nil {
			return nil, err
		}
		b := current(bags, today)
		if b == nil || !key.Bag(b) {
			// Of a bag that is not there, or is not to be seen, only the request itself is known.
			found = append(found, delayedBag{bag: &bag.Bag{Plate: plate, Surname: request.Surname, Rush: plate[0] == '2'}})
			continue
		}
		tag, err := d.rushTag(ctx, b, key)
		if err != nil {
			return nil, err
		}
		found = append(found, delayedBag{b, tag})
	}
	return found, nil
}

// current returns the bag of a plate that a report of that day is about: the one with the latest first flight date not after it.
// Where two bags share that date nobody knows whose names to show, and there is none.
func current(bags []*bag.Bag, day bag.Day) *bag.Bag {
	var latest *bag.Bag
	shared := false
	for _, b := range bags {
		switch {
		case b.FirstDay > day || b.FirstDay < day-reportDays:
		case latest == nil || b.FirstDay > latest.FirstDay:
			latest, shared = b, false
		case b.FirstDay == latest.FirstDay:
			shared = true
		}
	}
	if shared {
		return nil
	}
	return latest
}

// rushTag returns the plate under which a bag was re-flighted last, or "". Rush bags are joined in the list of the passenger.
func (d *DelayedBags) rushTag(ctx context.Context, b *bag.Bag, key *apikey.Key) (bag.Plate, error) {
	if b.PNR == "" || len(b.Legs) == 0 || !b.Legs[0].Living {
		return "", nil
	}
	listed, err := d.Trails.OfPassenger(ctx, b.PNR, b.Legs[0].Day)
	if err != nil {
		return "", err
	}
	for _, same := range listed {
		if same.Plate == b.Plate && same.FirstDay == b.FirstDay {
			return rushTag(same, key), nil
		}
	}
	return "", nil
}
