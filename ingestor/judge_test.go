package ingestor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/ingestor"
)

func TestMessageIsFiledOnceHoweverOftenItComes(t *testing.T) {
	x := newIndex()
	p := newAcceptor(x)
	first, again := process(t, p, envelope(bsm)), process(t, p, envelope(bsm))
	if first.Verdict != ingestor.Accepted || again.Verdict != ingestor.Duplicate {
		t.Errorf("verdicts %v, %v; want Accepted, Duplicate", first.Verdict, again.Verdict)
	}
	later := envelope(bsm)
	later.Received = received.Add(time.Millisecond)
	if got := process(t, p, later).Verdict; got != ingestor.Accepted {
		t.Errorf("the same text a millisecond later: %v, want Accepted", got)
	}
	if first.Identifier != "BSM" || first.Filing.Raw != bsm || first.Filing.Entries[0].Plate != "0724123456" {
		t.Errorf("outcome %+v", first)
	}
}

func TestReceivedTimeIsCutToMilliseconds(t *testing.T) {
	p := newAcceptor(newIndex())
	env := envelope(bsm)
	env.Received = received.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
	if got := process(t, p, env).Filing.Received; got != received {
		t.Errorf("received %v, want %v", got, received)
	}
}

func TestMessageWithAnErrorChangesNothing(t *testing.T) {
	x := newIndex()
	outcome := process(t, newAcceptor(x), envelope(strings.Replace(bsm, "JFK", "J!K", 1)))
	if outcome.Verdict != ingestor.Rejected || codes(outcome.Errors) != "SVCPRB023" || x.filed() != 0 {
		t.Errorf("verdict %v, errors %v, filed %d", outcome.Verdict, outcome.Errors, x.filed())
	}
	if d := outcome.Errors[0]; d.Line != 3 || d.Element != ".F" || !strings.Contains(d.Description, "line 3") {
		t.Errorf("diagnostic %+v", d)
	}
}

func TestWarningDoesNotReject(t *testing.T) {
	outcome := process(t, newAcceptor(newIndex()), envelope(strings.Replace(bsm, "ENDBSM", ".W/Q/1/20\r\nENDBSM", 1)))
	if outcome.Verdict != ingestor.Accepted || codes(outcome.Warnings) != "SVCPRB025" {
		t.Errorf("verdict %v, warnings %v", outcome.Verdict, outcome.Warnings)
	}
}

// bags is a message with so many elements .N, each of so many bags, and what else.
func bags(elements, each int, rest string) string {
	var text strings.Builder
	text.WriteString("BSM\r\n.V/1LZRH\r\n.F/LX14/12MAR/JFK\r\n")
	for i := range elements {
		fmt.Fprintf(&text, ".N/0724%06d%03d\r\n", 1000*i%1_000_000+i/1000, each)
	}
	return text.String() + rest + "ENDBSM\r\n"
}

// onward is so many onward flights.
func onward(flights int) string {
	var text strings.Builder
	for i := range flights {
		fmt.Fprintf(&text, ".O/LX%04d/12MAR/JFK\r\n", 1+i)
	}
	return text.String()
}

// onwardGroups is a message in which so many groups, each of so many bags, have all of so many onward
// flights.
func onwardGroups(flights, groups, each int) string {
	text := "BSM\r\n.V/1LZRH\r\n.F/LX14/12MAR/JFK\r\n" + onward(flights)
	var all strings.Builder
	for i := range groups {
		fmt.Fprintf(&all, ".N/0724%06d%03d\r\n.L/PNR%03d\r\n", 1000*i, each, i)
	}
	return text + all.String() + "ENDBSM\r\n"
}

// namedGroups is a message about one bag in so many groups, each with another flight and surname.
func namedGroups(groups int) string {
	var text strings.Builder
	text.WriteString("BSM\r\n.V/1LZRH\r\n")
	for i := range groups {
		fmt.Fprintf(&text, ".F/LX%d/12MAR/JFK\r\n.N/0724123456001\r\n.P/%c%c\r\n", 1+i, 'A'+i/26%26, 'A'+i%26)
	}
	return text.String() + "ENDBSM\r\n"
}

