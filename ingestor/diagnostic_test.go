package ingestor_test

import (
	"encoding/json"
	"testing"

	"bagtrail/ingestor"
	"bagtrail/parser"
)

func TestDiagnosticsAreReadAsTheyWereWritten(t *testing.T) {
	want := ingestor.Diagnostic{
		Code: "SVCPRB023", Warning: true, Line: 3, Column: 15, EndColumn: 18, Element: ".F", Value: "JFQ", Expected: "a known airport",
		Description: "Invalid airport", Advice: parser.Advice{Suggestion: "JFK", Hint: "A letter is wrong."},
	}
	// Another program has written the first one.
	text := `[{"code":"SVCPRB001","line":"x"},` + string(want.Append(nil)) + "]"
	var got []ingestor.Diagnostic
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 2 {
		t.Fatalf("%+v, error %v", got, err)
	}
	if first := (ingestor.Diagnostic{Code: "SVCPRB001"}); got[0] != first || got[1] != want {
		t.Errorf("%+v, want %+v and %+v", got, first, want)
	}
}
