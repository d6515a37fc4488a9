package ingestor

import (
	"encoding/json"
	"math"
	"slices"

	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// Diagnostic is one fault of a message, found by the parser or before the message was parsed.
//
// Value, Suggestion and Description may hold names and PNRs: none of them may be logged.
type Diagnostic struct {
	Code        string // SVCPRB018, SVCSRV003
	Warning     bool   // the fault does not reject the message
	Line        int    // 1-based
	Column      int    // 1-based, in bytes of the line as sent
	EndColumn   int    // the column after the last byte of Value; Column if Value is empty
	Element     string // ".V"; "" if the fault is in no element
	Value       string // the text at fault, any bytes
	Expected    string
	Description string // one sentence, printable

	parser.Advice
}

// diagnosticOf returns a diagnostic of the parser with advice. It shares no memory that the parser
// reuses.
func diagnosticOf(d parser.Diagnostic, warning bool, advice parser.Advice) Diagnostic {
	return Diagnostic{
		Code: d.Code.String(), Warning: warning, Line: d.Line, Column: d.Column, EndColumn: d.EndColumn,
		Element: d.Element, Value: d.Value, Expected: d.Expected, Description: d.Description(), Advice: advice,
	}
}

// faultOf returns the fault of an envelope as a whole, as the only diagnostic of a list.
func faultOf(id fault.ID, expected string) []Diagnostic {
	return []Diagnostic{{Code: id.Code, Line: 1, Column: 1, EndColumn: 1, Expected: expected, Description: id.Text}}
}

// Codes returns the codes of the diagnostics, each once, in the order of the list.
func Codes(list []Diagnostic) []string {
	var codes []string
	for _, d := range list {
		if !slices.Contains(codes, d.Code) {
			codes = append(codes, d.Code)
		}
	}
	return codes
}

// AppendDiagnostics appends the diagnostics as a JSON array of their full form. Bytes that are not
// UTF-8 become U+FFFD.
func AppendDiagnostics(dst []byte, list []Diagnostic) []byte {
	return AppendFirstDiagnostics(dst, list, math.MaxInt)
}

// maxValue is the number of bytes to which AppendFirstDiagnostics cuts the value of a diagnostic. A
// byte of a value takes up to six bytes in JSON.
const maxValue = 8 << 10

// AppendFirstDiagnostics is AppendDiagnostics for the first diagnostics of the list: as many as fit
// into most bytes, and at least one. If the first one does not fit, its value is cut. most must be
// at least 64 KiB.
func AppendFirstDiagnostics(dst []byte, list []Diagnostic, most int) []byte {
	began := len(dst)
	dst = append(dst, '[')
	for i, d := range list {
		end := len(dst)
		if dst = d.Append(strictjson.AppendComma(dst)); len(dst)-began < most {
			continue
		}
		dst = dst[:end]
		if i == 0 {
			d.Value = d.Value[:min(len(d.Value), maxValue)]
			dst = d.Append(dst)
		}
		break
	}
	return append(dst, ']')
}

// Append appends the full form of the diagnostic as a JSON object.
func (d Diagnostic) Append(dst []byte) []byte {
	dst = strictjson.AppendText(append(dst, '{'), "code", d.Code)
	dst = strictjson.AppendText(dst, "description", d.Description)
	return append(d.AppendDetails(dst), '}')
}

// AppendDetails appends the members other than code and description, each after a comma.
// Suggestion and hint are left out if they are empty.
func (d Diagnostic) AppendDetails(dst []byte) []byte {
	severity := "error"
	if d.Warning {
		severity = "warning"
	}
	dst = strictjson.AppendText(dst, "severity", severity)
	dst = strictjson.AppendNumber(dst, "line", d.Line)
	dst = strictjson.AppendNumber(dst, "column", d.Column)
	dst = strictjson.AppendNumber(dst, "end_column", d.EndColumn)
	dst = strictjson.AppendText(dst, "element", d.Element)
	dst = strictjson.AppendText(dst, "value", d.Value)
	dst = strictjson.AppendText(dst, "expected", d.Expected)
	dst = strictjson.AppendMember(dst, "suggestion", d.Suggestion)
	return strictjson.AppendMember(dst, "hint", d.Hint)
}

// UnmarshalJSON reads what Append has written. Another program may have written a member with a value
// of another type; such a member is left out.
func (d *Diagnostic) UnmarshalJSON(text []byte) error {
	type members Diagnostic
	var read struct {
		members
		Severity  string
		EndColumn int `json:"end_column"`
	}
	_ = json.Unmarshal(text, &read) // text is JSON, so the only possible error is a member of another type
	*d = Diagnostic(read.members)
	d.EndColumn, d.Warning = read.EndColumn, read.Severity == "warning"
	return nil
}
