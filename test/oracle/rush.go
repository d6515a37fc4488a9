package oracle

import "slices"

// joinRush finds the original bag of every rush bag, and the end of every chain of rush bags.
func (o *Oracle) joinRush() {
	for _, r := range o.bags {
		if r.Rush {
			r.originalID, r.original = o.originalOf(r)
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

// rushOf is the rush bag that re-flights b; of several the one that was re-flighted last. Each plate counts once in a
// chain: those with one of the plates are passed over.
func (o *Oracle) rushOf(b *Bag, plates []string) *Bag {
	var latest *Bag
	for _, r := range o.bags {
		if r.original == b && !slices.Contains(plates, r.Plate) &&
			(latest == nil || order(lastReflighted(r), lastReflighted(latest)) > 0) {
			latest = r
		}
	}
	return latest
}

func lastReflighted(b *Bag) *item {
	for _, e := range slices.Backward(b.events) {
		if e.row == reflighted {
			return e.item
		}
	}
	return nil
}

// originalOf finds the plate that a rush bag re-flights and, where it is known, the bag.
func (o *Oracle) originalOf(r *Bag) (string, *Bag) {
	for _, e := range slices.Backward(r.events) {
		if e.row != reflighted {
			continue
		}
		plate := e.g.UniqueID
		if len(plate) != 10 || !allDigits(plate) || plate == r.Plate {
			plate = tenDigitWord(e.g.AirlineData)
		}
		if plate == "" || plate == r.Plate { // the own plate is never an original
			continue
		}
		bags := o.Bags(plate)
		var best *Bag
		for _, b := range bags {
			if b != r && inSpan(b, r) && (best == nil || b.first > best.first) {
				best = b
			}
		}
		return plate, best
	}

	var same []*Bag
	for _, b := range o.bags {
		if !b.Rush && !b.Cancelled && inSpan(b, r) && r.PNR != "" && plainName(b.PNR) == plainName(r.PNR) &&
			plainName(r.LastName) != "" && plainName(b.LastName) == plainName(r.LastName) {
			same = append(same, b)
		}
	}
	if len(same) == 1 {
		return same[0].Plate, same[0]
	}
	return "", nil
}

// inSpan says whether b's first flight date is not after the rush bag's, and at most 14 days before.
func inSpan(b, rush *Bag) bool {
	return b.first <= rush.first && rush.first-b.first <= 14
}

// missedLeg is the bag's last living leg not Loaded on Aircraft, else its last (living) leg.
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
