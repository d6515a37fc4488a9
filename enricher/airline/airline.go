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

// Library maps the codes of an airline to the code by which airlines are compared. A nil Library is
// empty.
type Library struct {
	iata map[string]string // by ICAO code
}

// New returns the compiled library with the pairs of an operator. If several of these pairs have
// one ICAO code, the last one counts.
func New(extra ...Pair) *Library {
	l := &Library{iata: make(map[string]string, 1000)}
	busiest := make(map[string]holder, 2000) // by code: its busiest holder; without a pair if several have as many flights
	holders := readHolders()
	for _, h := range holders {
		for _, code := range [...]string{h.IATA, h.ICAO} {
			switch before, held := busiest[code]; {
			case !held || h.flights > before.flights:
				busiest[code] = h
			case h.flights == before.flights:
				busiest[code] = holder{flights: h.flights}
			}
		}
	}
	for _, h := range holders {
		if h.ICAO != "" && busiest[h.IATA] == h && busiest[h.ICAO] == h {
			l.iata[h.ICAO] = h.IATA
		}
	}
	for _, p := range extra {
		l.iata[p.ICAO] = p.IATA
	}
	return l
}

// Code returns the code by which the airline is compared: the IATA code if code is an ICAO code
// with one, else code itself. It does not allocate.
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
