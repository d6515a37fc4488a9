package console

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/smallmap"
	"bagtrail/parser"
)

const (
	maxWords = 8  // how many words of a query are read
	maxName  = 60 // characters of the longest surname that /v1 accepts
)

// query says how the words of a search are read.
type query struct {
	Plates  []string
	End     string // the last six digits of a plate
	Airline string
	Flight  string
	Day     time.Time // zero if none is named
	PNR     string
	Airport string
	Name    string   // the surname that found bags; before that, all Names as the page shows them
	Names   []string // possible surnames, the most likely first
	Unread  []string // words that the search does not use
	words   []string // the words of the name
}

// readings returns the ways to read the words of a search, in the order in which to try them. If a
// name ends with the code of an airport, as in VAN DEN BOS, the code is a part of the name in the
// first reading, and the airport to search at in the second.
func readings(text string, airports *airport.Library, now time.Time) []query {
	q := parseQuery(text, airports, now, true)
	if q.Airport == "" || len(q.words) == 0 {
		return []query{q}
	}
	return []query{parseQuery(text, airports, now, false), q}
}

// parseQuery reads the words of a search. Ten digits are a plate, and six digits its end. An
// airline code and a number are a flight. Five or six letters and digits, with a digit, are a PNR.
// A date such as 21NOV is the day. Every other word is a name. If withAirport is set, the last of
// these is the airport of the search if it is a code; otherwise all of them are one surname. If
// there are plates, the search is for all of them, and the other words are unread. Otherwise the
// first of several words of one kind counts, and the others are unread.
//
// A word may have the form of a flight and of a PNR. If the search has another flight, the word is
// a PNR; if the search has another PNR, it is a flight. Otherwise it is a flight if there is a
// name, or if its airline has two characters and a day is named. If its airline has three letters
// and neither day nor airport is named, it is a PNR. In all other cases it is both.
func parseQuery(text string, airports *airport.Library, now time.Time, withAirport bool) (q query) {
	w := q.classify(text, now)
	if len(w.plates) > 0 {
		unread := slices.Concat(w.ends, w.days, w.flights, w.either, w.pnrs, w.names, q.Unread)
		return query{Plates: smallmap.Distinct(w.plates), Unread: unread}
	}
	if len(w.flights) == 0 && (len(w.pnrs) > 0 || len(w.either) > 1) {
		w.flights, w.either = w.either, nil
		if len(w.pnrs) == 0 {
			w.flights, w.pnrs = w.flights[:1], w.flights[1:]
		}
	}
	if len(w.flights) > 0 {
		w.pnrs, w.either = append(w.pnrs, w.either...), nil
	}
	q.End, q.PNR = q.first(w.ends), q.first(append(w.pnrs, w.either...))
	q.Airline, q.Flight, _ = flightOf(strings.ReplaceAll(q.first(append(w.flights, w.either...)), " ", ""))
	q.Day, _ = dayOf(q.first(w.days), now)
	if last := len(w.names) - 1; withAirport && last >= 0 && (last > 0 || q.End+q.Flight+q.PNR != "") { // LEE alone is a name
		if code := w.names[last]; len(code) == 3 && airports.KnownLocation(code) {
			q.Airport, w.names = code, w.names[:last]
		}
	}
	q.readNames(w.names, withAirport)
	switch {
	case len(w.either) == 0:
	case len(q.Names) > 0, len(q.Airline) == 2 && !q.Day.IsZero():
		q.PNR = ""
	case len(q.Airline) == 3 && q.Day.IsZero() && q.Airport == "": // ABC123 is a PNR rather than a flight
		q.Airline, q.Flight = "", ""
	}
	if q.PNR != "" || q.End != "" { // then a name is not searched for
		q.Unread = append(q.Unread, q.words...)
		q.words, q.Names, q.Name = nil, nil, ""
	}
	return q
}

// words are the words of a search by their kind. The words in either may be flights or PNRs; the
// likelier flights, with airline codes of two characters, come first.
type words struct{ plates, ends, days, flights, either, pnrs, names []string }

// classify returns the words of a search by their kind, at most maxWords. The others are unread.
func (q *query) classify(text string, now time.Time) (w words) {
	all := joinWords(splitWords(strings.Fields(strings.ToUpper(text)), now), now)
	if len(all) > maxWords {
		all, q.Unread = all[:maxWords], all[maxWords:]
	}
	for _, written := range all {
		word := strings.ReplaceAll(written, " ", "")
		_, _, isFlight := flightOf(word)
		_, isDay := dayOf(word, now)
		kind := &w.names
		switch {
		case bag.Plate(word).Valid():
			kind = &w.plates
		case isDigits(word) && len(word) == 6:
			kind = &w.ends
		case isDay:
			kind = &w.days
		case isFlight && isPNR(written):
			kind = &w.either
		case isFlight:
			kind, word = &w.flights, written
		case isDigits(word) && (len(word) == 11 || len(word) == 13): // a plate with a check digit, or with the count of .N
			kind, word = &w.plates, word[:10]
		case isPNR(word):
			kind = &w.pnrs
		}
		*kind = append(*kind, word)
	}
	slices.SortStableFunc(w.either, func(a, b string) int {
		airline, _, _ := flightOf(a)
		other, _, _ := flightOf(b)
		return len(airline) - len(other)
	})
	return w
}

// first returns the first of some words, or "" if there is none. The others are unread.
func (q *query) first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	q.Unread = append(q.Unread, words[1:]...)
	return words[0]
}

