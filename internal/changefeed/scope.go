package changefeed

import (
	"context"
	"slices"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
)

// mayCover returns false only if the key cannot see any bag of a published change. Such a change need
// not be folded.
func (f *Feed) mayCover(k *apikey.Key, r *changes.Record) bool {
	return (k.Airlines.All || slices.ContainsFunc(r.Airlines, k.Airline)) &&
		(k.Airports.All || slices.ContainsFunc(k.Airports.Codes, func(code string) bool {
			return touches(f.Airports, code, r.Airports)
		}))
}

// digests returns a question with only the digests of the filter and of the rights.
func (f *Feed) digests(a Asker) changes.Question {
	return changes.Question{Filter: a.Filter.Digest(), Rights: a.Key.Rights()}
}

// question returns the question of an asker to the index of changes.
func (f *Feed) question(a Asker) changes.Question {
	q := f.digests(a)
	switch {
	case len(a.Filter.Plates) > 0:
		q.Plates = func(context.Context) ([]bag.Plate, error) { return a.Filter.Plates, nil }
	case a.Filter.PNR != "":
		q.Plates = func(ctx context.Context) ([]bag.Plate, error) { return f.Trails.UnderPNR(ctx, a.Filter.PNR) }
	case a.Filter.Flight != nil:
		q.Plates = func(ctx context.Context) ([]bag.Plate, error) {
			plates, err := f.Trails.OnFlights(ctx, []bag.Flight{a.Filter.Flight.Flight})
			return slices.Concat(plates...), err
		}
	default:
		q.Scopes = f.scopes(a)
	}
	return q
}

// scopes returns scopes of the index that hold every plate that the filter selects and the key may
// see.
func (f *Feed) scopes(a Asker) (scopes []changes.Scope) {
	airports := func(codes ...string) {
		for _, airport := range codes {
			for _, code := range f.Airports.Codes(airport) {
				scopes = append(scopes, changes.OfAirport(code))
			}
		}
	}
	switch {
	case a.Filter.Airline != "":
		return []changes.Scope{changes.OfAirline(a.Filter.Airline)}
	case a.Filter.Airport != "":
		airports(a.Filter.Airport)
	case !a.Key.Airlines.All:
		for _, code := range a.Key.AirlineCodes() {
			scopes = append(scopes, changes.OfAirline(code))
		}
	case !a.Key.Airports.All:
		airports(a.Key.Airports.Codes...)
	default:
		return []changes.Scope{changes.All}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}
