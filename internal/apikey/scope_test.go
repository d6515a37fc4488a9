package apikey_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/operation"
	"bagtrail/parser"
)

func key(airlines, airports []string) *apikey.Key {
	return &apikey.Key{Airlines: apikey.ScopeOf(airlines), Airports: apikey.ScopeOf(airports)}
}

var places = airport.New()

var (
	everyone = key(nil, nil)
	starred  = key([]string{"*"}, []string{"ZRH", "*"})
	swiss    = key([]string{"LX", "WK"}, nil)
	zurich   = key(nil, []string{"ZRH", "GVA"})
	narrow   = key([]string{"LX"}, []string{"ZRH"})
	none     = key([]string{}, []string{})
	noPlace  = key(nil, []string{})
)

func TestAListLeftOutOrAStarIsEverythingAndAnEmptyOneNothing(t *testing.T) {
	for _, c := range []struct {
		what             string
		key              *apikey.Key
		airline, airport bool
		limited          bool
	}{
		{"left out", everyone, true, true, false},
		{"star", starred, true, true, false},
		{"airlines", swiss, true, true, true},
		{"airports", zurich, true, true, true},
		{"empty", none, false, false, true},
		{"no airport", noPlace, true, false, true},
		{"zero key", &apikey.Key{}, false, false, true},
	} {
		if c.key.Airline("LX") != c.airline || c.key.Airport("ZRH") != c.airport || c.key.Limited() != c.limited {
			t.Errorf("%s: airline %v, airport %v, limited %v", c.what, c.key.Airline("LX"), c.key.Airport("ZRH"), c.key.Limited())
		}
	}
	if swiss.Airline("BA") || zurich.Airport("LHR") || narrow.Airline("") || narrow.Airport("") || !everyone.Airport("") {
		t.Error("a list covers its codes alone, and only everything covers what is not known")
	}
}

func TestACodeThatIsNamedTwiceCountsOnce(t *testing.T) {
	codes := []string{"ZRH", "GVA", "ZRH"}
	if s := apikey.ScopeOf(codes); s.All || !slices.Equal(s.Codes, []string{"ZRH", "GVA"}) || codes[2] != "ZRH" {
		t.Errorf("%v of %v", s, codes)
	}
}

func TestAKeyCoversItsOperations(t *testing.T) {
	k := &apikey.Key{Operations: apikey.ScopeOf([]string{"history", "delayedbags"})}
	for operation, want := range map[operation.Right]bool{
		operation.History: true, operation.DelayedBags: true, operation.ProcessBIM: false, operation.BagsForFlight: false, operation.BagsForPassenger: false,
	} {
		if k.MayUse(operation) != want {
			t.Errorf("%s: %v", operation, !want)
		}
		if all := (&apikey.Key{Operations: apikey.ScopeOf(nil)}); !all.MayUse(operation) {
			t.Errorf("%s is not covered by all", operation)
		}
	}
}

func leg(airline, from, to string) bag.Leg {
	return bag.Leg{Flight: bag.Flight{Airline: airline, Number: "1"}, From: from, To: to}
}

func TestALegIsInScopeByItsAirlineAndOneOfItsAirports(t *testing.T) {
	for _, c := range []struct {
		key  *apikey.Key
		leg  bag.Leg
		want bool
	}{
		{everyone, leg("LX", "ZRH", "JFK"), true},
		{everyone, leg("LX", "", ""), true},
		{swiss, leg("WK", "", "JFK"), true},
		{swiss, leg("BA", "ZRH", "LHR"), false},
		{zurich, leg("BA", "LHR", "ZRH"), true},
		{zurich, leg("BA", "LHR", "JFK"), false},
		{zurich, leg("BA", "", "GVA"), true},
		{narrow, leg("LX", "ZRH", "JFK"), true},
		{narrow, leg("LX", "JFK", "ZRH"), true},
		{narrow, leg("LX", "GVA", "JFK"), false},
		{narrow, leg("WK", "ZRH", "JFK"), false},
		{none, leg("LX", "ZRH", "JFK"), false},
		{noPlace, leg("LX", "ZRH", "JFK"), false},
	} {
		if got := c.key.Sight(places).Leg(c.leg); got != c.want {
			t.Errorf("airlines %v, airports %v: leg %+v %v", c.key.Airlines, c.key.Airports, c.leg, got)
		}
	}
}

func TestAFlightIsInScopeByItsAirlineAndTheAirportAskedFor(t *testing.T) {
	if !narrow.Flight("LX", "ZRH") || narrow.Flight("LX", "GVA") || narrow.Flight("WK", "ZRH") || !everyone.Flight("BA", "LHR") {
		t.Error("airline and airport must both be in scope")
	}
}

func TestALegThatEndsAtAMetropolitanCodeIsInScopeByOneOfItsAirports(t *testing.T) {
	heathrow := key(nil, []string{"LHR"}).Sight(places)
	if !heathrow.Leg(leg("LX", "ZRH", "LON")) || !heathrow.Leg(leg("LX", "LON", "ZRH")) {
		t.Error("a leg to LON may end at LHR")
	}
	if heathrow.Leg(leg("LX", "ZRH", "LGW")) || key(nil, []string{"LON"}).Sight(places).Leg(leg("LX", "ZRH", "LHR")) {
		t.Error("a leg to LGW does not end at LHR, and a key for LON covers no airport by name")
	}
	var m parser.Message
	m.Parse("BSM\n.V/1LLON\n.F/LX317/14MAR/ZRH\n.N/0220000001001\nENDBSM", places)
	if heathrow.Station("LON") || heathrow.Text(&m) {
		t.Error("a message from LON need not be one of LHR")
	}
}

