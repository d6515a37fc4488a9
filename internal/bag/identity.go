package bag

import (
	"cmp"
	"slices"
	"strings"
)

// journeyGap is how many days may lie between messages of one journey (rules §3, identity 1).
const journeyGap = 3

// identities divides the messages of a plate into bags (rules §3, identity). Each bag's messages are
// in the order of events. A message that names neither PNR nor surname may belong to several bags.
func identities(messages []*Message) [][]*Message {
	if len(messages) == 1 {
		return [][]*Message{messages}
	}
	var bags [][]*Message
	for _, journey := range journeys(messages) {
		bags = append(bags, passengers(journey)...)
	}
	for _, b := range bags {
		slices.SortFunc(b, (*Message).compare)
	}
	return bags
}

// journeys divides the messages where more than journeyGap days lie between the days that they cover.
func journeys(messages []*Message) [][]*Message {
	type span struct {
		first, last Day
		message     *Message
	}
	spans := make([]span, len(messages))
	for i, m := range messages {
		first, last := m.days()
		spans[i] = span{first, last, m}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })

	var all [][]*Message
	room := make([]*Message, 0, len(spans)) // of all journeys
	open := room
	var end Day
	for _, s := range spans {
		if len(open) > 0 && s.first-end > journeyGap {
			all, open = append(all, open[:len(open):len(open)]), open[len(open):]
		}
		if len(open) == 0 {
			end = s.last
		}
		open = append(open, s.message)
		end = max(end, s.last)
	}
	if len(open) > 0 {
		all = append(all, open)
	}
	return all
}

// passengers divides a journey into bags: messages that share a PNR or a surname, directly or through
// others, are one bag; messages that name neither follow the flights of the bags.
func passengers(journey []*Message) [][]*Message {
	if onePassenger(journey) {
		return [][]*Message{journey}
	}
	var sets unionFind
	byName := make(map[string]int) // "P"+PNR or "S"+surname → set
	var named, neutral []*Message
	for _, m := range journey {
		if m.PNR == "" && m.Surname == "" {
			neutral = append(neutral, m)
			continue
		}
		pnr, surname := strings.ToUpper(m.PNR), FoldName(m.Surname)
		if pnr == "" && surname == "" {
			neutral = append(neutral, m)
			continue
		}
		set := sets.add()
		named = append(named, m)
		for _, key := range [...]string{"P" + pnr, "S" + surname} {
			if len(key) == 1 {
				continue
			}
			if other, seen := byName[key]; seen {
				sets.join(set, other)
			} else {
				byName[key] = set
			}
		}
	}
	if len(named) == 0 {
		return [][]*Message{neutral}
	}

	var bags [][]*Message
	bagOf := make(map[int]int) // root of a set → index in bags
	onFlight := make(map[Flight][]int)
	for i, m := range named {
		root := sets.root(i)
		b, seen := bagOf[root]
		if !seen {
			b = len(bags)
			bagOf[root] = b
			bags = append(bags, nil)
		}
		bags[b] = append(bags[b], m)
		for f := range m.Flights() {
			if !slices.Contains(onFlight[f], b) {
				onFlight[f] = append(onFlight[f], b)
			}
		}
	}
	for _, m := range neutral {
		for _, b := range followed(m, onFlight, len(bags)) {
			bags[b] = append(bags[b], m)
		}
	}
	return bags
}

// onePassenger reports whether every message that names a passenger shares PNR or surname with the first of them, letter for
// letter: the rule, where a bag is what it mostly is.
func onePassenger(journey []*Message) bool {
	var first *Message
	var surname string
	for _, m := range journey {
		switch {
		case m.PNR == "" && m.Surname == "":
		case first == nil:
			first = m
			if FoldName(m.Surname) != "" {
				surname = m.Surname
			}
		case (first.PNR == "" || m.PNR != first.PNR) && (surname == "" || m.Surname != surname):
			return false
		}
	}
	return true
}

// followed returns the bags to which a message without PNR and surname belongs: those that name one
// of its flights, else all.
func followed(m *Message, onFlight map[Flight][]int, bags int) []int {
	var found []int
	for f := range m.Flights() {
		for _, b := range onFlight[f] {
			if !slices.Contains(found, b) {
				found = append(found, b)
			}
		}
	}
	if found != nil {
		return found
	}
	for b := range bags {
		found = append(found, b)
	}
	return found
}

// FoldName returns a surname in the form in which surnames are compared: without case, blanks, hyphens.
func FoldName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '-' {
			return -1
		}
		return r
	}, strings.ToUpper(s))
}

// unionFind keeps disjoint sets of the numbers that add has given out.
type unionFind []int

func (u *unionFind) add() int {
	*u = append(*u, len(*u))
	return len(*u) - 1
}

func (u unionFind) root(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u unionFind) join(i, j int) { u[u.root(i)] = u.root(j) }
