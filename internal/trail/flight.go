package trail

import (
	"context"
	"slices"
	"strings"

	"bagtrail/internal/bag"
)

// cachedLists is how many plates, bags and flights the remembered lists hold together at most, times two.
const cachedLists = 30_000

// Listed is a bag on a flight. Of the bag it holds what lists show: plate, names, PNR, and whether it is a rush bag. Several
// answers share it.
type Listed struct {
	Bag *bag.Bag
	Leg bag.Leg
}

// OfFlight returns the bags with a living leg on the flight that departs from the airport, or arrives
// there, in the order of lists. It takes at most three round trips, and one where nothing has changed since it was
// asked for.
func (r *Reader) OfFlight(ctx context.Context, airport string, arriving bool, f bag.Flight) ([]Listed, error) {
	f.Airline, f.Number = strings.Clone(f.Airline), strings.Clone(f.Number) // what is remembered must not hold the request
	before, _ := r.lists.get(f)
	now, err := r.index.Flight(ctx, f, before.before)
	if err != nil {
		return nil, err
	}
	list, err := r.list(ctx, f, before, now)
	if err != nil {
		return nil, err
	}
	r.lists.put(f, list, list.weight())
	return r.ending(list, airport, arriving), nil
}

// ending picks from a list the legs that begin at the airport, or end there, as they are by now.
func (r *Reader) ending(l list, airport string, arriving bool) []Listed {
	place := r.settings.Place(airport)
	listed := make([]Listed, 0, len(l.plates))
	for i := range l.plates {
		for j := range l.plates[i].bags {
			b := &l.plates[i].bags[j]
			now := *b
			r.depart(&now)
			for _, leg := range now.Legs {
				end := leg.From
				if arriving {
					end = leg.To
				}
				if end != "" && r.settings.Place(end) == place {
					listed = append(listed, Listed{b, leg})
				}
			}
		}
	}
	return listed
}

// list is what was made of the plates that are filed under a flight. It is never changed once made.
type list struct {
	plates []onFlight // in ascending order
	before Before     // what it was made from, beside the flight itself
}

// weight is how many plates, bags and flights a list holds.
func (l list) weight() (n int) {
	for i := range l.plates {
		n += 1 + len(l.plates[i].bags) + len(l.plates[i].containers)
	}
	return n
}

// onFlight is what was made of one plate.
type onFlight struct {
	plate      bag.Plate
	version    uint64          // of what is filed under the plate
	containers []bag.Container // whose positionings can concern the bags
	positioned uint64          // version of these
	bags       []bag.Bag       // what a list shows of those with living legs on the flight, and these legs
}

// still reports whether what it was made from has these versions.
func (o *onFlight) still(version uint64, positioned map[bag.Container]uint64) bool {
	return o.version != 0 && o.version == version && o.positioned == versionOf(o.containers, positioned)
}

// newList returns the list of a flight with these plates.
func newList(plates []onFlight) list {
	l := list{plates: plates}
	l.before.Plates = make([]bag.Plate, len(plates))
	seen := make(map[bag.Container]struct{})
	for i := range plates {
		l.before.Plates[i] = plates[i].plate
		for _, c := range plates[i].containers {
			if _, have := seen[c]; !have {
				seen[c] = struct{}{}
				l.before.Containers = append(l.before.Containers, c)
			}
		}
	}
	return l
}

// list makes the list of a flight, from the one before as far as nothing has changed.
func (r *Reader) list(ctx context.Context, f bag.Flight, before list, now Overview) (list, error) {
	s := r.newSession()
	s.learn(before.before, now.Versions)
	made := make([]onFlight, len(now.Plates))
	var missing []bag.Plate
	old := 0
	for i, plate := range now.Plates {
		for old < len(before.plates) && before.plates[old].plate < plate {
			old++
		}
		if old < len(before.plates) && before.plates[old].plate == plate && before.plates[old].still(now.OfPlates[old], s.containerVersions) {
			made[i] = before.plates[old]
		} else {
			missing = append(missing, plate)
		}
	}
	if len(missing) == 0 && len(made) == len(before.plates) {
		return before, nil
	}
	found, err := s.read(ctx, missing)
	if err != nil {
		return list{}, err
	}
	for i := range made {
		if made[i].plate == "" {
			made[i] = shown(f, missing[0], found[0])
			missing, found = missing[1:], found[1:]
		}
	}
	return newList(made), nil
}

// shown returns what lists of a flight show of a plate. It holds nothing else, and so no text of a message.
func shown(f bag.Flight, plate bag.Plate, from *folded) onFlight {
	made := onFlight{plate: plate, version: from.version, positioned: from.positioned, containers: slices.Clone(from.containers)}
	for i := range made.containers {
		c := &made.containers[i]
		together(&c.Flight.Airline, &c.Flight.Number, &c.Device)
	}
	for i := range from.bags {
		b := &from.bags[i]
		var legs []bag.Leg
		for _, l := range b.Legs {
			if l.Living && l.Flight == f {
				l.Flight = f
				together(&l.From, &l.To, &l.Seat)
				legs = append(legs, l)
			}
		}
		if legs != nil {
			short := bag.Bag{Plate: plate, Rush: b.Rush, PNR: b.PNR, Surname: b.Surname, GivenName: b.GivenName, Legs: legs}
			together(&short.PNR, &short.Surname, &short.GivenName)
			made.bags = append(made.bags, short)
		}
	}
	return made
}

// together replaces texts by copies in one piece of memory.
func together(texts ...*string) {
	size := 0
	for _, t := range texts {
		size += len(*t)
	}
	var b strings.Builder
	b.Grow(size)
	for _, t := range texts {
		b.WriteString(*t)
	}
	all := b.String()
	for _, t := range texts {
		*t, all = all[:len(*t)], all[len(*t):]
	}
}
