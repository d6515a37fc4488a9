package trail

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/smallmap"
)

// Traced is a bag with its links to bags of other plates. A Reader returns the bag whole; for the
// asker, the view that a Viewer returns takes its place. Chain, and Reflighted of Bag, hold only
// bags whose founders (see bag.Viewer.SeesFounder) the asker sees.
type Traced struct {
	Bag   *bag.Bag
	Chain []bag.Plate // the rush chain from the first original to the last rush bag, with the plate of Bag

	// LeftBy is the rush bag whose first REFLIGHTED event set the status of legs of the bag, or
	// nil. It is the same for every asker, as statuses are.
	LeftBy *bag.Bag
}

// Folded returns the bags of plates, in the order of lists, without their links to bags of other
// plates.
func (r *Reader) Folded(ctx context.Context, plates []bag.Plate) ([]*bag.Bag, error) {
	s := r.newSession()
	if err := s.load(ctx, plates, Wanted{}); err != nil {
		return nil, err
	}
	return s.ofPlates(plates), nil
}

// TracePlates returns the bags of plates, in the order of lists by what the asker sees of them, with
// their links.
func (r *Reader) TracePlates(ctx context.Context, plates []bag.Plate) ([]Traced, error) {
	s := r.newSession()
	s.tracing = true // only for the plates that are loaded now, since most bags have no rush bags
	plates = merged(plates)
	if err := s.load(ctx, plates, Wanted{Originals: plates}); err != nil {
		return nil, err
	}
	s.tracing = false
	return s.trace(ctx, s.ofPlates(plates))
}

// Trace returns the bags that TracePlates returns when the clock shows now.
func (r *Reader) Trace(ctx context.Context, plates []bag.Plate, now time.Time) ([]Traced, error) {
	then := *r
	then.settings.Now = func() time.Time { return now }
	return then.TracePlates(ctx, plates)
}

// TracePassenger returns the bags that OfPassenger returns, with their links, in the order of
// TracePlates.
func (r *Reader) TracePassenger(ctx context.Context, pnr string, day bag.Day) ([]Traced, error) {
	s := r.newSession()
	all, err := s.ofPNR(ctx, pnr)
	if err != nil {
		return nil, err
	}
	return s.trace(ctx, all.departingOn(day))
}

// trace joins loaded bags with bags of other plates. First it sets their statuses, which are the
// same for everybody. Then it finds the chains and originals that the asker sees.
func (s *session) trace(ctx context.Context, bags []*bag.Bag) ([]Traced, error) {
	if err := s.loadChains(ctx, platesOf(bags)); err != nil {
		return nil, err
	}
	if err := s.loadRushPNRs(ctx, bags); err != nil {
		return nil, err
	}
	if err := s.loadOriginals(ctx, bags); err != nil {
		return nil, err
	}
	traced := make([]Traced, len(bags))
	for i, b := range bags {
		traced[i].Bag = b
		if !s.reflightable(b) {
			continue
		}
		left, err := s.leaveBehind(ctx, b)
		if err != nil {
			return nil, err
		}
		traced[i].LeftBy = left
	}
	if s.viewer = bag.NewViewer(ctx, s.reader.sight); s.viewer != nil {
		s.links = links{} // an asker who does not see everything may see other links
	}
	for i, b := range bags {
		chain, err := s.chain(ctx, b)
		if err != nil {
			return nil, err
		}
		traced[i].Chain = chain
	}
	if s.viewer != nil {
		sortBySeen(traced, s.viewer)
	}
	return traced, s.viewer.Err()
}

// sortBySeen puts the bags of each plate in the order of what the asker sees of them. The order of
// the whole bags would tell how a PNR that the asker does not see compares with others, which the
// asker may have posted to find it.
func sortBySeen(traced []Traced, viewer *bag.Viewer) {
	type entry struct {
		Traced
		seen *bag.Bag // the whole bag if its plate has no other, or if nothing of it is seen
	}
	entries := make([]entry, len(traced))
	for i, t := range traced {
		entries[i] = entry{t, t.Bag}
		if i > 0 && traced[i-1].Bag.Plate == t.Bag.Plate || i+1 < len(traced) && traced[i+1].Bag.Plate == t.Bag.Plate {
			entries[i].seen = cmp.Or(viewer.View(t.Bag), t.Bag)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bag.CompareViews(a.seen, b.seen) })
	for i := range entries {
		traced[i] = entries[i].Traced
	}
}

// chain joins a bag with its originals and its rush bags, and returns the plates of the chain
// through it.
func (s *session) chain(ctx context.Context, b *bag.Bag) ([]bag.Plate, error) {
	var chain []bag.Plate
	visited := make(map[bag.Plate]bool)
	for at := b; at != nil && !visited[at.Plate]; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		visited[at.Plate] = true
		chain = append(chain, at.Plate)
		if len(at.Reflighted) == 0 {
			if err := s.joinOriginals(ctx, at); err != nil {
				return nil, err
			}
		}
		var before *bag.Bag
		for _, r := range at.Reflighted {
			if before = r.Bag; before != nil {
				break
			}
		}
		at = before
	}
	slices.Reverse(chain)
	if !s.viewer.SeesFounder(b) || !s.reflightable(b) {
		return chain, nil
	}
	rush, err := s.rushChain(ctx, b)
	for _, c := range rush {
		b.RushTag = c
		if !visited[c.Plate] {
			chain = append(chain, c.Plate)
		}
	}
	return chain, err
}

// loadRushPNRs reads, in one round trip, which rush plates are filed under the PNRs of bags, unless
// that was read with the bags.
func (s *session) loadRushPNRs(ctx context.Context, bags []*bag.Bag) error {
	var pnrs []string
	for _, b := range bags {
		for _, pnr := range b.PNRs {
			if !b.Rush && !s.rushPNRs.Has(pnr) {
				pnrs = append(pnrs, pnr)
			}
		}
	}
	if len(pnrs) == 0 {
		return nil
	}
	slices.Sort(pnrs)
	_, err := s.ask(ctx, Wanted{RushPNRs: slices.Compact(pnrs)})
	return err
}

// loadOriginals loads the originals that rush bags name, and the passengers of rush bags that name none
// and of bags that such a rush bag may re-flight, for all bags together.
func (s *session) loadOriginals(ctx context.Context, bags []*bag.Bag) error {
	var named []bag.Plate
	var pnrs []string
	for _, b := range bags {
		switch {
		case b.OwnRush:
		case len(b.Originals) > 0:
			named = append(named, b.Originals...)
		case b.Rush && b.PNR != "":
			pnrs = append(pnrs, strings.ToUpper(b.PNR))
		}
		for _, pnr := range b.PNRs {
			if !b.Rush && len(s.rushPNRs.Value(pnr)) > 0 {
				pnrs = append(pnrs, pnr)
			}
		}
	}
	if err := s.load(ctx, named, Wanted{}); err != nil {
		return err
	}
	return s.loadPNRs(ctx, smallmap.Distinct(pnrs))
}

// reflightable reports whether the answers to loadChains and loadRushPNRs allow a rush bag of b.
func (s *session) reflightable(b *bag.Bag) bool {
	return len(s.rush.Value(b.Plate)) > 0 || slices.ContainsFunc(b.PNRs, func(pnr string) bool {
		return len(s.rushPNRs.Value(pnr)) > 0
	})
}
