package oracle

import (
	"cmp"
	"slices"

	"bagtrail/parser"
)

// withoutCopies drops the duplicates among the messages of a tag (rules §3).
func (o *Oracle) withoutCopies(messages []*message) []*message {
	messages = slices.Clone(messages)
	slices.SortFunc(messages, func(a, b *message) int {
		return cmp.Or(a.received.Compare(b.received), cmp.Compare(delRank(a), delRank(b)),
			cmp.Compare(a.text, b.text), cmp.Compare(a.raw, b.raw))
	})
	var kept []*message
	for i, m := range messages {
		if !o.isCopy(m, kept, messages[:i]) {
			kept = append(kept, m)
		}
	}
	return kept
}

// isCopy says whether m is a copy of a message that was kept. earlier are all messages of the tag before m.
func (o *Oracle) isCopy(m *message, kept, earlier []*message) bool {
	for _, k := range slices.Backward(kept) {
		if k.text != m.text {
			continue
		}
		if m.Kind == parser.BPM && m.hasRead {
			if k.read.Equal(m.read) {
				return true
			}
			continue
		}
		// k is the one kept last.
		if m.received.Sub(k.received) > o.set.Window {
			return false
		}
		between := earlier[slices.Index(earlier, k)+1:]
		return !slices.ContainsFunc(between, func(e *message) bool { return isBSM(m) && isBSM(e) && isDEL(e) != isDEL(m) })
	}
	return false
}

func isBSM(m *message) bool { return m.Kind == parser.BSM }
func isDEL(m *message) bool { return isBSM(m) && m.Change == parser.Delete }

// delRank puts a DEL before everything else that was received at the same time.
func delRank(m *message) int {
	if isDEL(m) {
		return 0
	}
	return 1
}

// identities splits the items of a plate, in order, into those of each bag. An item can be of several bags.
func (o *Oracle) identities(items []*item) [][]*item {
	var bags [][]*item
	for _, journey := range journeys(items) {
		passengers, nameless := passengers(journey)
		if len(passengers) == 0 {
			passengers = [][]*item{nil}
		}
		// Items that name neither PNR nor surname belong to each bag whose other items (read: those that name a
		// passenger) name one of their flights; where there is no such bag, to every bag.
		whole := make([][]*item, len(passengers))
		for i := range passengers {
			whole[i] = slices.Clone(passengers[i])
		}
		for _, it := range nameless {
			var to []int
			for i, p := range passengers {
				if slices.ContainsFunc(p, func(other *item) bool { return shareFlight(it, other) }) {
					to = append(to, i)
				}
			}
			for i := range passengers {
				if len(to) == 0 || slices.Contains(to, i) {
					whole[i] = append(whole[i], it)
				}
			}
		}
		bags = append(bags, whole...)
	}
	return bags
}

// journeys splits items by the days that they cover: overlapping, or at most three days apart.
func journeys(items []*item) [][]*item {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b *item) int { return cmp.Compare(firstDay(a), firstDay(b)) })
	var all [][]*item
	var end int
	for _, it := range items {
		if len(all) == 0 || firstDay(it)-end > 3 {
			all = append(all, nil)
			end = lastDay(it)
		}
		all[len(all)-1] = append(all[len(all)-1], it)
		end = max(end, lastDay(it))
	}
	return all
}

// days returns the flight dates that the item names; without one, the airport-local day on which it happened.
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

func firstDay(it *item) int { return slices.Min(days(it)) }
func lastDay(it *item) int  { return slices.Max(days(it)) }

// passengers splits the items that name a PNR or a surname by passenger, and returns the others beside.
func passengers(items []*item) (split [][]*item, nameless []*item) {
	for _, it := range items {
		pnr, surname := plainName(it.g.PNR), plainName(it.g.Surname)
		if pnr == "" && surname == "" {
			nameless = append(nameless, it)
			continue
		}
		joined := []*item{it}
		var others [][]*item
		for _, p := range split {
			if slices.ContainsFunc(p, func(other *item) bool {
				return pnr != "" && pnr == plainName(other.g.PNR) || surname != "" && surname == plainName(other.g.Surname)
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

func shareFlight(a, b *item) bool {
	for _, f := range a.named() {
		for _, g := range b.named() {
			if f.same(g) {
				return true
			}
		}
	}
	return false
}

func (o *Oracle) newBag(plate string, items []*item) *Bag {
	slices.SortFunc(items, order)
	b := &Bag{Plate: plate, items: items, Unknown: true}
	first, found := 0, false
	for _, it := range items {
		if isBSM(it.message) {
			b.Unknown = false
		}
		for _, f := range it.named() {
			b.dates = append(b.dates, dayText(f.day))
			if !found || f.day < first {
				first, found = f.day, true
			}
		}
	}
	if !found { // a bag without flights: the days on which an event happened on it, airport-local
		first = items[0].localDay
		for _, it := range items {
			b.dates = append(b.dates, dayText(it.localDay))
			first = min(first, it.localDay)
		}
	}
	b.first = first
	return b
}

// addReports gives each report to the bags with the latest first flight date not after it, at most 14 days before.
func (o *Oracle) addReports(bags []*Bag, reports []*message) {
	for _, r := range reports {
		latest := -1 << 30
		for _, b := range bags {
			if b.first <= r.localDay && r.localDay-b.first <= 14 {
				latest = max(latest, b.first)
			}
		}
		for _, b := range bags {
			if b.first == latest {
				b.events = append(b.events, &event{item: r.groups[0], row: row{"MISHANDLED", "Bag Mishandled", "Delayed"}})
			}
		}
	}
	for _, b := range bags {
		slices.SortStableFunc(b.events, func(x, y *event) int { return order(x.item, y.item) })
	}
}
