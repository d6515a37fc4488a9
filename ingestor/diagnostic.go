package ingestor

import (
	"slices"
	"strconv"
	"strings"

	"bagtrail/internal/fault"
	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// Diagnostic is one fault of a message, found by the parser or before the message was parsed.
//
// Value and Description may hold names and PNRs: neither may be logged.
type Diagnostic struct {
	Code        string // SVCPRB018, SVCSRV003
	Line        int    // 1-based
	Column      int    // 1-based, in bytes of the line as sent
	Element     string // ".V"; "" if the fault is in no element
	Value       string // the text at fault, any bytes
	Expected    string
	Description string // one sentence, printable
}

// diagnostics copies the diagnostics of the parser, which uses their memory again.
func diagnostics(found []parser.Diagnostic) []Diagnostic {
	if len(found) == 0 {
		return nil
	}
	out := make([]Diagnostic, len(found))
	for i, d := range found {
		out[i] = Diagnostic{d.Code.String(), d.Line, d.Column, d.Element, d.Value, d.Expected, d.Description()}
	}
	return out
}

// faultOf returns the fault of an envelope as a whole.
func faultOf(id fault.ID, expected string) []Diagnostic {
	entry := id.Entry()
	return []Diagnostic{{Code: entry.Code, Line: 1, Column: 1, Expected: expected, Description: entry.Text}}
}

// Codes returns the codes of the diagnostics, each once, in their order.
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
	dst = append(dst, '[')
	for i, d := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = d.Append(dst)
	}
	return append(dst, ']')
}

// Append appends the full form of the diagnostic as a JSON object.
func (d Diagnostic) Append(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strictjson.AppendString(dst, d.Code)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(d.Line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(d.Column), 10)
	for _, member := range [...]struct{ name, value string }{
		{`,"element":`, d.Element}, {`,"value":`, d.Value}, {`,"expected":`, d.Expected}, {`,"description":`, d.Description},
	} {
		dst = append(dst, member.name...)
		dst = strictjson.AppendString(dst, member.value)
	}
	return append(dst, '}')
}

// CodeList returns the codes of the diagnostics as one comma list.
func CodeList(list []Diagnostic) string { return strings.Join(Codes(list), ",") }