// splitWords splits each word that is a flight with its date, and possibly an airport, as in
// messages: LX14/27NOV/ZRH. LX1427NOV is such a word too, since the day has two digits.
func splitWords(words []string, now time.Time) (split []string) {
	for _, word := range words {
		parts := strings.Split(word, "/")
		if n := len(word) - len("27NOV"); len(parts) == 1 && n > 0 {
			parts = []string{word[:n], word[n:]}
		}
		if n := len(parts); n == 2 || n == 3 {
			_, _, isFlight := flightOf(parts[0])
			if _, isDay := dayOf(parts[1], now); isFlight && isDay {
				split = append(split, parts...)
				continue
			}
		}
		split = append(split, word)
	}
	return split
}

// joinWords joins two words if people write them with a blank or a hyphen between: the flight BA 703,
// the date 27 NOV, and a plate in two groups.
func joinWords(words []string, now time.Time) (joined []string) {
	join := func(first, second string) bool {
		_, number, isFlight := flightOf(first + second)
		_, isDay := dayOf(first+second, now)
		plate := len(first) == 4 && bag.Plate(first+second).Valid()
		return plate || isFlight && number == second && !isDigits(first) || isDay && isDigits(first)
	}
	// A word of three letters before a date or a plate with a blank is not an airline: ZRH 27 NOV.
	standsAlone := func(i int) bool {
		return len(words[i]) == 3 && i+2 < len(words) && isDigits(words[i+1]) && join(words[i+1], words[i+2])
	}
	for i := 0; i < len(words); i++ {
		first, second, hyphen := strings.Cut(words[i], "-")
		switch {
		case hyphen && join(first, second):
			joined = append(joined, first+" "+second)
		case i+1 < len(words) && join(words[i], words[i+1]) && !standsAlone(i):
			joined = append(joined, words[i]+" "+words[i+1])
			i++
		default:
			joined = append(joined, words[i])
		}
	}
	return joined
}

// readNames reads the letters of words as a name; their digits are unread. In SURNAME/GIVEN, as in
// messages, the surname ends at the slash. Otherwise it may be all words together or, if several is
// set, the first word or the last one, which may also be the surname of others.
func (q *query) readNames(words []string, several bool) {
	only := func(kind func(rune) bool, s string) string {
		return strings.Map(func(r rune) rune {
			if kind(r) {
				return r
			}
			return -1
		}, s)
	}
	if surname, given, cut := strings.Cut(strings.Join(words, " "), "/"); cut && only(unicode.IsLetter, surname) != "" {
		words, q.Unread = []string{surname}, append(q.Unread, strings.Fields(given)...)
	}
	for _, word := range words {
		if name := only(unicode.IsLetter, word); name != "" {
			q.words, word = append(q.words, name), only(unicode.IsDigit, word)
		}
		if word != "" {
			q.Unread = append(q.Unread, word)
		}
	}
	if len(q.words) == 0 {
		return
	}
	q.Names = []string{strings.Join(q.words, "")}
	if several {
		q.Names = append(q.Names, q.words[0], q.words[len(q.words)-1])
	}
	q.Names = slices.DeleteFunc(smallmap.Distinct(q.Names), func(name string) bool { return utf8.RuneCountInString(name) > maxName })
	q.Name = strings.Join(q.Names, " or ")
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isPNR reports whether a word has the form of a PNR and a digit.
func isPNR(s string) bool {
	return parser.IsPNR(s) && strings.ContainsAny(s, "0123456789")
}

// flightOf splits a word into airline and number, as they are written. ok is false if the word is
// not a flight. An airline of three characters has three letters here, since A1B234 is a PNR.
func flightOf(word string) (airline, number string, ok bool) {
	airline, _, ok = parser.FlightOf(word)
	if !ok || len(airline) == 3 && !parser.IsThreeCapitals(airline) {
		return "", "", false
	}
	return airline, word[len(airline):], true
}

// dayOf reads a date: 21NOV, in the year in which it is nearest to now, or 2026-11-21.
func dayOf(word string, now time.Time) (time.Time, bool) {
	if t, err := time.Parse(time.DateOnly, word); err == nil {
		return t, true
	}
	if len(word) < 4 || len(word) > 5 {
		return time.Time{}, false
	}
	var nearest time.Time
	for _, year := range []int{now.Year() - 1, now.Year(), now.Year() + 1} {
		t, err := time.Parse("2Jan2006", word+strconv.Itoa(year))
		if err == nil && (nearest.IsZero() || t.Sub(now).Abs() < nearest.Sub(now).Abs()) {
			nearest = t
		}
	}
	return nearest, !nearest.IsZero()
}

// Reading returns how the query was read, for the page.
func (q query) Reading() (all []string) {
	add := func(what, value string) {
		if value != "" {
			all = append(all, what+" "+value)
		}
	}
	for _, plate := range q.Plates {
		add("plate", plate)
	}
	add("end of a plate", q.End)
	add("PNR", q.PNR)
	add("name", q.Name)
	add("flight", q.Airline+q.Flight)
	add("airport", q.Airport)
	if !q.Day.IsZero() {
		all = append(all, q.Day.Format("2 Jan"))
	}
	return all
}

// use sets the surname that found bags. Words that are not part of it become unread.
func (q *query) use(name string) {
	q.Name = name
	if name == strings.Join(q.words, "") {
		return
	}
	for _, word := range q.words {
		if word != name {
			q.Unread = append(q.Unread, word)
		}
	}
}
