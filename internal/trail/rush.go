package trail

import (
	"context"
	"strings"

	"bagtrail/internal/bag"
)

// rushDays is how many days before a rush bag the first flight of its original may lie (rules §3, rush).
const rushDays = 14

// joinOriginal fills in which bag a rush bag re-flights.
func (s *session) joinOriginal(ctx context.Context, b *bag.Bag) error {
	if !b.Rush {
		return nil
	}
	first, err := s.original(ctx, b)
	if err != nil {
		return err
	}
	if first == nil && b.Original == "" {
		return nil
	}
	joined := &bag.Reflighted{Plate: b.Original, Bag: first}
	if first != nil {
		joined.Plate = first.Plate
		if leg, ok := first.LastLeg(); ok {
			joined.Flight = leg.Flight
		}
	}
	b.Reflighted = joined
	return nil
}

// original returns the bag that a rush bag re-flights, or nil. Of the bags of the plate that it names it
// is the one with the latest first flight date not after its own; where it names none, the one bag of the
// same PNR and surname that is neither rush nor cancelled.
func (s *session) original(ctx context.Context, rush *bag.Bag) (*bag.Bag, error) {
	if found, have := s.originals.Get(rush); have {
		return found, nil
	}
	found, err := s.findOriginal(ctx, rush)
	if err == nil {
		s.originals.Set(rush, found)
	}
	return found, err
}

func (s *session) findOriginal(ctx context.Context, rush *bag.Bag) (*bag.Bag, error) {
	if rush.Original != "" {
		plate := bag.Plate(strings.Clone(string(rush.Original))) // it may be remembered longer than the message that names it
		if err := s.load(ctx, []bag.Plate{plate}, Wanted{}); err != nil {
			return nil, err
		}
		var best *bag.Bag
		for _, b := range s.bags.Value(plate) {
			if within(b, rush) && (best == nil || b.FirstDay > best.FirstDay) {
				best = b
			}
		}
		return best, nil
	}
	if rush.PNR == "" || rush.Surname == "" {
		return nil, nil
	}
	candidates, err := s.ofPNR(ctx, rush.PNR)
	if err != nil {
		return nil, err
	}
	var only *bag.Bag
	for _, b := range candidates {
		if b.Rush || b.Cancelled || !within(b, rush) || bag.FoldName(b.Surname) != bag.FoldName(rush.Surname) {
			continue
		}
		if only != nil {
			return nil, nil
		}
		only = b
	}
	return only, nil
}

// within reports whether the first flight date of b lies where that of an original may lie.
func within(b, rush *bag.Bag) bool {
	return b.FirstDay <= rush.FirstDay && b.FirstDay >= rush.FirstDay-rushDays
}

// joinRushTag fills in the last rush bag of the chain that re-flights b, each plate once.
func (s *session) joinRushTag(ctx context.Context, b *bag.Bag) error {
	visited := map[bag.Plate]bool{b.Plate: true}
	for at := b; ; {
		next, err := s.reflightOf(ctx, at, visited)
		if err != nil {
			return err
		}
		if next == nil {
			return nil
		}
		visited[next.Plate] = true
		b.RushTag, at = next, next
	}
}

// reflightOf returns the rush bag whose original is b: of several the one that was re-flighted last.
func (s *session) reflightOf(ctx context.Context, b *bag.Bag, visited map[bag.Plate]bool) (*bag.Bag, error) {
	candidates, err := s.rushCandidates(ctx, b)
	if err != nil {
		return nil, err
	}
	var latest *bag.Bag
	for _, c := range candidates {
		if !c.Rush || visited[c.Plate] {
			continue
		}
		original, err := s.original(ctx, c)
		if err != nil {
			return nil, err
		}
		if original == b && (latest == nil || c.ReflightedAfter(latest)) {
			latest = c
		}
	}
	return latest, nil
}

// rushCandidates returns the bags that may be rush bags of b: those of plates that name its plate, and
// those of its passenger.
func (s *session) rushCandidates(ctx context.Context, b *bag.Bag) ([]*bag.Bag, error) {
	if err := s.loadRush(ctx, []bag.Plate{b.Plate}); err != nil {
		return nil, err
	}
	var candidates []*bag.Bag
	for _, p := range s.rush.Value(b.Plate) {
		for _, c := range s.bags.Value(p) {
			if c.Original == b.Plate {
				candidates = append(candidates, c)
			}
		}
	}
	if b.PNR == "" || b.Rush {
		return candidates, nil
	}
	passenger, err := s.ofPNR(ctx, b.PNR)
	if err != nil {
		return nil, err
	}
	for _, c := range passenger {
		if c.Rush && c.Original == "" {
			candidates = append(candidates, c)
		}
	}
	return candidates, nil
}
