package hostile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bagtrail/test/service"
)

// This file is a second statement of key scope (rules §4), and of the data in the tests.

// scope is a key as its file has it. A nil list is left out.
type scope struct {
	name       string
	airlines   []string
	airports   []string
	operations []string
	customer   bool
	conceal    bool
}

// covers reports whether a list covers a code: nil and * cover everything, an empty list nothing.
func covers(list []string, code string) bool {
	return list == nil || slices.Contains(list, "*") || slices.Contains(list, code)
}

func everything(list []string) bool { return list == nil || slices.Contains(list, "*") }

// leg reports whether a leg is in scope: its airline and one of its airports are.
func (k scope) leg(f flight) bool {
	return covers(k.airlines, f.airline) && (covers(k.airports, f.from) || covers(k.airports, f.to))
}

// bag reports whether a bag is in scope: one of its messages is visible. A message is visible if a
// leg of it is in scope; without flights, if its airport is and the airlines are *. The messages of
// a bag here name one PNR, so that either all or none are visible.
func (k scope) bag(b *luggage) bool {
	if legs := slices.Concat(b.living, b.gone); len(legs) > 0 {
		return slices.ContainsFunc(legs, k.leg)
	}
	return everything(k.airlines) && slices.ContainsFunc(b.airports, func(airport string) bool { return covers(k.airports, airport) })
}

// text reports whether a text is in scope: every flight of its groups is, and its airport; without
// a flight the airlines must be *.
func (k scope) text(t text) bool {
	for _, f := range t.flights {
		if !k.leg(f) {
			return false
		}
	}
	return covers(k.airports, t.airport) && (len(t.flights) > 0 || everything(k.airlines))
}

// entry returns the entry of the key in a key file.
func (k scope) entry() string {
	var members strings.Builder
	if k.customer {
		members.WriteString(", customer: SOMEBODY")
	}
	if k.conceal {
		members.WriteString(", conceal: true")
	}
	for name, list := range map[string][]string{"airlines": k.airlines, "airports": k.airports, "operations": k.operations} {
		if list != nil {
			fmt.Fprintf(&members, ", %s: ['%s']", name, strings.Join(list, "','"))
		}
	}
	return service.KeyEntry(k.name, "key-of-"+k.name, strings.ReplaceAll(members.String(), "['']", "[]"))
}

// scopes returns keys of every kind: each list of airlines with each of airports, and each
// operation alone.
func scopes() []scope {
	var all []scope
	for i, airlines := range [][]string{nil, {"*"}, {}, {"LX"}, {"BA"}, {"AA"}, {"LX", "BA"}, {"BA", "AA"}} {
		for j, airports := range [][]string{nil, {"*"}, {}, {"ZRH"}, {"LHR"}, {"JFK"}, {"FRA", "KEF"}, {"ZRH", "JFK"}} {
			all = append(all, scope{fmt.Sprintf("a%dp%d", i, j), airlines, airports, nil, true, (i+j)%5 == 0})
		}
	}
	for i, operations := range [][]string{{}, {"*"}, {"processbim"}, {"bagsforflight"}, {"history"}, {"bagsforpassenger"}, {"delayedbags"}, {"bags"}, {"flights"}, {"messages"}, {"changes"}, {"feeds"}, {"webhooks"}, {"rejects"}} {
		all = append(all, scope{fmt.Sprintf("o%d", i), nil, nil, operations, true, false},
			scope{fmt.Sprintf("l%d", i), []string{"LX"}, nil, operations, true, false})
	}
	return append(all, scope{name: "nobody"}, scope{name: "lx-nobody", airlines: []string{"LX"}})
}

// flight is a leg of a bag. All are on one day.
type flight struct {
	airline, number, from, to string
	status                    string // "" is Not Loaded, "-" is no status
}

// luggage is one bag of one passenger, as the messages below make it.
type luggage struct {
	plate, pnr, surname string
	rush                bool
	living, gone        []flight
	airports            []string // of its events, if it has no legs
	today               bool     // its day is today, not tomorrow
	original            *luggage // the bag that it re-flights
	named               bool     // its messages name the plate of the original
	reflight            *luggage // the bag that re-flights it
	texts               []text   // of its events; nil: one event about its legs, sent from their departure
}

// text holds the flights that a message names, in all its groups.
type text struct {
	airport string
	flights []flight
}

// textOf returns the text of an event.
func (b *luggage) textOf(event int) text {
	if b.texts != nil {
		return b.texts[event]
	}
	legs := slices.Concat(b.living, b.gone)
	return text{legs[0].from, legs}
}

func (b *luggage) day() string {
	if b.today {
		return day(0).iso()
	}
	return day(1).iso()
}

