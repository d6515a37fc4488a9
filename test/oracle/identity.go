package oracle

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// span is a range of days that an item covers.
type span struct{ first, last int }

// identities splits the items of a plate, in order, by bag. An item can belong to several bags.
func (o *Oracle) identities(plate string, items []*item) [][]*item {
	var bags [][]*item
	for _, journey := range journeys(items, spans(plate, items)) {
		bags = append(bags, o.bagsOf(journey)...)
	}
	return bags
}

// bagsOf splits the items of a journey by bag.
func (o *Oracle) bagsOf(journey []*item) [][]*item {
	named, nameless := passengers(journey)
	named = o.joinStrangers(named)
	if len(named) == 0 {
		return [][]*item{nameless}
	}
	if len(named) > 99 && len(nameless) > 0 {
		return append(named, nameless)
	}
	// Items that name neither PNR nor surname belong to each bag whose items with one of them name
	// one of their flights; if there is no such bag, to every bag.
	whole := make([][]*item, len(named))
	for i := range named {
		whole[i] = slices.Clone(named[i])
	}
	for _, it := range nameless {
		var to []int
		for i, p := range named {
			if slices.ContainsFunc(p, func(other *item) bool { return o.shareFlight(it, other) }) {
				to = append(to, i)
			}
		}
		for i := range named {
			if len(to) == 0 || slices.Contains(to, i) {
				whole[i] = append(whole[i], it)
			}
		}
	}
	return whole
}

// spans returns the days that each of the items covers. The items are in order.
func spans(plate string, items []*item) map[*item]span {
	covered := map[*item]span{}
	for i, it := range items {
		s := span{slices.Min(days(it)), slices.Max(days(it))}
		if isOwnRush(plate, it) {
			// The latest journey before this item that began at most 14 days before its first
			// flight date.
			before := slices.DeleteFunc(slices.Clone(items[:i]), func(b *item) bool { return b.message == it.message })
			for _, j := range slices.Backward(journeys(before, covered)) {
				began := covered[j[0]].first
				if began <= s.first && s.first-began <= 14 {
					s.first = began
					break
				}
			}
		}
		covered[it] = s
	}
	return covered
}

// journeys splits items into journeys: days that overlap or are at most three days apart belong
// together. Journeys are ordered by their first days.
func journeys(items []*item, covered map[*item]span) [][]*item {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b *item) int { return cmp.Compare(covered[a].first, covered[b].first) })
	var all [][]*item
	var end int
	for _, it := range items {
		if len(all) == 0 || covered[it].first-end > 3 {
			all = append(all, nil)
			end = covered[it].last
		}
		all[len(all)-1] = append(all[len(all)-1], it)
		end = max(end, covered[it].last)
	}
	return all
}

// days returns the flight dates that the item names; without one, the airport-local day on which it
// happened.
func days(it *item) []int {
	var all []int
	for _, f := range it.named() {
		all = append(all, f.day)
	}
	if len(all) == 0 {
		all = []int{it.localDay}
	}
	return all
}

// passengers splits the items that name a PNR or a surname by passenger, and returns the others
// apart.
func passengers(items []*item) (split [][]*item, nameless []*item) {
	for _, it := range items {
		if !it.namesPassenger() {
			nameless = append(nameless, it)
			continue
		}
		pnr, surname := it.pnr(), it.surname()
		joined := []*item{it}
		var others [][]*item
		for _, p := range split {
			if slices.ContainsFunc(p, func(other *item) bool {
				return pnr != "" && pnr == other.pnr() || surname != "" && surname == other.surname()
			}) {
				joined = append(joined, p...)
			} else {
				others = append(others, p)
			}
		}
		split = append(others, joined)
	}
	return split, nameless
}

