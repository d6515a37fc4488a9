package apikey_test

import (
	"testing"

	"bagtrail/enricher/airline"
	"bagtrail/internal/apikey"
	"bagtrail/parser"
)

func TestAKeyCoversAnAirlineByEitherOfItsCodes(t *testing.T) {
	const text = `keys:
  - {name: icao, digest: "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b", airlines: [SWR]}
  - {name: iata, digest: "sha256:2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683", airlines: [LX, WK]}
`
	store, err := apikey.Open(file(t, text), airline.New())
	if err != nil {
		t.Fatal(err)
	}
	message := func(flight string) *parser.Message {
		m := new(parser.Message)
		m.Parse("BSM\n.V/1LZRH\n.F/"+flight+"/12MAR/JFK\n.N/0724123456001\nENDBSM", places)
		return m
	}
	for _, name := range []string{"secret", "key"} { // whose digests these are
		k, found := store.Lookup(name, now)
		if !found {
			t.Fatalf("%s is not found", name)
		}
		for code, want := range map[string]bool{"LX": true, "SWR": true, "BA": false, "BAW": false, "": false} {
			if k.Airline(code) != want || k.Flight(code, "ZRH") != want {
				t.Errorf("key %s covers %q: %v", k.Name, code, !want)
			}
		}
		if !k.Message(message("SWR14")) || !k.Message(message("LX14")) || k.Message(message("BAW14")) {
			t.Errorf("key %s may process messages of another airline", k.Name)
		}
	}
}