// world returns every bag of the tests.
func world() []*luggage {
	leg := func(airline, number, from, to string) flight { return flight{airline, number, from, to, ""} }
	delayed := func(f flight) flight { f.status = "Delayed"; return f }
	inbound := func(f flight) flight { f.status = "-"; return f }
	shared := []text{{"ZRH", []flight{leg("LX", "1010", "ZRH", "JFK"), leg("BA", "1011", "ZRH", "LHR")}}}
	all := []*luggage{
		{plate: "0724000001", pnr: "SCOP01", surname: "ALPHA", living: []flight{leg("LX", "1100", "ZRH", "LHR"), leg("BA", "1200", "LHR", "JFK")}},
		{plate: "0724000002", pnr: "SCOP02", surname: "BRAVO", living: []flight{leg("LX", "2100", "ZRH", "JFK")}},
		{plate: "0724000003", pnr: "SCOP03", surname: "COCOA", living: []flight{leg("BA", "3100", "LHR", "FRA")}},
		{plate: "0724000004", pnr: "SCOP04", surname: "DELTA", living: []flight{inbound(leg("LX", "4100", "ZRH", "JFK")), leg("AA", "4200", "JFK", "LHR")},
			texts: []text{{"JFK", []flight{leg("LX", "4100", "ZRH", "JFK"), leg("AA", "4200", "JFK", "LHR")}}}},
		{plate: "0724000005", airports: []string{"KEF"}, today: true, texts: []text{{"KEF", nil}}},
		{plate: "0724000006", pnr: "SCOP06", surname: "FOXY", gone: []flight{leg("LX", "6100", "ZRH", "JFK")},
			texts: []text{{"ZRH", []flight{leg("LX", "6100", "ZRH", "JFK")}}, {"ZRH", []flight{leg("LX", "6100", "ZRH", "JFK")}}}},
		{plate: "0724000007", pnr: "SCP07A", surname: "GOLF", living: []flight{leg("LX", "7100", "ZRH", "LHR")}},
		{plate: "0724000007", pnr: "SCP07B", surname: "HOTEL", living: []flight{leg("BA", "7200", "LHR", "FRA")}},
		{plate: "0724000008", pnr: "SCOP08", surname: "INDIA", living: []flight{delayed(leg("LX", "8100", "ZRH", "FRA"))}},
		{plate: "2724000008", pnr: "SCOP08", surname: "INDIA", living: []flight{leg("BA", "8200", "LHR", "JFK")}, rush: true, named: true},
		{plate: "0724000009", pnr: "SCOP09", surname: "JULIA", living: []flight{delayed(leg("LX", "9100", "ZRH", "FRA"))}},
		{plate: "0016000009", pnr: "SCOP09", surname: "JULIA", living: []flight{leg("AA", "9200", "JFK", "LHR")}, rush: true},
		{plate: "0724000010", pnr: "SCOP10", surname: "KILO", living: []flight{leg("LX", "1010", "ZRH", "JFK")}, texts: shared},
		{plate: "0724000011", pnr: "SCOP11", surname: "LIMA", living: []flight{leg("BA", "1011", "ZRH", "LHR")}, texts: shared},
		{plate: "0724000012", pnr: "SCOP12", surname: "MIKE", living: []flight{leg("AA", "1212", "ZRH", "JFK")}, gone: []flight{leg("LX", "1211", "ZRH", "JFK")},
			texts: []text{{"ZRH", []flight{leg("LX", "1211", "ZRH", "JFK")}}, {"ZRH", []flight{leg("AA", "1212", "ZRH", "JFK")}}}},
		{plate: "0724000013", living: []flight{{"LX", "1310", "ZRH", "FRA", "Loaded in Container"}}},
		{plate: "0724000014", pnr: "SCOP14", surname: "OSCAR", living: []flight{leg("LX", "1410", "ZRH", "FRA")}},
		{plate: "0724000015", pnr: "SCOP14", surname: "OSCAR", living: []flight{leg("BA", "1510", "LHR", "FRA")}},
		{plate: "0724000016", pnr: "SCOP16", surname: "PAPA", living: []flight{leg("AA", "1610", "", "JFK")},
			texts: []text{{"JFK", []flight{leg("AA", "1610", "", "JFK")}}}},
		{plate: "0724000017", pnr: "SCOP17", surname: "ROMEO", living: []flight{delayed(leg("LX", "1710", "ZRH", "FRA"))}},
		{plate: "2724000017", pnr: "SCOP17", surname: "ROMEO", living: []flight{delayed(leg("BA", "1720", "LHR", "FRA"))}, rush: true, named: true},
		{plate: "2001000017", pnr: "SCOP17", surname: "ROMEO", living: []flight{leg("AA", "1730", "JFK", "FRA")}, rush: true, named: true},
	}
	join := func(rush, original string) {
		r, o := ofPlate(all, rush)[0], ofPlate(all, original)[0]
		r.original, o.reflight = o, r
	}
	join("2724000008", "0724000008")
	join("0016000009", "0724000009")
	join("2724000017", "0724000017")
	join("2001000017", "2724000017")
	return all
}

