package oracle

import (
	"cmp"
	"slices"
	"strings"
)

// original is the original of a rush bag: a plate and, if known, its bag.
type original struct {
	plate string
	bag   *Bag
	by    *item // group that names it; nil if it was found by the passenger
}

// joinRush finds the originals of every rush bag, and the last bag of every chain of rush bags.
func (o *Oracle) joinRush() {
	for _, r := range o.bags {
		r.ownRush = len(ownReflights(r)) > 0
	}
	for _, r := range o.bags {
		if r.Rush && !r.ownRush {
			r.originals = o.originalsOf(r)
		}
	}
	for _, b := range o.bags {
		plates := []string{b.Plate}
		for r := o.rushOf(b, plates); r != nil; r = o.rushOf(r, plates) {
			b.RushTag = r.Plate
			plates = append(plates, r.Plate)
		}
	}
}

// isOwnRush reports whether the item belongs to a BSM that re-flights the plate that it names: it
// has .E/RUSH, is no DEL and names no other plate, and the plate is no rush plate.
func isOwnRush(plate string, it *item) bool {
	return isBSM(it) && !isDEL(it) && it.g.Rush && plate[0] != '2' && namedOriginal(plate, it) == ""
}

// namedOriginal returns the other plate that a group names as its original, or "".
func namedOriginal(plate string, it *item) string {
	if id := it.g.UniqueID; len(id) == 10 && allDigits(id) && id != plate {
		return id
	}
	if word := tenDigitWord(it.g.AirlineData); word != plate {
		return word
	}
	return ""
}

// tenDigitWord returns the first word of ten digits. Words are separated by characters that are
// neither letters nor digits.
func tenDigitWord(lines []string) string {
	for _, line := range lines {
		for _, word := range strings.FieldsFunc(line, func(c rune) bool {
			return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
		}) {
			if len(word) == 10 && allDigits(word) {
				return word
			}
		}
	}
	return ""
}

// reflights reports whether the other bag is an original of this one.
func (b *Bag) reflights(other *Bag) bool {
	return slices.ContainsFunc(b.originals, func(a original) bool { return a.bag == other })
}

// rushOf returns the rush bag that re-flights b: if several do, the one that was re-flighted last;
// if one message makes several, the one with the highest plate. Bags with one of the plates are
// skipped.
func (o *Oracle) rushOf(b *Bag, plates []string) *Bag {
	var latest *Bag
	for _, r := range o.bags {
		if !r.reflights(b) || slices.Contains(plates, r.Plate) {
			continue
		}
		if latest == nil || cmp.Or(orderOfMessages(r.lastReflighted(), latest.lastReflighted()), cmp.Compare(r.Plate, latest.Plate)) > 0 {
			latest = r
		}
	}
	return latest
}

// orderOfMessages is order without the groups of a message.
func orderOfMessages(a, b *item) int {
	if a.message == b.message {
		return 0
	}
	return order(a, b)
}

func (b *Bag) lastReflighted() *item {
	for _, e := range slices.Backward(b.events) {
		if e.row == reflighted {
			return e.item
		}
	}
	return nil
}

// originalsOf returns the originals of a rush bag: those named by the groups of its latest
// REFLIGHTED message that names any, else the one bag of its passenger.
func (o *Oracle) originalsOf(r *Bag) []original {
	var all []original
	for _, e := range slices.Backward(r.events) {
		if e.row != reflighted || len(all) > 0 && all[0].by.message != e.message {
			continue
		}
		if plate := namedOriginal(r.Plate, e.item); plate != "" {
			all = append([]original{{plate, o.originalOf(r, plate), e.item}}, all...)
		}
	}
	if len(all) > 0 {
		return all
	}
	var same []*Bag
	for _, b := range o.bags {
		if !b.Rush && !b.Cancelled && inSpan(b, r) && b.FoundByPNR(r.PNR) && b.FoundBySurname(r.LastName) {
			same = append(same, b)
		}
	}
	if len(same) == 1 {
		return []original{{plate: same[0].Plate, bag: same[0]}}
	}
	return nil
}

// originalOf returns the bag of a plate that r re-flights, or nil: the one with the latest first
// flight date in the span. If there are several, it is the one with the first message that they do
// not share.
func (o *Oracle) originalOf(r *Bag, plate string) *Bag {
	var best *Bag
	for _, b := range o.Bags(plate) {
		if !inSpan(b, r) {
			continue
		}
		if best == nil || b.first > best.first || b.first == best.first && orderOfFirst(b, best) < 0 {
			best = b
		}
	}
	return best
}

// orderOfFirst puts first the bag with the first message, in the order of receipt, that is about
// only one of them; then the one with the first group.
func orderOfFirst(a, b *Bag) int {
	order := func(x, y *item) int {
		return cmp.Or(orderOfReceipt(x.message, y.message), cmp.Compare(x.group, y.group))
	}
	for _, it := range slices.SortedFunc(slices.Values(slices.Concat(a.items, b.items)), order) {
		ofA, ofB := slices.Contains(a.items, it), slices.Contains(b.items, it)
		switch {
		case isPositioning(it) || ofA && ofB:
		case ofA:
			return -1
		default:
			return 1
		}
	}
	return 0
}

// inSpan reports whether b's first flight date is not after the rush bag's, and at most 14 days
// before it.
func inSpan(b, rush *Bag) bool {
	return b.first <= rush.first && rush.first-b.first <= 14
}

// reflightedInfo returns what a REFLIGHTED event of the bag shows: the original that its own group
// names, if that is an original of the bag, else the first original.
func (b *Bag) reflightedInfo(e *event) *Reflighted {
	if len(b.originals) == 0 {
		return nil
	}
	shown := b.originals[0]
	for _, a := range b.originals {
		if a.plate == namedOriginal(b.Plate, e.item) {
			shown = a
			break
		}
	}
	info := &Reflighted{Plate: shown.plate}
	if l := missedLeg(shown.bag); l != nil {
		info.Airline, info.Number, info.Date = l.Airline, l.Number, l.Date
	}
	return info
}

// missedLeg returns the bag's last living leg that is not Loaded on Aircraft, else its last leg.
// Reading: if the bag has living legs, its last leg is the last living one.
func missedLeg(b *Bag) *Leg {
	if b == nil {
		return nil
	}
	for i := range slices.Backward(b.Legs) {
		if l := &b.Legs[i]; l.Living && l.Status != "Loaded on Aircraft" {
			return l
		}
	}
	for i := range slices.Backward(b.Legs) {
		if b.Legs[i].Living {
			return &b.Legs[i]
		}
	}
	if len(b.Legs) > 0 {
		return &b.Legs[len(b.Legs)-1]
	}
	return nil
}
