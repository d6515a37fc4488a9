package command_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bagtrail/internal/command"
	"bagtrail/test/race"
)

const (
	bsm = "BSM\r\n.V/1LZRH\r\n.F/LX14/12MAR/JFK/Y\r\n.N/0724123456001\r\nENDBSM\r\n"
	bpm = "BPM\n.V/1LZRH\n.J/S///12MAR/101500L\n.F/LX14/12MAR/JFK\n.N/0724123456002\nENDBPM\n"
	bad = "BSM\n.V/1LZRH\n .F/LX14/31FEB/JFK\n.N/0724123456001\n.W/K/A/20\nENDBSM\n"
)

func TestValidateMarksTheColumn(t *testing.T) {
	got := run(t, bad, nil, "validate")
	want := `-:1: BSM rejected
  error SVCPRB022: Invalid date in the flight element (line 3, element .F): found "31FEB"
     3 |  .F/LX14/31FEB/JFK
       |          ^^^^^
  warning SVCPRB025: .W not IATA compliant for Weight Indicator and/or Number of Checked Bags and/or Checked Weight (line 5, element .W): found "A"
     5 | .W/K/A/20
       |      ^
messages: 1, rejected: 1
`
	// How the parser words what it expected is the parser's to say.
	shown := regexp.MustCompile(`, expected .*`).ReplaceAllString(got.stdout, "")
	if shown != want || got.code != command.Rejected || got.stderr != "" {
		t.Errorf("%+v, want\n%s", got, want)
	}
}

