package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Quoted returns a text as JSON, as the service writes it.
func Quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be encoded
	return strings.TrimSpace(b.String())
}

// WriteFile writes a file into a new folder of the test and returns its path.
func WriteFile(t T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// KeyEntry returns the line of a key file for a key with that text. members begin with a comma.
func KeyEntry(name, text, members string) string {
	return fmt.Sprintf("  - {name: %s, digest: 'sha256:%x'%s}\n", name, sha256.Sum256([]byte(text)), members)
}

// DelayedBagReport returns a request to the delayed-bag system, on behalf of the airlines, for the
// plates.
func DelayedBagReport(surname string, airlines, plates []string) string {
	var sources, bags []string
	for _, airline := range airlines {
		sources = append(sources, `{"AirlineVendorID":"`+airline+`"}`)
	}
	for _, p := range plates {
		bags = append(bags, `{"ColorTypeDesc":{"ColorCode":"BK","TypeCode":"22","Descriptor":"HWX"},"BagTag":{"LicenseNumber":{"TagType":"`+
			p[:1]+`","IssuerCode":"`+p[1:4]+`"},"TagSequence":"`+p[4:]+`"}}`)
	}
	return `{"WTR_DelayedBagsCreateRQ":{"Version":0.1,"POS":{"Source":[` + strings.Join(sources, ",") + `]},` +
		`"RefStationAirline":{"StationCode":"ZRH","AirlineCode":"LX"},"DelayedBagGroup":{"DelayedBags":{"DelayedBag":[` + strings.Join(bags, ",") +
		`]}},"Passengers":{"Itinerary":{"FlightSegments":{"FlightSegmentOrARNK":[{"FlightAndDate":{"AirlineCode":"LX","FlightNumber":"100","Date":"14MAR"},` +
		`"OriginDestination":{"Origin":"ZRH","Destination":"JFK"}}]}},"Names":{"Name":[` + Quoted(surname) + `]}},"AgentID":"A1"}}`
}