// positioning is a text that positions so many containers, of a length if it needs no more.
func positioning(containers, length int) string {
	var text strings.Builder
	text.WriteString("BPM\r\n.V/1LZRH\r\n.U/AKE1\r\n")
	for i := range containers {
		fmt.Fprintf(&text, ".F/LX%04d/12MAR/JFK\r\n", 1+i)
	}
	text.WriteString("ENDBPM\r\n")
	return text.String() + strings.Repeat(" ", max(0, length-text.Len()))
}

// oneContainer positions one container for one flight in so many groups.
func oneContainer(groups int) string {
	return "BPM\r\n.V/1LZRH\r\n.U/AKE1\r\n" + strings.Repeat(".F/LX0001/12MAR/JFK\r\n", groups) + "ENDBPM\r\n"
}

// sameGroups has the same tags in so many groups.
func sameGroups(tags string, groups int) string {
	return "BSM\r\n.V/1LZRH\r\n.F/LX14/12MAR/JFK\r\n" + strings.Repeat(tags+".S/\r\n", groups) + "ENDBSM\r\n"
}

// padded makes a text so long.
func padded(text string, length int) string {
	return strings.Replace(text, "ENDBSM", strings.Repeat(" ", length-len(text))+"ENDBSM", 1)
}

func TestMessageAsAWholeIsRejectedUnderItsCode(t *testing.T) {
	document := func(s string) ingestor.Envelope {
		env := envelope(s)
		env.JSON = true
		return env
	}
	report := envelope(`{"record_reference":`)
	report.Report = true
	exact := bsm + strings.Repeat(" ", ingestor.MaxMessage-len(bsm))
	text, err := json.Marshal(bsm)
	if err != nil {
		t.Fatal(err)
	}
	const one, run = ".N/0724123456001\r\n", ".N/0724000000999\r\n"
	for _, c := range []struct {
		name string
		env  ingestor.Envelope
		want string
	}{
		{"empty", envelope(""), "SVCPRB003"},
		{"blank", envelope(" \r\n\t\r\n"), "SVCPRB003"},
		{"binary", envelope("\x00\xff\x1f\x8b\x08"), "SVCPRB004"},
		{"64 KiB", envelope(exact), ""},
		{"over 64 KiB", envelope(exact + " "), "SVCSRV003"},
		{"a full run", envelope(bags(1, 999, "")), ""},
		{"a bag more", envelope(bags(1, 999, ".N/0724999999001\r\n")), "SVCSRV003"},
		{"a full run that is repeated, and parts of it", envelope(bags(1, 999, strings.Repeat(".N/0724000000999\r\n.N/0724000500100\r\n", 40))), ""},
		{"runs that overlap by all but one", envelope(bags(1, 999, ".N/0724000001999\r\n")), "SVCSRV003"},
		{"4 MiB of text", envelope(padded(bags(1, 512, ""), 8192)), ""},
		{"4 MiB of text and a little", envelope(padded(bags(1, 512, ""), 8193)), "SVCSRV003"},
		{"64 bags on 64 KiB", envelope(padded(bags(64, 1, ""), ingestor.MaxMessage)), ""},
		{"65 bags on 64 KiB", envelope(padded(bags(65, 1, ""), ingestor.MaxMessage)), "SVCSRV003"},
		{"99 onward flights", envelope(bags(1, 1, onward(99))), ""},
		{"100 onward flights", envelope(bags(1, 1, onward(100))), "SVCSRV003"},
		{"a full run on 100 flights", envelope(bags(1, 999, onward(99))), "SVCSRV003"},
		{"two groups on 100 flights", envelope(onwardGroups(99, 2, 488)), ""},
		{"two larger groups on 100 flights", envelope(onwardGroups(99, 2, 490)), "SVCSRV003"},
		{"64 containers on 64 KiB", envelope(positioning(64, ingestor.MaxMessage)), ""},
		{"65 containers on 64 KiB", envelope(positioning(65, ingestor.MaxMessage)), "SVCSRV003"},
		{"one container 400 times", envelope(oneContainer(400)), ""},
		{"one container 500 times", envelope(oneContainer(500)), "SVCSRV003"},
		{"one bag in 64 groups on 64 KiB", envelope(padded(sameGroups(one+one, 64), ingestor.MaxMessage)), ""},
		{"one bag in 65 groups on 64 KiB", envelope(padded(sameGroups(one, 65), ingestor.MaxMessage)), "SVCSRV003"},
		{"one bag in 2,400 groups", envelope(sameGroups(one, 2400)), "SVCSRV003"},
		{"999 bags in 12 groups", envelope(sameGroups(run, 12)), ""},
		{"999 bags in 13 groups", envelope(sameGroups(run, 13)), "SVCSRV003"},
		{"a full run on 98 flights", envelope(bags(1, 999, onward(97)+".P/MUELLER\r\n")), ""},
		{"a full run on 99 flights", envelope(bags(1, 999, onward(98)+".P/MUELLER\r\n")), "SVCSRV003"},
		{"one bag on 300 flights under 300 names", envelope(namedGroups(300)), ""},
		{"one bag on 1,400 flights under 676 names", envelope(namedGroups(1400)), "SVCSRV003"},
		{"document", document(`{"bim_message":` + string(text) + `}`), ""},
		{"document with other members", document(`{"a":[1,{"bim_message":2}],"bim_message":` + string(text) + `,"b":null}`), ""},
		{"document with an escaped name", document(`{"\u0062im_message":` + string(text) + `}`), ""},
		{"document, repeated", document(`{"bim_message":` + string(text) + `,"bim_message":` + string(text) + `}`), "SVCPRB003"},
		{"document, something behind it", document(`{"bim_message":` + string(text) + `}{}`), "SVCPRB003"},
		{"document, a number", document(`{"bim_message":1}`), "SVCPRB003"},
		{"document, null", document(`{"bim_message":null}`), "SVCPRB003"},
		{"document, another case", document(`{"BIM_message":` + string(text) + `}`), "SVCPRB003"},
		{"document, absent", document(`{}`), "SVCPRB003"},
		{"document, an array", document(`[]`), "SVCPRB003"},
		{"document, not UTF-8", document("{\"bim_message\":\"BSM\xff\"}"), "SVCPRB003"},
		{"document, half a surrogate", document(`{"bim_message":"\ud800"}`), "SVCPRB003"},
		{"document, empty message", document(`{"bim_message":""}`), "SVCPRB003"},
		{"document, no text at all", document(``), "SVCPRB003"},
		{"document, message over 64 KiB", document(`{"bim_message":"` + strings.Repeat("A", ingestor.MaxMessage+1) + `"}`), "SVCSRV003"},
		{"document over 1 MiB", document(strings.Repeat(" ", ingestor.MaxDocument+1)), "SVCSRV003"},
		{"report that is none", report, "SVCSRV009"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newIndex()
			outcome := process(t, newAcceptor(x), c.env)
			if got := codes(outcome.Errors); got != c.want {
				t.Errorf("codes %q, want %q", got, c.want)
			}
			if accepted := outcome.Verdict == ingestor.Accepted; accepted != (c.want == "") || accepted != (x.filed() == 1) {
				t.Errorf("verdict %v, filed %d", outcome.Verdict, x.filed())
			}
			if c.want == "" && c.env.JSON && outcome.Filing.Raw != bsm {
				t.Errorf("filed %q, want the message of the document", outcome.Filing.Raw)
			}
		})
	}
}

