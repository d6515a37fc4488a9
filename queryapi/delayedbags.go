package queryapi

import (
	"context"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagdoc"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/strictjson"
	"bagtrail/internal/wtr"
)

// requestBags holds the bags of a request: shown is the JSON list in the answer, reached holds the
// plates whose bags get the report as an event, for each day that the report may have. The day is
// that at the station of the record, which the reply names.
type requestBags struct {
	shown   []byte
	reached map[bag.Day][]bag.Plate
}

// bags finds the bags of a request. It reads them before the request is forwarded, so that nothing
// is created downstream while the index is unavailable. A limited key reaches only bags that it
// sees, so that it cannot set bags of others to Delayed.
func (d *DelayedBags) bags(ctx context.Context, request wtr.Request, key *apikey.Key) (found requestBags, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	now := d.Clock()
	today, utc := bag.DayOf(d.Airports.Local(request.Station, now)), bag.DayOf(now.UTC())
	sight := key.SightIfLimited(d.Airports)
	trails, viewer := d.Trails(sight), bag.NewViewer(ctx, sight)
	bags, err := trails.OfPlates(ctx, request.Plates)
	if err != nil {
		return requestBags{}, err
	}
	byPlate := make(map[bag.Plate][]*bag.Bag)
	for _, b := range bags {
		byPlate[b.Plate] = append(byPlate[b.Plate], b)
	}
	found.shown, found.reached = append(found.shown, '['), make(map[bag.Day][]bag.Plate)
	for _, plate := range request.Plates {
		seen := views(byPlate[plate], viewer)
		for day := utc - 1; day <= utc+1; day++ { // one of them is the day at any station
			meant, known := currentBags(byPlate[plate], day), currentBags(seen, day)
			if viewer == nil || len(meant) > 0 && len(known) == len(meant) && known[0].FirstDay == meant[0].FirstDay {
				found.reached[day] = append(found.reached[day], plate)
			}
		}
		// If the key sees no bag, the answer shows only data from the request. The same holds for
		// several bags, since it is not known whose names to show.
		shown := &bag.Bag{Plate: plate, Description: bag.Description{Surname: request.Surname}, Rush: plate[0] == '2'}
		if known := currentBags(seen, today); len(known) == 1 {
			shown = known[0]
		}
		found.shown = bagjson.AppendPassengerBag(strictjson.AppendComma(found.shown), shown, bagdoc.RushPlate(shown, viewer))
	}
	found.shown = append(found.shown, ']')
	return found, viewer.Err()
}

// currentBags returns the bags of a plate that a report of that day concerns: the bags with the
// latest first flight date that is not after the day, and at most bag.DelayDays before it.
func currentBags(bags []*bag.Bag, day bag.Day) (latest []*bag.Bag) {
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
