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
// plates whose bags get the report as an event.
type requestBags struct {
	shown   []byte
	reached []bag.Plate
}

// bags finds the bags of a request. It reads them before the request is forwarded, so that nothing
// is created downstream while the index is unavailable. A limited key reaches only bags that it
// sees, so that it cannot set bags of others to Delayed.
func (d *DelayedBags) bags(ctx context.Context, request wtr.Request, key *apikey.Key) (found requestBags, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	today := bag.DayOf(d.Airports.Local(request.Station, d.Clock()))
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
	found.shown = append(found.shown, '[')
	for _, plate := range request.Plates {
		meant := currentBags(byPlate[plate], today)
		seen := views(meant, viewer)
		if viewer == nil || len(meant) > 0 && len(seen) == len(meant) {
			found.reached = append(found.reached, plate)
		}
		// If there is no bag, or the key does not see it, the answer shows only data from the request.
		// The same holds for several bags, since it is not known whose names to show.
		shown := &bag.Bag{Plate: plate, Description: bag.Description{Surname: request.Surname}, Rush: plate[0] == '2'}
		if len(seen) == 1 {
			shown = seen[0]
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