// sendWorld sends the messages of the bags.
func sendWorld(t *testing.T, s *service.Service) {
	d, today := day(1).bim(), day(0)
	bsm := func(version, plate, name, pnr string, more ...string) {
		send(t, s, slices.Concat([]string{"BSM", ".V/1" + version}, more, []string{".N/" + plate + "001", ".P/" + name, ".L/" + pnr, "ENDBSM"})...)
	}
	bsm("LZRH", "0724000001", "ALPHA", "SCOP01", ".F/LX1100/"+d+"/LHR", ".O/BA1200/"+d+"/JFK")
	bsm("LZRH", "0724000002", "BRAVO", "SCOP02", ".F/LX2100/"+d+"/JFK")
	bsm("LLHR", "0724000003", "COCOA", "SCOP03", ".F/BA3100/"+d+"/FRA")
	bsm("TJFK", "0724000004", "DELTA", "SCOP04", ".I/LX4100/"+d+"/ZRH", ".F/AA4200/"+d+"/LHR")
	send(t, s, "BPM", ".V/1LKEF", ".J/S/AG1/SC1/"+today.bim()+"/0000Z", ".N/0724000005001", "ENDBPM")
	bsm("LZRH", "0724000006", "FOXY", "SCOP06", ".F/LX6100/"+d+"/JFK")
	send(t, s, "BSM", "DEL", ".V/1LZRH", ".F/LX6100/"+d+"/JFK", ".N/0724000006001", ".P/FOXY", ".L/SCOP06", "ENDBSM")
	bsm("LZRH", "0724000007", "GOLF", "SCP07A", ".F/LX7100/"+d+"/LHR")
	bsm("LLHR", "0724000007", "HOTEL", "SCP07B", ".F/BA7200/"+d+"/FRA")
	bsm("LZRH", "0724000008", "INDIA", "SCOP08", ".F/LX8100/"+d+"/FRA")
	bsm("LLHR", "2724000008", "INDIA", "SCOP08", ".F/BA8200/"+d+"/JFK", ".M/0724000008")
	bsm("LZRH", "0724000009", "JULIA", "SCOP09", ".F/LX9100/"+d+"/FRA")
	bsm("LJFK", "0016000009", "JULIA", "SCOP09", ".F/AA9200/"+d+"/LHR", ".E/RUSH")
	send(t, s, "BSM", ".V/1LZRH", ".F/LX1010/"+d+"/JFK", ".N/0724000010001", ".P/KILO", ".L/SCOP10",
		".F/BA1011/"+d+"/LHR", ".N/0724000011001", ".P/LIMA", ".L/SCOP11", "ENDBSM")
	bsm("LZRH", "0724000012", "MIKE", "SCOP12", ".F/LX1211/"+d+"/JFK")
	send(t, s, "BSM", "CHG", ".V/1LZRH", ".F/AA1212/"+d+"/JFK", ".N/0724000012001", ".P/MIKE", ".L/SCOP12", "ENDBSM")
	send(t, s, "BPM", ".V/1LZRH", ".J/R", ".F/LX1310/"+d+"/FRA", ".U/AKE12345LX", ".N/0724000013001", "ENDBPM")
	bsm("LZRH", "0724000014", "OSCAR", "SCOP14", ".F/LX1410/"+d+"/FRA")
	bsm("LLHR", "0724000015", "OSCAR", "SCOP14", ".F/BA1510/"+d+"/FRA")
	bsm("XJFK", "0724000016", "PAPA", "SCOP16", ".F/AA1610/"+d+"/JFK")
	bsm("LZRH", "0724000017", "ROMEO", "SCOP17", ".F/LX1710/"+d+"/FRA")
	bsm("LLHR", "2724000017", "ROMEO", "SCOP17", ".F/BA1720/"+d+"/FRA", ".M/0724000017")
	bsm("LJFK", "2001000017", "ROMEO", "SCOP17", ".F/AA1730/"+d+"/FRA", ".M/2724000017")
}

func ofPlate(all []*luggage, plate string) []*luggage {
	return sifted(all, func(b *luggage) bool { return b.plate == plate })
}

func sifted(all []*luggage, wanted func(*luggage) bool) []*luggage {
	var found []*luggage
	for _, b := range all {
		if wanted(b) {
			found = append(found, b)
		}
	}
	return found
}
