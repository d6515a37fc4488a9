package trail

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
	"bagtrail/internal/smallmap"
)

// read returns the states of plates, with their bags. It takes one round trip if the plates are
// cached and nothing has changed. It takes two if it has to read the messages to know the
// containers, and one more if a cached plate has changed. If the session traces or lists, it may take
// another one for the rush plates to which the bags lead. The first round trip also reads extra.
func (s *session) read(ctx context.Context, plates []bag.Plate, extra Wanted) ([]*plateState, error) {
	found := make([]*plateState, len(plates))
	for {
		p := readPlan{session: s, Wanted: extra}
		extra = Wanted{}
		var ready []int // the plates to fold, whose messages and positionings are there
		for i, plate := range plates {
			if found[i] == nil {
				var folds bool
				if found[i], folds = p.of(plate); folds {
					ready = append(ready, i)
				}
			}
		}
		err := eachPlate(len(ready), func(n int) (err error) {
			i := ready[n]
			found[i], err = s.fold(ctx, plates[i], found[i])
			return err
		})
		if err != nil {
			return nil, err
		}
		if p.Size() == 0 {
			return found, nil
		}
		if _, err := s.ask(ctx, p.Wanted); err != nil {
			return nil, err
		}
	}
}

// readPlan collects what a session reads with the next round trip.
type readPlan struct {
	*session
	Wanted
	containers smallmap.Set[bag.Container] // the containers whose positionings or versions are in Wanted
}

// of returns the state of a plate, and whether its bags are to be made now. If messages or
// positionings are missing, it adds them to the plan, and returns nil. It also adds the rush plates
// that the session reads, and does not wait for them.
func (p *readPlan) of(plate bag.Plate) (state *plateState, folds bool) {
	state, have := p.trails.Get(plate)
	if !have {
		if state = p.cached(plate); state == nil {
			return nil, false
		}
	}
	switch {
	case state.listed != nil:
		p.wantRushBagsOf(state.listed)
	case p.tracing || !p.listing.IsZero():
		p.wantRushPlatesOf(plate)
		for _, m := range state.messages {
			p.wantRushPlatesUnder(m.PNR)
		}
	}
	if state.listed != nil || state.bags != nil && p.unchanged(state) {
		return state, false
	}
	ready := true
	for _, c := range state.containers {
		ready = p.wantStowage(c) && ready
	}
	if !ready {
		return nil, false
	}
	return state, true
}

// wantRushBagsOf adds to the plan the rush plates under which the bags of a list's entry may have been
// re-flighted.
func (p *readPlan) wantRushBagsOf(o *listedPlate) {
	if !o.mayBeDelayed(p.at) {
		return
	}
	p.wantRushPlatesOf(o.plate)
	for i := range o.bags {
		for _, pnr := range o.bags[i].pnrs {
			p.wantRushPlatesUnder(pnr)
		}
	}
}

func (p *readPlan) wantRushPlatesOf(original bag.Plate) {
	if !p.rush.Has(original) {
		p.rush.Set(original, nil)
		p.Originals = append(p.Originals, original)
	}
}

func (p *readPlan) wantRushPlatesUnder(pnr string) {
	if pnr = strings.ToUpper(pnr); pnr != "" && !p.rushPNRs.Has(pnr) {
		p.rushPNRs.Set(pnr, nil)
		p.RushPNRs = append(p.RushPNRs, pnr)
	}
}

// cached returns the cached state of a plate if it is known to be current. Otherwise it adds the
// messages of the plate to the plan or, if there is a cached state, first the versions that tell
// whether it is current.
func (p *readPlan) cached(plate bag.Plate) *plateState {
	before, have := p.reader.plates.Get(plate)
	version, known := p.trailVersions.Get(plate)
	switch {
	case have && known && before.version == version:
		p.trails.Set(plate, before)
		return before
	case have && !known && !p.skipVersions:
		p.PlateVersions = append(p.PlateVersions, plate)
		for _, c := range before.containers {
			if !p.stowageVersions.Has(c) && p.containers.Add(c) {
				p.StowageVersions = append(p.StowageVersions, c)
			}
		}
	default:
		p.PlateMessages = append(p.PlateMessages, plate)
		if have {
			for _, c := range before.containers {
				p.wantStowage(c)
			}
		}
	}
	return nil
}

// unchanged reports whether the positionings of a plate are those from which its bags were made.
func (p *readPlan) unchanged(state *plateState) bool {
	unknown := func(c bag.Container) bool { return !p.stowageVersions.Has(c) }
	return !slices.ContainsFunc(state.containers, unknown) && state.positioned == versionOf(state.containers, &p.stowageVersions)
}

// wantStowage reports whether the positionings of a container are there. If not, it adds them to
// the plan.
func (p *readPlan) wantStowage(c bag.Container) bool {
	if p.stowage.Has(c) || p.recallStowage(c) {
		return true
	}
	if p.containers.Add(c) {
		p.Stowage = append(p.Stowage, c)
	}
	return false
}
