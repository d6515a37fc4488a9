package trail

import (
	"context"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/parallel"
	"bagtrail/internal/smallmap"
)

// read makes the bags of plates. It takes one round trip if the plates are cached and nothing has
// changed; two if their containers are known from their messages only; and one more if something
// has changed that was cached.
func (s *session) read(ctx context.Context, plates []bag.Plate, also Wanted) ([]*plateState, error) {
	found := make([]*plateState, len(plates))
	for {
		n := readPlan{session: s, Wanted: also}
		also = Wanted{}
		var ready []int // to be folded
		for i, plate := range plates {
			if found[i] == nil {
				var folds bool
				if found[i], folds = n.of(plate); folds {
					ready = append(ready, i)
				}
			}
		}
		if len(ready) > 0 {
			if err := s.foldAll(ctx, plates, found, ready); err != nil {
				return nil, err
			}
		}
		if n.Size() == 0 {
			return found, nil
		}
		if _, err := s.ask(ctx, n.Wanted); err != nil {
			return nil, err
		}
	}
}

// foldAll makes the bags of those plates whose messages and positionings are there.
func (s *session) foldAll(ctx context.Context, plates []bag.Plate, found []*plateState, ready []int) error {
	return parallel.Do(len(ready), parallel.Workers(len(ready), platesAWorker), func(from, to int) (err error) {
		for _, i := range ready[from:to] {
			if found[i], err = s.fold(ctx, plates[i], found[i]); err != nil {
				break
			}
		}
		return err
	})
}

// readPlan is what a session reads with the next round trip.
type readPlan struct {
	*session
	Wanted
	containers smallmap.Map[bag.Container, struct{}] // those whose positionings or versions are wanted
}

// of returns the state of a plate, and whether its bags are to be made now. If something is missing,
// it wants that, and returns nil.
func (n *readPlan) of(plate bag.Plate) (f *plateState, folds bool) {
	f, have := n.trails.Get(plate)
	if !have {
		if f = n.cached(plate); f == nil {
			return nil, false
		}
	}
	switch {
	case !n.listing.IsZero():
		n.wantRushBags(plate, f)
	case n.tracing:
		n.wantRushPlatesOfPNRs(f)
	}
	if f.listed != nil || f.bags != nil && n.unchanged(f) {
		return f, false
	}
	ready := true
	for _, c := range f.containers {
		ready = n.wantStowage(c) && ready
	}
	if !ready {
		return nil, false
	}
	return f, true
}

// wantRushBags wants to know the rush plates under which the bags of a plate may have been
// re-flighted.
func (n *readPlan) wantRushBags(plate bag.Plate, f *plateState) {
	if f.listed != nil {
		n.wantRushBagsOf(f.listed)
		return
	}
	n.wantRushPlatesOf(plate)
	n.wantRushPlatesOfPNRs(f)
}

// wantRushPlatesOfPNRs wants to know the rush plates that were filed under the PNRs of a plate.
func (n *readPlan) wantRushPlatesOfPNRs(f *plateState) {
	for _, m := range f.messages {
		n.wantRushPlatesUnder(m.PNR)
	}
}

// wantRushBagsOf is wantRushBags for the entry of a list.
func (n *readPlan) wantRushBagsOf(o *listedPlate) {
	if !o.mayBeDelayed(n.at) {
		return
	}
	n.wantRushPlatesOf(o.plate)
	for i := range o.bags {
		for _, pnr := range o.bags[i].pnrs {
			n.wantRushPlatesUnder(pnr)
		}
	}
}

func (n *readPlan) wantRushPlatesOf(original bag.Plate) {
	if !n.rush.Has(original) {
		n.rush.Set(original, nil)
		n.Originals = append(n.Originals, original)
	}
}

func (n *readPlan) wantRushPlatesUnder(pnr string) {
	if pnr = strings.ToUpper(pnr); pnr != "" && !n.rushPNRs.Has(pnr) {
		n.rushPNRs.Set(pnr, nil)
		n.RushPNRs = append(n.RushPNRs, pnr)
	}
}

// cached returns the cached state of a plate if it is known to be current. Otherwise it wants the
// messages of the plate or, if there is a cached state, first the versions by which to judge it.
func (n *readPlan) cached(plate bag.Plate) *plateState {
	before, have := n.reader.plates.get(plate)
	version, known := n.trailVersions.Get(plate)
	switch {
	case have && known && before.version == version:
		n.trails.Set(plate, before)
		return before
	case have && !known && !n.skipVersions:
		n.TrailVersions = append(n.TrailVersions, plate)
		for _, c := range before.containers {
			if !n.stowageVersions.Has(c) && n.isFirst(c) {
				n.StowageVersions = append(n.StowageVersions, c)
			}
		}
	default:
		n.Trails = append(n.Trails, plate)
		if have {
			for _, c := range before.containers {
				n.wantStowage(c)
			}
		}
	}
	return nil
}

// unchanged reports whether the containers of a plate are as they were when its bags were made.
func (n *readPlan) unchanged(f *plateState) bool {
	for _, c := range f.containers {
		if !n.stowageVersions.Has(c) {
			return false
		}
	}
	return f.positioned == versionOf(f.containers, &n.stowageVersions)
}

// wantStowage reports whether the positionings of a container are there, and wants them if not.
func (n *readPlan) wantStowage(c bag.Container) bool {
	if n.stowage.Has(c) || n.recallStowage(c) {
		return true
	}
	if n.isFirst(c) {
		n.Stowage = append(n.Stowage, c)
	}
	return false
}

// isFirst reports whether something of a container is wanted for the first time.
func (n *readPlan) isFirst(c bag.Container) bool {
	if n.containers.Has(c) {
		return false
	}
	n.containers.Set(c, struct{}{})
	return true
}
