// Package airline pairs the IATA and ICAO codes of airlines, so that a flight is recognised by
// either. The data is compiled in; an operator's file adds to it. A Library never changes and is
// safe for concurrent use.
package airline

import (
	_ "embed"
	"strconv"
	"strings"
)

// compiled holds one line for each airline, with tabs between the fields: IATA code, ICAO code or
// nothing, accounting number, name, weekly flights.
//
//go:embed airlines.tsv
var compiled string

// Pair is the IATA code and the ICAO code of one airline.
type Pair struct{ IATA, ICAO string }

// Library maps the codes of an airline to the one by which it is compared. A nil Library is empty.
type Library struct {
	iata map[string]string // by ICAO code
}

// New returns the compiled library with the pairs of an operator. Of several pairs with one ICAO
// code the last one counts.
func New(extra ...Pair) *Library {
	l := &Library{iata: make(map[string]string, 1000)}
	holders := readHolders()
	byIATA, byICAO := map[string]busiest{}, map[string]busiest{}
	for _, h := range holders {
		byIATA[h.IATA] = byIATA[h.IATA].or(h)
		byICAO[h.ICAO] = byICAO[h.ICAO].or(h)
	}
	for _, h := range holders {
		if h.IATA != "" && h.ICAO != "" && byIATA[h.IATA].is(h) && byICAO[h.ICAO].is(h) {
			l.iata[h.ICAO] = h.IATA
		}
	}
	for _, p := range extra {
		l.iata[p.ICAO] = p.IATA
	}
	return l
}

// Code returns the code by which the airline with that code is compared: its IATA code if it has
// one, else code itself. It does not allocate.
func (l *Library) Code(code string) string {
	if l == nil || len(code) != 3 {
		return code
	}
	if iata, paired := l.iata[code]; paired {
		return iata
	}
	return code
}

// holder is an airline that holds a pair of codes. Several airlines may hold one code.
type holder struct {
	Pair
	flights int // a week
}

// busiest is the holder of a code with the most flights.
type busiest struct {
	holder
	tied bool // another holder has as many flights
}

func (b busiest) or(h holder) busiest {
	switch {
	case b.holder == holder{} || h.flights > b.flights:
		return busiest{holder: h}
	case h.flights == b.flights:
		b.tied = true
	}
	return b
}

func (b busiest) is(h holder) bool { return !b.tied && b.Pair == h.Pair }

func readHolders() []holder {
	all := make([]holder, 0, strings.Count(compiled, "\n"))
	for line := range strings.Lines(compiled) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 5 {
			continue
		}
		flights, _ := strconv.Atoi(fields[4]) // a test checks every line
		all = append(all, holder{Pair{fields[0], fields[1]}, flights})
	}
	return all
}
