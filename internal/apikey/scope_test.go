package apikey_test

import (
	"testing"
	"time"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/parser"
)

func key(airlines, airports []string) *apikey.Key {
	return &apikey.Key{Airlines: apikey.ScopeOf(airlines), Airports: apikey.ScopeOf(airports)}
}

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

func TestAKeyCoversItsOperations(t *testing.T) {
	k := &apikey.Key{Operations: apikey.ScopeOf([]string{"history", "delayedbags"})}
	for operation, want := range map[apikey.Operation]bool{
		apikey.History: true, apikey.DelayedBags: true, apikey.ProcessBIM: false, apikey.BagsForFlight: false, apikey.BagsForPassenger: false,
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
		if got := c.key.Leg(c.leg); got != c.want {
			t.Errorf("airlines %v, airports %v: leg %+v %v", c.key.Airlines, c.key.Airports, c.leg, got)
		}
	}
}

func TestAFlightIsInScopeByItsAirlineAndTheAirportAskedFor(t *testing.T) {
	if !narrow.Flight("LX", "ZRH") || narrow.Flight("LX", "GVA") || narrow.Flight("WK", "ZRH") || !everyone.Flight("BA", "LHR") {
		t.Error("airline and airport must both be in scope")
	}
}

func TestABagIsInScopeByOneOfItsLegs(t *testing.T) {
	dead := leg("LX", "ZRH", "JFK")
	dead.Living = false
	living := leg("BA", "JFK", "LHR")
	living.Living = true
	b := &bag.Bag{Legs: []bag.Leg{living, dead}}
	if !narrow.Bag(b) || !swiss.Bag(b) || key([]string{"BA"}, []string{"ZRH"}).Bag(b) || none.Bag(b) {
		t.Error("one leg, living or not, must be in scope with airline and airport")
	}
}

func TestABagWithoutLegsIsInScopeByAnAirportOfItsEvents(t *testing.T) {
	b := &bag.Bag{Events: []bag.Event{{Message: &bag.Message{Airport: "LHR"}}, {Message: &bag.Message{Airport: "ZRH"}}}}
	for what, c := range map[string]struct {
		key  *apikey.Key
		want bool
	}{
		"everything":          {everyone, true},
		"one of the airports": {zurich, true},
		"another airport":     {key(nil, []string{"JFK"}), false},
		"limited airlines":    {swiss, false},
		"both limited":        {narrow, false},
		"nothing":             {none, false},
	} {
		if got := c.key.Bag(b); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestAMessageIsInScopeByItsAirportAndTheAirlineOfEachGroup(t *testing.T) {
	message := func(airport string, airlines ...string) *parser.Message {
		m := &parser.Message{Version: parser.Version{Airport: airport}}
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
