package airline_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bagtrail/enricher/airline"
)

func TestTheIATAAndTheICAOCodeOfAPairAreOneAirline(t *testing.T) {
	lib := airline.New()
	for code, want := range map[string]string{
		"LX": "LX", "SWR": "LX", "BA": "BA", "BAW": "BA", "LH": "LH", "DLH": "LH", "U2": "U2", "EZY": "U2",
	} {
		if got := lib.Code(code); got != want {
			t.Errorf("%s is compared by %s, want %s", code, got, want)
		}
	}
}

func TestAnAirlineThatIsNotInTheListIsItself(t *testing.T) {
	for _, lib := range []*airline.Library{airline.New(), nil} {
		for _, code := range []string{"", "QQ", "QQQ", "swr", "S", "SWRX", "*A"} {
			if got := lib.Code(code); got != code {
				t.Errorf("%q is compared by %q", code, got)
			}
		}
	}
	var none *airline.Library
	if got := none.Code("SWR"); got != "SWR" {
		t.Errorf("without a library SWR is compared by %s", got)
	}
}

func TestAPairCountsIfItIsTheBusiestOfBothItsCodes(t *testing.T) {
	lib := airline.New()
	for code, want := range map[string]string{
		"GEC": "GEC", // LH is DLH
		"FPY": "OG",  // and not BU
		"APG": "Z2",  // and not PQ
		"SQP": "PQ",
		"EJA": "EJA", "NJE": "NJE", // both are 1I, and none has more flights
	} {
		if got := lib.Code(code); got != want {
			t.Errorf("%s is compared by %s, want %s", code, got, want)
		}
	}
}

func TestEveryCompiledLineIsSound(t *testing.T) {
	text, err := os.ReadFile("airlines.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lib, pairs := airline.New(), 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 5 || len(fields[0]) != 2 || fields[1] != "" && len(fields[1]) != 3 {
			t.Fatalf("line %q", line)
		}
		if _, err := strconv.Atoi(fields[4]); err != nil {
			t.Errorf("%s: %v", fields[0], err)
		}
		if lib.Code(fields[0]) != fields[0] {
			t.Errorf("%s is compared by %s", fields[0], lib.Code(fields[0]))
		}
		if fields[1] != "" && lib.Code(fields[1]) != fields[1] {
			pairs++
		}
	}
	if pairs < 860 {
		t.Errorf("%d pairs", pairs)
	}
}

func TestAFileAddsPairs(t *testing.T) {
	pairs, err := airline.ReadPairs([]byte(`airlines: [{iata: LH, icao: GEC}, {iata: Q1, icao: QQQ}]`))
	if err != nil || !slices.Equal(pairs, []airline.Pair{{IATA: "LH", ICAO: "GEC"}, {IATA: "Q1", ICAO: "QQQ"}}) {
		t.Fatalf("%v, %v", pairs, err)
	}
	lib := airline.New(pairs...)
	for code, want := range map[string]string{"GEC": "LH", "DLH": "LH", "QQQ": "Q1", "SWR": "LX"} {
		if got := lib.Code(code); got != want {
			t.Errorf("%s is compared by %s, want %s", code, got, want)
		}
	}
	if got := airline.New().Code("GEC"); got != "GEC" {
		t.Error("the compiled library was changed")
	}
}

func TestEveryFaultOfAnAirlinesFileIsReported(t *testing.T) {
	_, err := airline.ReadPairs([]byte(`airlines:
  - {iata: lx, icao: SWR}
  - {iata: LX, icao: SW1}
  - {iata: 12, icao: ABC}
  - {iata: LX}
  - {iata: LX, icao: ABC, name: Swiss}
carriers: []
`))
	want := `airlines:
line 2: airlines[0].iata: "lx" is not an IATA code of 2 capitals or digits
line 3: airlines[1].icao: "SW1" is not an ICAO code of 3 capitals
line 4: airlines[2].iata: "12" is not an IATA code of 2 capitals or digits
line 5: airlines[3]: icao is missing
line 6: airlines[4].name: unknown member
line 6: airlines[4]: ABC appears twice
line 7: carriers: unknown member`
	if err == nil || err.Error() != want {
		t.Errorf("faults:\n%v\nwant:\n%s", err, want)
	}
	if pairs, err := airline.ReadPairs([]byte("# nothing yet\n")); err != nil || len(pairs) != 0 {
		t.Errorf("an empty file: %v, %v", pairs, err)
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	lib := airline.New()
	if n := testing.AllocsPerRun(100, func() { _, _, _ = lib.Code("LX"), lib.Code("SWR"), lib.Code("QQQ") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