func TestValidateShowsAnyBytesSafely(t *testing.T) {
	got := run(t, "BSM\n.V/1LZRH\n.F/\x1b[31m\xff\t/12MAR/JFK"+strings.Repeat("X", 500)+"\nENDBSM\n", nil, "validate")
	if got.code != command.Rejected || strings.ContainsAny(got.stdout, "\x1b\t") || !utf8.ValidString(got.stdout) || !strings.Contains(got.stdout, "     3 | .F/·[31m· /12MAR/JFKX") {
		t.Errorf("%+v", got)
	}
	for line := range strings.Lines(got.stdout) {
		if len([]rune(line)) > 200 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// lines decodes what --json printed.
func lines(t *testing.T, stdout string) (all []jsonLine) {
	t.Helper()
	for text := range strings.Lines(stdout) {
		var l jsonLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		all = append(all, l)
	}
	return all
}

type jsonLine struct {
	File     string
	Message  int
	Kind     string
	Accepted bool
	Errors   []struct{ Code string }
	Events   []struct {
		Bagtag string
		Event  struct {
			Code string `json:"event_code"`
			At   string `json:"utc_date_time"`
		}
	}
}

func TestValidateTakesTheKindFromTheIdentifier(t *testing.T) {
	for text, want := range map[string]string{bsm: "BSM", bpm: "BPM", "BTM\n.V/1LZRH\n": "BTM", "XYZ\n.V/1LZRH\n": "XYZ", ".V/1LZRH\n": "", "": ""} {
		if got := lines(t, run(t, text, nil, "validate", "--json").stdout); len(got) != 1 || got[0].Kind != want {
			t.Errorf("%q: %+v, want %q", text, got, want)
		}
	}
}

func TestValidateReadsFilesInNameOrderAndGoesOnPastMissingOnes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.txt", bad)
	write(t, dir, "a.bim", bsm)
	write(t, dir, "c.log", bad)
	missing := filepath.Join(dir, "missing.txt")
	got := run(t, bpm, nil, "validate", "--json", missing, dir, "-")
	var seen []string
	for _, l := range lines(t, got.stdout) {
		seen = append(seen, filepath.Base(l.File)+" "+l.Kind)
	}
	if want := []string{"a.bim BSM", "b.txt BSM", "- BPM"}; !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	if got.code != command.Failed || !strings.Contains(got.stderr, missing) {
		t.Errorf("%+v", got)
	}
}

func TestValidateSplitNumbersTheMessagesOfACapture(t *testing.T) {
	got := run(t, bsm+"\n"+bad+bpm, nil, "validate", "--json", "--split")
	var seen []bool
	for i, l := range lines(t, got.stdout) {
		if l.Message != i+1 || l.File != "-" {
			t.Errorf("%+v", l)
		}
		seen = append(seen, l.Accepted)
	}
	if !slices.Equal(seen, []bool{true, false, true}) || got.code != command.Rejected {
		t.Errorf("%+v", got)
	}
	// Without --split it is one message, and a second one in it is never dropped in silence.
	if one := lines(t, run(t, bsm+bpm, nil, "validate", "--json").stdout); len(one) != 1 || one[0].Errors[0].Code != "SVCPRB011" {
		t.Errorf("%+v", one)
	}
	// The text form counts the lines of the file.
	if text := run(t, bsm+"\n"+bad, nil, "validate", "--split").stdout; !strings.Contains(text, "-:7: BSM rejected") || !strings.Contains(text, "\n     9 |  .F/LX14/31FEB/JFK\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestValidateRejectsWhatIsTooLongAsTheServiceDoes(t *testing.T) {
	long := bsm + strings.Repeat(" ", 64<<10)
	if got := lines(t, run(t, long, nil, "validate", "--json").stdout); len(got) != 1 || got[0].Accepted || got[0].Errors[0].Code != "SVCSRV003" {
		t.Errorf("%+v", got)
	}
}

// Showing a fault takes about as long as finding it, however many lines the message has.
func TestValidateShowsAFaultOnEachLineInLittleTime(t *testing.T) {
	race.SkipOneGoroutine(t)
	faulty := "BPM\n" + strings.Repeat(".N\n", 10_000)
	timed := func(args ...string) time.Duration {
		start := time.Now()
		run(t, faulty, nil, append([]string{"validate"}, args...)...)
		return time.Since(start)
	}
	const limit = 10
	var ratio float64
	for range 5 { // a pause of the machine is no fault of the command
		if ratio = float64(timed()) / float64(timed("--json")); ratio < limit {
			return
		}
	}
	t.Errorf("showing the faults takes %.0f times as long as finding them", ratio)
}

func TestValidateEventsShowsWhatTheMessageWouldMake(t *testing.T) {
	got := run(t, bsm+bpm, nil, "validate", "--json", "--split", "--events", "--received", "2026-03-12T09:30:00Z")
	all := lines(t, got.stdout)
	if len(all) != 2 || got.code != command.Done {
		t.Fatalf("%+v", got)
	}
	if e := all[0].Events; len(e) != 1 || e[0].Bagtag != "0724123456" || e[0].Event.Code != "EXPECTED" || e[0].Event.At != "2026-03-12T09:30:00Z" {
		t.Errorf("%+v", e)
	}
	// One event a tag, at the read time of .J: 10:15 in Zurich.
	if e := all[1].Events; len(e) != 2 || e[0].Bagtag != "0724123456" || e[1].Bagtag != "0724123457" || e[1].Event.Code != "SORTED" || e[1].Event.At != "2026-03-12T09:15:00Z" {
		t.Errorf("%+v", e)
	}
	// The year of the read date is the one nearest to the receipt.
	later := run(t, bpm, nil, "validate", "--json", "--events", "--received", "2031-01-02T00:00:00+02:00")
	if e := lines(t, later.stdout)[0].Events; len(e) != 2 || e[0].Event.At != "2031-01-01T22:00:00Z" {
		t.Errorf("a BPM read after its receipt happened when it was received; got %+v", e)
	}
	if !strings.Contains(later.stdout, `"unknown_bag_flag":"Y"`) {
		t.Errorf("no flag of a bag whose first message is a BPM: %s", later.stdout)
	}
	if text := run(t, bpm, nil, "validate", "--events").stdout; !strings.Contains(text, "  0724123457 SORTED (Bag Sorted)\n") {
		t.Errorf("got %s", text)
	}
}

func TestValidateKnowsTheAirportsFile(t *testing.T) {
	text := strings.ReplaceAll(bpm, "ZRH", "XQZ")
	if got := run(t, text, nil, "validate"); got.code != command.Rejected {
		t.Fatalf("%+v", got)
	}
	file := write(t, t.TempDir(), "airports.yaml", "airports: [{code: XQZ, timezone: Europe/Zurich}]\n")
	if got := run(t, text, []string{"BAGTRAIL_AIRPORTS_FILE=" + file}, "validate"); got.code != command.Done {
		t.Errorf("%+v", got)
	}
	if got := run(t, text, nil, "validate", "--airports-file=/no/such/file"); got.code != command.Failed {
		t.Errorf("a file that cannot be read: %+v", got)
	}
	wrong := write(t, t.TempDir(), "airports.yaml", "airprots: []\n")
	if got := run(t, text, nil, "validate", "--airports-file", wrong); got.code != command.Usage || !strings.Contains(got.stderr, "airprots") {
		t.Errorf("a file that says nonsense: %+v", got)
	}
}

func TestValidateStopsWhenItIsToldTo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	if code := command.Run(ctx, []string{"validate"}, nil, strings.NewReader(bsm), &stdout, &stderr); code != command.Failed || !strings.Contains(stderr.String(), "stopped early") {
		t.Errorf("%d %s %s", code, stdout.String(), stderr.String())
	}
}

func TestValidateSaysHowAFaultIsMended(t *testing.T) {
	text := "BSM\n.V/1LZRH\n.P/1\u00dcBER/ANNA\n.F/LX14/2026-03-12/jfk\n.N/0724123456001\nENDBSM\n"
	const want = `     4 | .F/LX14/2026-03-12/jfk
       |         ^^^^^^^^^^
       = write: 12MAR
       = hint: A date has two digits for the day and three letters for the month, and no year: 05MAR.
`
	if got := run(t, text, nil, "validate"); !strings.Contains(got.stdout, want) || !strings.Contains(got.stdout, "                    ^^^\n       = write: JFK\n") {
		t.Errorf("got\n%s", got.stdout)
	}
	got := run(t, text, nil, "validate", "--json").stdout
	if !strings.Contains(got, `"value":"jfk","expected":"a known airport, three capitals","suggestion":"JFK","hint":"Messages are written in capital letters."`) {
		t.Errorf("got %s", got)
	}
}

func TestValidateQuietShowsRejectedMessagesOnly(t *testing.T) {
	for _, more := range []string{"--json=false", "--json"} {
		if got := run(t, bsm+bad+bsm, nil, "validate", "--split", "--quiet", more); got.code != command.Rejected || strings.Contains(got.stdout, "accepted\n") ||
			strings.Contains(got.stdout, "messages:") || strings.Contains(got.stdout, `"accepted":true`) || !strings.Contains(got.stdout, "SVCPRB022") {
			t.Errorf("%s: %+v", more, got)
		}
	}
	if got := run(t, bsm, nil, "validate", "--quiet"); got.code != command.Done || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}

func TestValidateOfNothingIsNoSuccess(t *testing.T) {
	empty := t.TempDir()
	if got := run(t, "", nil, "validate", empty); got.code != command.Failed || !strings.Contains(got.stderr, empty) {
		t.Errorf("an empty folder: %+v", got)
	}
	write(t, empty, "nothing.txt", "")
	for _, name := range []string{"-", empty} {
		if got := run(t, "", nil, "validate", "--split", name); got.code != command.Failed || !strings.Contains(got.stderr, "no message") {
			t.Errorf("an empty capture: %+v", got)
		}
	}
}
