package trail

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
)

// joinOriginals sets Reflighted of a rush bag.
func (s *session) joinOriginals(ctx context.Context, b *bag.Bag) error {
	if !b.Rush || b.OwnRush {
		return nil
	}
	found := make([]*bag.Bag, len(b.Originals))
	if s.viewer.SeesFounder(b) {
		var err error
		if found, err = s.originals(ctx, b); err != nil {
			return err
		}
	}
	for i, original := range found {
		joined := bag.Reflighted{Bag: original}
		if len(b.Originals) > 0 {
			joined.Plate = b.Originals[i]
		}
		if original != nil {
			joined.Plate = original.Plate
			if leg, ok := original.LastLeg(); ok {
				joined.Flight, joined.Carrier = leg.Flight, leg.Carrier
			}
		}
		b.Reflighted = append(b.Reflighted, joined)
	}
	return nil
}

// originals returns the bags that a rush bag re-flights: one for each plate that it names, nil if the
// plate has no fitting bag. If it names no plate, that is the only bag of the same passenger, or none
// (rules §3, rush).
func (s *session) originals(ctx context.Context, rush *bag.Bag) ([]*bag.Bag, error) {
	if len(rush.Originals) == 0 {
		return s.unnamedOriginal(ctx, rush)
	}
	if err := s.load(ctx, rush.Originals, Wanted{}); err != nil {
		return nil, err
	}
	found := make([]*bag.Bag, len(rush.Originals))
	for i, p := range rush.Originals {
		bags := s.byDay(p)
		if at := firstAfter(bags, rush.FirstDay); at > 0 && bags[at-1].FirstDay >= rush.FirstDay-bag.DelayDays {
			day := bags[at-1].FirstDay
			found[i] = slices.MinFunc(bags[firstAfter(bags, day-1):at], bag.CompareFirst)
		}
	}
	return found, nil
}

// byDay returns the bags of a loaded plate whose founders the asker sees, in the order of their
// first flight dates.
func (s *session) byDay(p bag.Plate) []*bag.Bag {
	bags, have := s.days.Get(p)
	if !have {
		bags = inOrderOfDays(s.founded(s.bags.Value(p)))
		s.days.Set(p, bags)
	}
	return bags
}

// founded returns the bags whose founders the asker sees. Only these are joined with each other, so
// that a bag out of scope never takes the place of one in scope.
func (s *session) founded(bags []*bag.Bag) []*bag.Bag {
	if s.viewer == nil {
		return bags
	}
	return slices.DeleteFunc(slices.Clone(bags), func(b *bag.Bag) bool { return !s.viewer.SeesFounder(b) })
}

func inOrderOfDays(bags []*bag.Bag) []*bag.Bag {
	return slices.SortedStableFunc(slices.Values(bags), func(a, b *bag.Bag) int { return cmp.Compare(a.FirstDay, b.FirstDay) })
}

// firstAfter returns the index of the first bag whose first flight date is after a day. The bags are
// in the order of these dates.
func firstAfter(bags []*bag.Bag, day bag.Day) int {
	at, _ := slices.BinarySearchFunc(bags, day+1, func(b *bag.Bag, day bag.Day) int { return cmp.Compare(b.FirstDay, day) })
	return at
}

// unnamedOriginal returns the bag that is found by the PNR and surname of a rush bag, has a fitting
// first flight date, and is neither rush nor cancelled. If there are several, it returns none.
func (s *session) unnamedOriginal(ctx context.Context, rush *bag.Bag) ([]*bag.Bag, error) {
	if rush.PNR == "" || bag.FoldName(rush.Surname) == "" {
		return nil, nil
	}
	passenger, err := s.ofPNR(ctx, rush.PNR)
	if err != nil {
		return nil, err
	}
	bags := passenger.bySurname[bag.FoldName(rush.Surname)]
	from, to := firstAfter(bags, rush.FirstDay-bag.DelayDays-1), firstAfter(bags, rush.FirstDay)
	if to-from != 1 {
		return nil, nil
	}
	return bags[from:to], nil
}

// passenger holds the bags that are found by one PNR.
type passenger struct {
	bags      []*bag.Bag            // in the order of lists
	bySurname map[string][]*bag.Bag // the bags that are neither rush nor cancelled, in the order of their first flight dates
	unnamed   []*bag.Bag            // the rush bags of the plates filed under the PNR that name no original
}

