package ingestor

import (
	"fmt"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/parser"
)

// Limits of the effects of one message (rules §1). A text of 64 KiB can name millions of bags in
// ranges of 999. The index stores the text with every bag, and every bag with every flight. It stores
// the text of a container positioning with every container. Each group that names a bag or a
// container makes an event, which can show the whole text.
const (
	maxBags    = 999     // different plates
	maxEntries = 100_000 // index entries, as the functions entries and named count them
	maxText    = 4 << 20 // bytes of text, counted for each bag or container of each group
	maxOnward  = 99      // onward flights of a group: the time of a fold grows with the square of the legs of a bag
)

// filing returns the filing of a message, or the fault of one that exceeds the limits.
func (j *Judge) filing(m *parser.Message, text string, received time.Time) (f bag.Filing, faults []Diagnostic) {
	for i := range m.Groups {
		if len(m.Groups[i].Onward) > maxOnward {
			return f, faultOf(fault.TooLarge, fmt.Sprintf("at most %d onward flights in a group", maxOnward))
		}
	}
	most := maxText / max(len(text), 1)
	if !fewTags(m, most) {
		return f, tooMuch()
	}
	f = j.enricher.Filing(m, text, received)
	if len(f.Stowage) > 0 && total(m, positioned) > most || named(&f) > maxEntries {
		return bag.Filing{}, tooMuch()
	}
	return f, nil
}

func tooMuch() []Diagnostic {
	return faultOf(fault.TooLarge, fmt.Sprintf(
		"at most %d bags, at most %d MiB as the product of length and bags or containers, each counted in each of its groups, and at most %d index entries",
		maxBags, maxText>>20, maxEntries))
}

// fewTags reports whether a message keeps within three limits: it names at most maxBags different
// plates; the numbers of different plates of its groups add up to at most most; and it makes at
// most maxEntries index entries. Beyond these limits its filing could take all memory. fewTags
// first counts repeated plates too, which is fast.
func fewTags(m *parser.Message, most int) bool {
	if total(m, tagged) <= min(maxBags, most) && entries(m, tagged) <= maxEntries {
		return true
	}
	return plates(together(m)) <= maxBags && total(m, plates) <= most && entries(m, plates) <= maxEntries
}

// total returns the sum of a count over the groups of a message.
func total(m *parser.Message, count func(*parser.Group) int) (sum int) {
	for i := range m.Groups {
		sum += count(&m.Groups[i])
	}
	return sum
}

// entries returns the number of index entries that the groups of a message make (rules §1). bags
// counts the bags of a group.
func entries(m *parser.Message, bags func(*parser.Group) int) int {
	return total(m, func(g *parser.Group) int {
		return (bags(g) + 1) * (3 + len(g.Onward)) // .I, .F, .L and each .O; containers have flights too
	})
}

// named returns the number of index entries by flight and surname of a filing (rules §1). If
// several groups name a bag, it has an entry for each of its surnames on each of its flights.
func named(f *bag.Filing) (count int) {
	for i := range f.Entries {
		count += len(f.Entries[i].Flights) * len(f.Entries[i].Surnames)
	}
	return count
}

// together returns a group with the tags of all groups of a message.
func together(m *parser.Message) *parser.Group {
	all := new(parser.Group)
	for i := range m.Groups {
		all.Tags = append(all.Tags, m.Groups[i].Tags...)
	}
	return all
}

// tagged returns the number of plates that the tags of a group name. A plate that is repeated
// counts again.
func tagged(g *parser.Group) (count int) {
	for _, t := range g.Tags {
		count += t.Count
	}
	return count
}

// plates returns the number of different plates that a group names. It stops at maxBags+1.
func plates(g *parser.Group) (count int) {
	for range g.Plates() {
		if count++; count > maxBags {
			break
		}
	}
	return count
}

// positioned returns how many containers a group of a container positioning positions: 1 or 0.
func positioned(g *parser.Group) int {
	if g.Loading.Device == "" || !g.Outbound.Present() {
		return 0
	}
	return 1
}
