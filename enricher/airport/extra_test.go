package airport_test

import (
	"slices"
	"testing"

	"bagtrail/enricher/airport"
)

func TestAFileAddsAirportsAndStatusCodes(t *testing.T) {
	extra, err := airport.ReadExtra([]byte(`
airports:
  - {code: MYS, timezone: Africa/Addis_Ababa, latitude: 3.5, longitude: 39.05, metropolitan: ""}
  - {code: QQQ, timezone: Europe/Zurich, metropolitan: QQQ}
  - {code: BSL, timezone: Europe/Paris, latitude: 47.59, longitude: 7.529, metropolitan: EAP}
  - {code: MLH, timezone: Europe/Paris, latitude: 47.6, longitude: 7.5, metropolitan: EAP}
b_codes: {ZRH: [LCK, RSK], QQQ: [XRY]}
`))
	if err != nil {
		t.Fatal(err)
	}
	lib := airport.New(extra)

	latitude, longitude, known := lib.Coordinates("MYS")
	if !lib.KnownLocation("MYS") || !known || latitude != "3.5" || longitude != "39.05" || lib.TimeZone("MYS").String() != "Africa/Addis_Ababa" {
		t.Errorf("MYS lies at %s %s in %v", latitude, longitude, lib.TimeZone("MYS"))
	}
	if _, _, known := lib.Coordinates("QQQ"); known || !lib.KnownLocation("QQQ") {
		t.Error("QQQ must be known, without a position")
	}
	if codes := lib.Codes("QQQ"); !slices.Equal(codes, []string{"QQQ"}) {
		t.Errorf("legs of QQQ end at %v", codes)
	}
	for airport, code := range map[string]string{"ZRH": "LCK", "QQQ": "XRY"} {
		if !lib.KnownStatus(airport, code) {
			t.Errorf("%s may not send %s", airport, code)
		}
	}
	if lib.KnownStatus("GVA", "LCK") || lib.KnownStatus("", "LCK") || !lib.KnownStatus("ZRH", "OFF") {
		t.Error("an added status code holds for its airport alone, beside the others")
	}
	if airport.New().KnownLocation("QQQ") {
		t.Error("the compiled library was changed")
	}
}

func TestAnAddedAirportReplacesTheCompiledOne(t *testing.T) {
	lib := read(t, "airports: [{code: LHR, timezone: Asia/Tokyo, latitude: -1, longitude: 2}]")
	latitude, longitude, _ := lib.Coordinates("LHR")
	if latitude != "-1" || longitude != "2" || lib.SamePlace("LHR", "LON") || lib.TimeZone("LHR").String() != "Asia/Tokyo" {
		t.Errorf("LHR lies at %s %s in %v, in London: %v", latitude, longitude, lib.TimeZone("LHR"), lib.SamePlace("LHR", "LON"))
	}
	if !lib.SamePlace("LGW", "LON") {
		t.Error("LGW is no longer in London")
	}
}

func TestANewMetropolitanCodeIsKnownByItsAirports(t *testing.T) {
	lib := read(t, `airports:
  - {code: BSL, timezone: Europe/Paris, latitude: 47.59, longitude: 7.529, metropolitan: XQZ}
  - {code: MLH, timezone: Europe/Paris, latitude: 47.6, longitude: 7.5, metropolitan: XQZ}`)
	latitude, longitude, _ := lib.Coordinates("XQZ")
	if !lib.KnownLocation("XQZ") || latitude != "47.59" || longitude != "7.529" || lib.TimeZone("XQZ").String() != "Europe/Paris" {
		t.Errorf("XQZ lies at %s %s in %v", latitude, longitude, lib.TimeZone("XQZ"))
	}
	for _, code := range []string{"BSL", "MLH", "XQZ"} {
		if !lib.SamePlace(code, "XQZ") || !lib.SamePlace(code, "BSL") {
			t.Errorf("%s is not one place with XQZ and BSL", code)
		}
		if !lib.Listed("XQZ", code) {
			t.Errorf("a leg that ends at XQZ is not in the list of %s", code)
		}
	}
}

func TestAnEmptyFileAddsNothing(t *testing.T) {
	if lib := read(t, "# nothing yet\n"); !lib.KnownLocation("ZRH") {
		t.Error("the compiled library is gone")
	}
}

func TestEveryFaultOfAnAirportsFileIsReported(t *testing.T) {
	_, err := airport.ReadExtra([]byte(`airports:
  - {code: zrh, timezone: Europe/Zurich}
  - {code: AAX, timezone: Mars/Base}
  - {timezone: Local}
  - {code: AAY, timezone: UTC, latitude: 91, longitude: 1}
  - {code: AAZ, timezone: UTC, latitude: 1}
  - {code: AAZ, timezone: UTC, metropolitan: LO, runway: 3, country: ch, name: "a\tb"}
b_codes:
  QQQ: [LCK]
  ZRH: [lck, LCKX]
  GVA: LCK
c_codes: {}
`))
	want := `airports:
line 2: airports[0].code: "zrh" is not three capitals
line 3: airports[1].timezone: "Mars/Base" is not the name of a time zone, such as Europe/Zurich
line 4: airports[2].timezone: "Local" is not the name of a time zone, such as Europe/Zurich
line 4: airports[2]: code is missing
line 5: airports[3].latitude: "91" is not a number from -90 to 90
line 6: airports[4]: latitude and longitude go together
line 7: airports[5].metropolitan: "LO" is not three capitals
line 7: airports[5].runway: unknown member
line 7: airports[5].country: "ch" is not two capitals
line 7: airports[5].name: "a\tb" is not a name of at most 100 bytes without control characters
line 7: airports[5]: AAZ appears twice
line 12: c_codes: unknown member
line 9: b_codes.QQQ: "QQQ" is not an airport of the library or of this file
line 10: b_codes.ZRH[0]: "lck" is not three capitals
line 10: b_codes.ZRH[1]: "LCKX" is not three capitals
line 11: b_codes.GVA: not a list`
	if err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
}

func read(t *testing.T, text string) *airport.Library {
	t.Helper()
	extra, err := airport.ReadExtra([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return airport.New(extra)
}