// newPassenger returns the passenger of a PNR. all are the bags of the plates filed under the PNR.
func (s *session) newPassenger(pnr string, all []*bag.Bag) *passenger {
	p := &passenger{bySurname: make(map[string][]*bag.Bag)}
	for _, b := range all {
		if b.HasPNR(pnr) {
			p.bags = append(p.bags, b)
		}
	}
	var candidates []*bag.Bag
	for _, b := range s.founded(all) {
		if b.Rush && len(b.Originals) == 0 && strings.EqualFold(b.PNR, pnr) {
			p.unnamed = append(p.unnamed, b)
		}
		if !b.Rush && !b.Cancelled && b.HasPNR(pnr) {
			candidates = append(candidates, b)
		}
	}
	for _, b := range inOrderOfDays(candidates) {
		for _, surname := range b.Surnames {
			p.bySurname[surname] = append(p.bySurname[surname], b)
		}
	}
	return p
}

// departingOn returns the bags with a living leg that departs on the day.
func (p *passenger) departingOn(day bag.Day) []*bag.Bag {
	return slices.DeleteFunc(slices.Clone(p.bags), func(b *bag.Bag) bool { return !b.DepartsOn(day) })
}

// platesOf returns the plates of bags, in their order.
func platesOf(bags []*bag.Bag) []bag.Plate {
	plates := make([]bag.Plate, len(bags))
	for i, b := range bags {
		plates[i] = b.Plate
	}
	return plates
}

// joinRushTags sets RushTag of each bag: the last rush bag of its chain, which holds no plate twice.
func (s *session) joinRushTags(ctx context.Context, bags []*bag.Bag) error {
	for _, b := range s.founded(bags) {
		chain, err := s.rushChain(ctx, b)
		if err != nil {
			return err
		}
		if len(chain) > 0 {
			b.RushTag = chain[len(chain)-1]
		}
	}
	return nil
}

// rushChain returns the chain of rush bags of a bag, with no plate twice. If a bag has several rush
// bags, the chain goes on with the one that was re-flighted last.
func (s *session) rushChain(ctx context.Context, b *bag.Bag) (chain []*bag.Bag, err error) {
	visited := map[bag.Plate]bool{b.Plate: true}
	for at := b; at != nil; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rush, err := s.rushBagsOf(ctx, at)
		if err != nil {
			return nil, err
		}
		at = nil
		for _, c := range rush {
			if !visited[c.Plate] && (at == nil || c.ReflightedAfter(at)) {
				at = c
			}
		}
		if at != nil {
			visited[at.Plate] = true
			chain = append(chain, at)
		}
	}
	return chain, nil
}

// leaveBehind makes the legs of a bag that has rush bags Delayed (rules §3, loading status). It
// returns the rush bag that re-flighted it first, or nil.
func (s *session) leaveBehind(ctx context.Context, b *bag.Bag) (first *bag.Bag, err error) {
	rush, err := s.rushBagsOf(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, c := range rush {
		if first == nil || c.ReflightedBefore(first) {
			first = c
		}
	}
	if first != nil {
		b.LeaveBehind(first.FirstReflight())
	}
	return first, nil
}

// rushBagsOf returns the rush bags whose original is b.
func (s *session) rushBagsOf(ctx context.Context, b *bag.Bag) ([]*bag.Bag, error) {
	if b.Rush && s.joinedPlates.Has(b.Plate) {
		return s.reflights.Value(b), nil // each bag of a chain follows the chain to its end
	}
	if _, err := s.loadRush(ctx, []bag.Plate{b.Plate}); err != nil {
		return nil, err
	}
	if s.joinedPlates.Add(b.Plate) {
		for _, p := range s.rush.Value(b.Plate) {
			if err := s.addReflights(ctx, s.bags.Value(p)); err != nil {
				return nil, err
			}
		}
	}
	if !b.Rush {
		for _, pnr := range b.PNRs {
			if rush, asked := s.rushPNRs.Get(pnr); asked && len(rush) == 0 {
				continue
			}
			found, err := s.ofPNR(ctx, pnr)
			if err != nil {
				return nil, err
			}
			rest := found.unnamed
			found.unnamed = nil
			if err := s.addReflights(ctx, rest); err != nil {
				return nil, err
			}
		}
	}
	return s.reflights.Value(b), nil
}

// addReflights adds rush bags to the reflights of their originals, each rush bag once.
func (s *session) addReflights(ctx context.Context, bags []*bag.Bag) error {
	for _, rush := range s.founded(bags) {
		if !rush.Rush || rush.OwnRush || !s.joinedRush.Add(rush) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := s.originals(ctx, rush)
		if err != nil {
			return err
		}
		for _, original := range found { // bags of different plates
			if original != nil {
				s.reflights.Set(original, append(s.reflights.Value(original), rush))
			}
		}
	}
	return nil
}
