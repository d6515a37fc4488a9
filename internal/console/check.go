package console

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"bagtrail/ingestor"
	"bagtrail/internal/excerpt"
)

const (
	maxFound  = 80  // how many characters of a faulty value are shown
	maxEvents = 5   // how many events of a message are shown
	maxTable  = 200 // how many faults the table under a text has at most
)

// diagnosticDoc is a fault of a message.
type diagnosticDoc struct{ ingestor.Diagnostic }

// Short returns the number of the code.
func (d diagnosticDoc) Short() string { return strings.TrimPrefix(d.Code, "SVCPRB") }

// Found returns the beginning of the faulty value, which may be a whole message.
func (d diagnosticDoc) Found() string {
	if found := []rune(d.Value); len(found) > maxFound {
		return string(found[:maxFound]) + "…"
	}
	return d.Value
}

// check is a text with its faults, as the editor shows it.
type check struct {
	Text     string
	Lines    []line
	Faults   []diagnosticDoc // errors, then warnings
	Events   []madeEvent     // the first maxEvents events that the message would make as the first of its bags
	More     int             // how many more events there are
	Verdict  string
	Problem  *problem // the text could not be checked
	Editable bool     // the reject can be resubmitted
}

// madeEvent is an event that a message makes.
type madeEvent struct {
	eventDoc
	Plate string `json:"plate"`
}

// line is a line of a message with marks under its faults.
type line struct {
	Text  string
	Marks string // blanks and carets, in characters
	Codes string
	Error bool // one of the faults is an error
}

// checkOf returns a text with its faults, line by line.
func checkOf(text string, faults []diagnosticDoc, editable bool) check {
	c := check{Text: text, Faults: faults, Editable: editable, Verdict: "rejected"}
	byLine := make(map[int][]diagnosticDoc)
	for _, f := range faults {
		byLine[f.Line] = append(byLine[f.Line], f)
	}
	for i, content := range excerpt.Lines(text) {
		l := line{Text: content}
		for _, f := range byLine[i+1] {
			l.Marks = mark(l.Marks, content, f)
			l.Codes = strings.TrimSpace(l.Codes + " " + f.Short())
			l.Error = l.Error || !f.Warning
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// Table returns the faults that the table under the text shows.
func (c check) Table() []diagnosticDoc { return c.Faults[:min(len(c.Faults), maxTable)] }

// Rejected reports whether the message of the text is rejected, or would be.
func (c check) Rejected() bool { return c.Verdict == "rejected" }

// mark adds carets under a fault to the marks of a line. Columns are bytes, marks are characters.
func mark(marks, content string, f diagnosticDoc) string {
	characters := func(column int) int { return utf8.RuneCountInString(content[:max(0, min(column-1, len(content)))]) }
	from := characters(f.Column)
	to := max(characters(f.EndColumn), from+1)
	under := []byte(marks)
	for len(under) < to {
		under = append(under, ' ')
	}
	for i := from; i < to; i++ {
		under[i] = '^'
	}
	return string(under)
}

// form reads the form of the request into PostForm. It refuses a form in another encoding than that
// of the pages: ParseForm reads nothing of it, so a reject would be dismissed without the reason.
func (v *visit) form() *problem {
	if kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		return &problem{Status: http.StatusUnsupportedMediaType, Title: "The form is not application/x-www-form-urlencoded"}
	}
	var tooLarge *http.MaxBytesError
	switch err := v.r.ParseForm(); {
	case errors.As(err, &tooLarge):
		return &problem{Status: http.StatusRequestEntityTooLarge, Title: "The form is too large"}
	case err != nil:
		return &problem{Status: http.StatusBadRequest, Title: "The form cannot be read"}
	}
	return nil
}

// text returns the text of the editor in the form. Lines end with CR LF, as in messages.
func (v *visit) text() string {
	return strings.ReplaceAll(strings.ReplaceAll(v.r.PostForm.Get("text"), "\r\n", "\n"), "\n", "\r\n")
}

// checkReject checks the text of the editor, and shows its faults.
func (v *visit) checkReject() (view, *problem) {
	if p := v.form(); p != nil {
		return view{Data: rejectsPage{Check: check{Problem: p}}}, nil
	}
	var answer struct {
		Results []struct {
			Verdict     string          `json:"verdict"`
			Diagnostics []diagnosticDoc `json:"diagnostics"`
			Events      []madeEvent     `json:"events"`
		} `json:"results"`
	}
	text := v.text()
	body := map[string]any{"messages": []any{map[string]any{"text": text}}}
	if p := v.ask("/v1/messages/validate", body, &answer); p != nil {
		return view{Data: rejectsPage{Check: check{Problem: p}}}, nil
	}
	if len(answer.Results) != 1 {
		return view{}, &problem{Status: http.StatusInternalServerError, Title: "The answer is not understood"}
	}
	result := answer.Results[0]
	c := checkOf(text, result.Diagnostics, true)
	c.Verdict = result.Verdict
	c.Events = result.Events[:min(len(result.Events), maxEvents)]
	c.More = len(result.Events) - len(c.Events)
	return view{Data: rejectsPage{Check: c}}, nil
}

// FaultCount says how many faults the text has.
func (c check) FaultCount() string {
	errors := 0
	for _, f := range c.Faults {
		if !f.Warning {
			errors++
		}
	}
	words := plural(errors, "fault")
	if c.Editable {
		words += " left"
	}
	return words + "."
}