func TestAMessageWithoutAFlightIsInScopeByItsAirportIfTheKeyCoversEveryAirline(t *testing.T) {
	for what, c := range map[string]struct {
		key  *apikey.Key
		want bool
	}{
		"everything":       {everyone, true},
		"the airport":      {zurich, true},
		"another airport":  {key(nil, []string{"JFK"}), false},
		"limited airlines": {swiss, false},
		"both limited":     {narrow, false},
		"nothing":          {none, false},
	} {
		if got := c.key.Sight(places).Station("ZRH"); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestATextIsInScopeIfItsAirportAndEveryFlightOfItsGroupsAre(t *testing.T) {
	library := airport.New()
	for _, c := range []struct {
		what  string
		key   *apikey.Key
		lines string
		want  bool
	}{
		{"one flight", swiss, ".V/1LZRH .F/LX1/14MAR/JFK .N/0724000001001", true},
		{"another airline behind", swiss, ".V/1LZRH .F/LX1/14MAR/LHR .O/BA1/14MAR/JFK .N/0724000001001", false},
		{"another airline before", swiss, ".V/1TZRH .F/LX1/14MAR/LHR .I/BA1/14MAR/JFK .N/0724000001001", false},
		{"another airline in the next group", swiss, ".V/1LZRH .F/LX1/14MAR/JFK .N/0724000001001 .P/A .F/BA1/14MAR/LHR .N/0724000002001", false},
		{"two airlines of the key", swiss, ".V/1LZRH .F/LX1/14MAR/JFK .N/0724000001001 .P/A .F/WK1/14MAR/LHR .N/0724000002001", true},
		{"airport", zurich, ".V/1LZRH .F/BA1/14MAR/LHR .N/0724000001001", true},
		{"airport of the flight only", key(nil, []string{"LHR"}), ".V/1LZRH .F/BA1/14MAR/LHR .N/0724000001001", false},
		{"flight that goes on elsewhere", zurich, ".V/1LZRH .F/BA1/14MAR/LHR .O/BA2/14MAR/JFK .N/0724000001001", false},
		{"arriving flight, then one that departs", key(nil, []string{"JFK"}), ".V/1XJFK .F/LX14/14MAR/ZRH .O/AA1/14MAR/BOS .N/0724000001001", true},
		{"arriving flight at a place of the city", key(nil, []string{"JFK"}), ".V/1LJFK .F/LX14/14MAR/EWR .O/AA1/14MAR/BOS .N/0724000001001", true},
		{"departing flight", key(nil, []string{"JFK"}), ".V/1LJFK .F/LX14/14MAR/ZRH .O/AA1/14MAR/BOS .N/0724000001001", false},
		{"no flight", zurich, ".V/1LZRH .J/S//A/14MAR/1200Z .N/0724000001001", true},
		{"no flight, limited airlines", swiss, ".V/1LZRH .J/S//A/14MAR/1200Z .N/0724000001001", false},
	} {
		kind := "BSM"
		if strings.Contains(c.lines, ".J") {
			kind = "BPM"
		}
		var m parser.Message
		m.Parse(strings.ReplaceAll(kind+" "+c.lines+" END"+kind, " ", "\r\n"), library)
		if !m.Accepted() {
			t.Fatalf("%s: %v", c.what, m.Errors)
		}
		if got := c.key.Sight(places).Text(&m); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestAMessageIsInScopeByItsAirportAndTheAirlineOfEachGroup(t *testing.T) {
	message := func(airport string, airlines ...string) *parser.Message {
		m := &parser.Message{Head: parser.Head{Version: parser.Version{Airport: airport}}}
		for _, airline := range airlines {
			m.Groups = append(m.Groups, parser.Group{Outbound: parser.Flight{Airline: airline}})
		}
		return m
	}
	for _, c := range []struct {
		what    string
		key     *apikey.Key
		message *parser.Message
		want    bool
	}{
		{"in scope", narrow, message("ZRH", "LX"), true},
		{"another airport", narrow, message("GVA", "LX"), false},
		{"another airline in one group", swiss, message("ZRH", "LX", "BA"), false},
		{"two airlines of the key", swiss, message("ZRH", "LX", "WK"), true},
		{"a group without .F", swiss, message("ZRH", "LX", ""), false},
		{"a group without .F, every airline", zurich, message("ZRH", ""), true},
		{"no group", swiss, message("ZRH"), false},
		{"no group, every airline", everyone, message("ZRH"), true},
		{"nothing", none, message("ZRH", "LX"), false},
	} {
		if got := c.key.Message(c.message); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestTheStateOfAKey(t *testing.T) {
	end := time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		key  apikey.Key
		now  time.Time
		want string
	}{
		{apikey.Key{}, end, "active"},
		{apikey.Key{Expires: end}, end.Add(-1), "active"},
		{apikey.Key{Expires: end}, end, "expired"},
		{apikey.Key{Expires: end, Revoked: true}, end.Add(-1), "revoked"},
	} {
		if got := c.key.State(c.now); got != c.want {
			t.Errorf("%+v at %s: %s, want %s", c.key, c.now, got, c.want)
		}
	}
}