func TestReportGoesToTheIndex(t *testing.T) {
	env := envelope(`{"record_reference":"ZRHLX00001","station":"ZRH","bags":["0724123456"]}`)
	env.Report, env.JSON = true, true // it is a JSON document indeed, but not that one
	outcome := process(t, newAcceptor(newIndex()), env)
	if outcome.Verdict != ingestor.Accepted || !outcome.Filing.Report || outcome.Filing.Entries[0].Plate != "0724123456" {
		t.Errorf("outcome %+v", outcome)
	}
}

func TestBatchIsFiledInOneCallAndAnsweredInOrder(t *testing.T) {
	x := newIndex()
	outcomes, err := newAcceptor(x).AcceptBatch(t.Context(), []ingestor.Envelope{
		envelope(bsm), envelope("BSM"), envelope(bpm), envelope(""), envelope(bsm),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []ingestor.Verdict
	for _, o := range outcomes {
		got = append(got, o.Verdict)
	}
	want := []ingestor.Verdict{ingestor.Accepted, ingestor.Rejected, ingestor.Accepted, ingestor.Rejected, ingestor.Duplicate}
	if !slices.Equal(got, want) {
		t.Fatalf("verdicts %v, want %v", got, want)
	}
	if len(x.calls) != 1 || len(x.calls[0]) != 3 {
		t.Errorf("%d calls of the index, want one with 3 filings", len(x.calls))
	}
	if outcomes[0].Identifier != "BSM" || outcomes[2].Identifier != "BPM" {
		t.Errorf("an outcome was overwritten by a later parse: %+v", outcomes)
	}
}

func TestErrorOfTheIndexIsNoDecision(t *testing.T) {
	x := newIndex()
	x.setFail(true)
	p := newAcceptor(x)
	if outcomes, err := p.AcceptBatch(t.Context(), []ingestor.Envelope{envelope(bsm)}); !errors.Is(err, errAway) || outcomes != nil {
		t.Errorf("outcomes %v, error %v", outcomes, err)
	}
	x.setFail(false)
	if got := process(t, p, envelope(bsm)).Verdict; got != ingestor.Accepted {
		t.Errorf("afterwards %v, want Accepted", got)
	}
}

func TestRejectedBatchDoesNotAskTheIndex(t *testing.T) {
	x := newIndex()
	x.setFail(true)
	if _, err := newAcceptor(x).AcceptBatch(t.Context(), []ingestor.Envelope{envelope(""), envelope("XYZ")}); err != nil {
		t.Error(err)
	}
}

func TestDiagnosticsAreJSONWhateverTheMessageHolds(t *testing.T) {
	outcome := process(t, newAcceptor(newIndex()), envelope("BSM\n.V/1LZRH\n.F/LX14/31FEB/\"\xff\x00\u2028\n.N/0724123456001\nENDBSM\n"))
	var list []map[string]any
	if err := json.Unmarshal(ingestor.AppendDiagnostics(nil, outcome.Errors), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != len(outcome.Errors) || len(list) == 0 {
		t.Fatalf("%d diagnostics in %v", len(list), list)
	}
	for _, member := range []string{"code", "description", "severity", "line", "column", "end_column", "element", "value", "expected"} {
		if _, ok := list[0][member]; !ok || len(list[0]) != 9 {
			t.Errorf("%v: no member %s, or more than nine", list[0], member)
		}
	}
	if got := string(ingestor.AppendDiagnostics(nil, nil)); got != "[]" {
		t.Errorf("no diagnostics are %s", got)
	}
}

func TestCodesAreNamedOnce(t *testing.T) {
	list := []ingestor.Diagnostic{{Code: "B"}, {Code: "A"}, {Code: "B"}}
	if got := ingestor.Codes(list); !slices.Equal(got, []string{"B", "A"}) {
		t.Errorf("codes %q", got)
	}
}

func TestMessagesAreDecidedOnSomeAfterTheOther(t *testing.T) {
	x := newIndex()
	p := newAcceptor(x)
	many, faulty := envelope(bags(1, 999, "")), envelope("BSM\n"+strings.Repeat(".F\n", 20_000))
	left := []ingestor.Envelope{many, envelope(""), envelope(bsm), many, many, envelope(bsm), faulty, faulty, faulty, faulty, envelope(bsm)}
	var sizes []int
	for len(left) > 0 {
		outcomes, err := p.AcceptBatch(t.Context(), left)
		if err != nil {
			t.Fatal(err)
		}
		sizes, left = append(sizes, len(outcomes)), left[len(outcomes):]
	}
	if want := []int{1, 3, 1, 4, 2}; !slices.Equal(sizes, want) {
		t.Errorf("decided on %v, want %v", sizes, want)
	}
	if x.filed() != 6 {
		t.Errorf("filed %d", x.filed())
	}
}

func TestAHintSaysWhetherTheHeaderOfADocumentIsWrong(t *testing.T) {
	for _, c := range []struct {
		raw, hint string
		json      bool
	}{
		{bsm, "leave it out", true},
		{`{"bim_message":1}`, "", true},
		{`{"bim_message":"BSM"}`, "needs the header content-type", false},
	} {
		env := envelope(c.raw)
		env.JSON = c.json
		outcome := process(t, newAcceptor(newIndex()), env)
		if len(outcome.Errors) != 1 || !strings.Contains(outcome.Errors[0].Hint, c.hint) || (c.hint == "") != (outcome.Errors[0].Hint == "") {
			t.Errorf("%q: %+v", c.raw, outcome.Errors)
		}
	}
}