// joinStrangers moves messages whose names match no new BSM to the one bag with a new BSM that
// names one of their flights, and BPMs to each of 2 to 99 such bags. Reading: names match a new BSM
// directly or through others, as in passengers; each message is judged by its own flights; messages
// that stay remain one bag.
func (o *Oracle) joinStrangers(passengers [][]*item) [][]*item {
	var known, strangers [][]*item
	for _, p := range passengers {
		if slices.ContainsFunc(p, isNew) {
			known = append(known, p)
		} else {
			strangers = append(strangers, p)
		}
	}
	joined := make([][]*item, len(known))
	for i := range known {
		joined[i] = slices.Clone(known[i])
	}
	for _, p := range strangers {
		var stay []*item
		for _, it := range p {
			var to []int
			for i := range known {
				if slices.ContainsFunc(known[i], func(other *item) bool { return isNew(other) && o.shareFlight(it, other) }) {
					to = append(to, i)
				}
			}
			if len(to) == 0 || len(to) > 99 || len(to) > 1 && !isBPM(it) {
				stay = append(stay, it)
				continue
			}
			for _, i := range to {
				joined[i] = append(joined[i], it)
			}
		}
		if len(stay) > 0 {
			joined = append(joined, stay)
		}
	}
	return joined
}

// pnr returns the PNR as it is compared, without case.
func (it *item) pnr() string { return pnrOf(it.g.PNR) }

// surname returns the surname as it is compared: its letters without case, or "" if it has none.
func (it *item) surname() string { return lettersOf(it.g.Surname) }

func (it *item) namesPassenger() bool { return it.pnr() != "" || it.surname() != "" }

func pnrOf(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }

func lettersOf(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) && c != unicode.ReplacementChar { // a byte that is not UTF-8
			return -1
		}
		return unicode.ToUpper(c)
	}, s)
}

// shareFlight reports whether the items name one flight.
func (o *Oracle) shareFlight(a, b *item) bool {
	return slices.ContainsFunc(a.named(), func(f flight) bool { return o.names(b, f) })
}

// newBag makes the bag of these items.
func newBag(plate string, items []*item) *Bag {
	slices.SortFunc(items, order)
	b := &Bag{Plate: plate, items: items, Unknown: !slices.ContainsFunc(items, isBSM)}
	var days []int
	for _, it := range items {
		for _, f := range it.named() {
			days = append(days, f.day)
		}
	}
	if b.flightless = len(days) == 0; b.flightless { // the days on which an event happened, airport-local
		for _, it := range items {
			days = append(days, it.localDay)
		}
	}
	b.first = slices.Min(days)
	for _, day := range days {
		b.dates = append(b.dates, dayText(day))
	}
	return b
}

// addReports adds each report to the bags with the latest first flight date that is not after it
// and at most 14 days before it.
func addReports(bags []*Bag, reports []*message) {
	for _, r := range reports {
		latest := -1 << 30
		for _, b := range bags {
			if b.first <= r.localDay && r.localDay-b.first <= 14 {
				latest = max(latest, b.first)
			}
		}
		for _, b := range bags {
			if b.first == latest {
				b.events = append(b.events, &event{item: r.groups[0], row: mishandled})
				if b.flightless {
					b.dates = append(b.dates, dayText(r.localDay))
				}
			}
		}
	}
	for _, b := range bags {
		b.sortEvents()
	}
}

// fillNames sets the PNRs and surnames by which the bag is found: those of its current BSMs, else
// those of all its messages except positionings.
func (o *Oracle) fillNames(b *Bag) {
	current := o.bookingsOf(b.items).current
	named := func(items []*item, name func(*item) string) []string {
		var names []string
		for _, it := range items {
			if n := name(it); n != "" && !isPositioning(it) {
				names = append(names, n)
			}
		}
		return names
	}
	if b.pnrs = named(current, (*item).pnr); len(b.pnrs) == 0 {
		b.pnrs = named(b.items, (*item).pnr)
	}
	if b.surnames = named(current, (*item).surname); len(b.surnames) == 0 {
		b.surnames = named(b.items, (*item).surname)
	}
}
