package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bagtrail/internal/strictjson"
	"bagtrail/parser"
)

// rejectDoc is a reject of /v1.
type rejectDoc struct {
	ID          string          `json:"id"`
	State       string          `json:"state"`
	Received    time.Time       `json:"received"`
	Door        string          `json:"door"`
	Key         string          `json:"key"`
	Airport     string          `json:"airport"`
	Diagnostics []diagnosticDoc `json:"diagnostics"`
	Form        string          `json:"form"`
	Text        string          `json:"text"`
	History     []struct {
		At      time.Time `json:"at"`
		Action  string    `json:"action"`
		Key     string    `json:"key"`
		Verdict string    `json:"verdict"`
		Reason  string    `json:"reason"`
	} `json:"history"`
}

// diagnosticDoc is a fault of a message. Columns count bytes, from 1; the end is exclusive.
type diagnosticDoc struct {
	Code       string `json:"code"`
	Severity   string `json:"severity"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	EndColumn  int    `json:"end_column"`
	Element    string `json:"element"`
	Value      string `json:"value"`
	Expected   string `json:"expected"`
	Suggestion string `json:"suggestion"`
	Hint       string `json:"hint"`
}

// Warning reports whether the fault alone does not reject a message.
func (d diagnosticDoc) Warning() bool { return d.Severity == "warning" }

// Short returns the number of the code.
func (d diagnosticDoc) Short() string { return strings.TrimPrefix(d.Code, "SVCPRB") }

// unwrap replaces a document {"bim_message": "…"} by the message in it, to which the faults refer. A
// text that is too long to be accepted is shown in part, and cannot be edited.
func (r *rejectDoc) unwrap() {
	if text, err := strictjson.StringMember([]byte(r.Text), "bim_message"); r.Form == "json" && err == nil {
		r.Form, r.Text = "text", text
	}
	if len(r.Text) > maxMessage {
		r.Form, r.Text = "long", r.Text[:maxMessage]+"…"
	}
}

// Found returns the beginning of the faulty value, which may be a whole message.
func (d diagnosticDoc) Found() string {
	if found := []rune(d.Value); len(found) > maxFound {
		return string(found[:maxFound]) + "…"
	}
	return d.Value
}

// First returns the first fault, which the list of rejects shows.
func (r rejectDoc) First() diagnosticDoc { return append(r.Diagnostics, diagnosticDoc{})[0] }

// More returns how many faults follow the first, as +2, or "".
func (r rejectDoc) More() string {
	if n := len(r.Diagnostics); n > 1 {
		return fmt.Sprintf(" +%d", n-1)
	}
	return ""
}

// tally says how many rejects have a value.
type tally struct {
	Value string
	Count int
}

// rejectsPage is the data of the screen of rejects.
type rejectsPage struct {
	filter      url.Values
	cursor      string // of the page of the list; "" is the first
	States      []tally
	Facets      []facet
	Hours       []hour
	Most        int // rejects of the fullest hour
	List        []rejectDoc
	Next        string // address of the next page
	Selected    *rejectDoc
	FromAddress bool // the address names Selected; otherwise it is the first of the list
	Check       check
	ListsOpen   bool   // the rejects of the list are open
	Done        string // the result of the form that led here, see outcomes
	Plate       string // of the bag of the message that was accepted, or ""
}

// Words returns the text of the value if it is a fault code, or "".
func (t tally) Words() string {
	number, _ := strconv.ParseUint(strings.TrimPrefix(t.Value, "SVCPRB"), 10, 16) // there is no code 0
	d, _ := parser.Code(number).Definition()
	return d.Text
}

// facet is a filter with its values.
type facet struct {
	Title, Name string
	Values      []tally
}

// hour is a bar of the last day, in percent.
type hour struct {
	X, Y, Height string
	From         time.Time
	Count        int
}

// check is a text with its faults, as the editor shows it.
type check struct {
	Text     string
	Lines    []line
	Faults   []diagnosticDoc // errors, then warnings
	Events   []madeEvent     // the first maxEvents events that the message makes if it is the first of its bags
	More     int             // how many more there are
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
	Error bool // one of the faults is no warning
}

const (
	maxListed  = 50                         // how many rejects a page has
	maxFound   = 80                         // how many characters of a faulty value are shown
	maxEvents  = 5                          // how many events of a message are shown
	maxMessage = 64 << 10                   // bytes; a longer message is never accepted
	maxText    = 3*maxMessage + 4096        // bytes of the form of the editor, in which a byte may take three
	dismissed  = "Dismissed in the console" // the reason, if none is given
)

// filters lists the filters of the list of rejects, which are in its address.
var filters = []string{"state", "code", "airport", "door"}

// outcomes lists the results of forms that the page may show.
var outcomes = []string{"accepted", "duplicate", "dismissed", "rejected", "unauthorised", "nothing selected"}

// rejects shows rejected messages, and an editor with one of them.
func (v *visit) rejects() (view, *problem) {
	asked := v.r.URL.Query()
	data := rejectsPage{filter: listOf(asked)}
	if !data.filter.Has("state") {
		data.filter.Set("state", "open")
	}
	if done := asked.Get("done"); slices.Contains(outcomes, done) {
		data.Done = done // an address cannot make the page show another text
	}
	if plate := asked.Get("plate"); isDigits(plate) && len(plate) == 10 {
		data.Plate = plate
	}
	shown := view{Title: "Rejects", Section: "rejects", Airport: v.airport()}
	if p := v.summary(&data); p != nil {
		return shown, p
	}
	var list struct {
		Rejects []rejectDoc `json:"rejects"`
		Next    string      `json:"next"`
	}
	query := maps.Clone(data.filter)
	query.Set("limit", strconv.Itoa(maxListed))
	if data.cursor = asked.Get("cursor"); data.cursor != "" {
		query.Set("cursor", data.cursor)
	}
	if p := v.ask(http.MethodGet, "/v1/rejects?"+query.Encode(), nil, &list); p != nil {
		return shown, p
	}
	if len(list.Rejects) == 0 && data.cursor != "" { // the last reject of an older page was decided on
		asked.Del("cursor")
		shown.Redirect = Path + "rejects?" + asked.Encode()
		return shown, nil
	}
	data.List, data.ListsOpen = list.Rejects, data.filter.Get("state") == "open"
	if list.Next != "" {
		data.Next = data.Address("cursor", list.Next)
	}
	id := v.r.PathValue("id")
	if data.FromAddress = id != ""; !data.FromAddress && len(data.List) > 0 {
		id = data.List[0].ID
	}
	if id != "" {
		data.Selected = &rejectDoc{}
		if p := v.ask(http.MethodGet, "/v1/rejects/"+url.PathEscape(id), nil, data.Selected); p != nil {
			return shown, p
		}
		data.Selected.unwrap()
		data.Check = checkOf(data.Selected.Text, data.Selected.Diagnostics, data.Selected.State == "open")
	}
	shown.Data = data
	return shown, nil
}

// summary reads how many rejects there are by state, code, airport, door and hour.
func (v *visit) summary(data *rejectsPage) *problem {
	type entry struct {
		State, Code, Airport, Door string // one of these
		Hour                       time.Time
		Count                      int
	}
	var sum struct{ States, Codes, Airports, Doors, Hours []entry }
	if p := v.ask(http.MethodGet, "/v1/rejects/summary?"+url.Values{"state": data.filter["state"]}.Encode(), nil, &sum); p != nil {
		return p
	}
	tallies := func(list []entry) (all []tally) {
		for _, e := range list {
			all = append(all, tally{e.State + e.Code + e.Airport + e.Door, e.Count})
		}
		return all
	}
	data.States = tallies(sum.States)
	data.Facets = []facet{{"Code", "code", tallies(sum.Codes)}, {"Airport", "airport", tallies(sum.Airports)}, {"Door", "door", tallies(sum.Doors)}}
	for _, f := range data.Facets {
		slices.SortStableFunc(f.Values, func(a, b tally) int { return b.Count - a.Count })
	}
	ago := func(hour time.Time) int { return int(v.now.Sub(hour).Hours()) }
	for _, h := range sum.Hours {
		if ago(h.Hour) < 24 {
			data.Most = max(data.Most, h.Count)
		}
	}
	for _, h := range sum.Hours {
		if ago := ago(h.Hour); ago >= 0 && ago < 24 {
			height := 100 * float64(h.Count) / float64(data.Most)
			data.Hours = append(data.Hours, hour{percent(float64(23-ago) * 100 / 24), percent(100 - height), percent(height), h.Hour, h.Count})
		}
	}
	return nil
}

// Label returns the content of the bars of the last day in words.
func (p rejectsPage) Label() string {
	var all []string
	for _, h := range p.Hours {
		all = append(all, fmt.Sprintf("%d in the hour from %sZ", h.Count, h.From.UTC().Format("15:04")))
	}
	return "Rejects: " + cmp.Or(strings.Join(all, ", "), "none in 24 hours")
}

// Address returns the address of the list with a parameter set: a filter, or the cursor. If a filter
// other than the state has the value already, it is removed.
func (p rejectsPage) Address(name, value string) string {
	query := maps.Clone(p.filter)
	if query.Has(name) && query.Get(name) == value && name != "state" {
		query.Del(name)
	} else {
		query.Set(name, value)
	}
	return Path + "rejects?" + query.Encode()
}

// Link returns the address of a reject of the list, which shows the same page of the list.
func (p rejectsPage) Link(id string) string { return path("rejects", id) + "?" + p.Back() }

// Back returns the query of the page of the list.
func (p rejectsPage) Back() string {
	query := maps.Clone(p.filter)
	if p.cursor != "" {
		query.Set("cursor", p.cursor)
	}
	return query.Encode()
}

// Is reports whether a filter has a value.
func (p rejectsPage) Is(name, value string) bool {
	return p.filter.Has(name) && p.filter.Get(name) == value
}

// lineFeeds replaces the line ends of messages by LF, as a text field does.
var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// checkOf returns a text with its faults, line by line.
func checkOf(text string, faults []diagnosticDoc, editable bool) check {
	c := check{Text: text, Faults: faults, Editable: editable, Verdict: "rejected"}
	byLine := make(map[int][]diagnosticDoc)
	for _, f := range faults {
		byLine[f.Line] = append(byLine[f.Line], f)
	}
	for i, content := range strings.Split(lineFeeds.Replace(text), "\n") {
		l := line{Text: content}
		for _, f := range byLine[i+1] {
			l.Marks = mark(l.Marks, content, f)
			l.Codes = strings.TrimSpace(l.Codes + " " + f.Short())
			l.Error = l.Error || !f.Warning()
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// maxTable is how many faults the table under a text has at most.
const maxTable = 200

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

// text returns the text of the editor. Lines end with CR LF, as in messages.
func (v *visit) text() (string, *problem) {
	v.r.Body = http.MaxBytesReader(nil, v.r.Body, maxText)
	var tooLong *http.MaxBytesError
	switch err := v.r.ParseForm(); {
	case errors.As(err, &tooLong):
		return "", &problem{Status: http.StatusRequestEntityTooLarge, Title: "The text is too long for the editor"}
	case err != nil:
		return "", &problem{Status: http.StatusBadRequest, Title: "The form cannot be read"}
	}
	return strings.ReplaceAll(strings.ReplaceAll(v.r.PostForm.Get("text"), "\r\n", "\n"), "\n", "\r\n"), nil
}

// checkReject checks the text of the editor, and shows its faults.
func (v *visit) checkReject() (view, *problem) {
	text, p := v.text()
	if p != nil {
		return view{Data: rejectsPage{Check: check{Problem: p}}}, nil
	}
	var answer struct {
		Results []struct {
			Verdict     string          `json:"verdict"`
			Diagnostics []diagnosticDoc `json:"diagnostics"`
			Events      []madeEvent     `json:"events"`
		} `json:"results"`
	}
	question := map[string]any{"messages": []any{map[string]any{"text": text}}}
	if p := v.ask(http.MethodPost, "/v1/messages/validate", question, &answer); p != nil {
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

// resubmit submits a reject again: with the text of the form, or as it came.
func (v *visit) resubmit() (view, *problem) {
	id, body := v.r.PathValue("id"), map[string]any{}
	text, p := v.text()
	if p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	if v.r.PostFormValue("as") != "it came" {
		body["text"] = text
	}
	var answer struct {
		Verdict string `json:"verdict"`
	}
	if p := v.ask(http.MethodPost, "/v1/rejects/"+url.PathEscape(id)+"/resubmit", body, &answer); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	return v.done(id, answer.Verdict), nil
}

// dismiss dismisses a reject.
func (v *visit) dismiss() (view, *problem) {
	id := v.r.PathValue("id")
	v.r.Body = http.MaxBytesReader(nil, v.r.Body, maxForm)
	reason := cmp.Or(strings.TrimSpace(v.r.PostFormValue("reason")), dismissed)
	if p := v.ask(http.MethodPost, "/v1/rejects/"+url.PathEscape(id)+"/dismiss", map[string]any{"reason": reason}, nil); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	return v.done(id, "dismissed"), nil
}

// plateOf returns the first plate of a message, or "".
func plateOf(text string) string {
	for line := range strings.Lines(text) {
		tag, found := strings.CutPrefix(line, ".N/")
		if plate := tag[:min(len(tag), 10)]; found && isDigits(plate) && len(plate) == 10 {
			return plate
		}
	}
	return ""
}

// done redirects to the page of the list or, if the reject was not accepted, to the reject. The list
// has a link to the bag of a message that was accepted.
func (v *visit) done(id, verdict string) view {
	back, _ := url.ParseQuery(v.r.PostFormValue("back")) // a query that cannot be parsed gives no filters
	query := listOf(back)
	if cursor := back.Get("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	query.Set("done", verdict)
	if plate := plateOf(v.r.PostFormValue("text")); plate != "" && verdict == "accepted" {
		query.Set("plate", plate)
	}
	if id != "" && (verdict == "rejected" || verdict == "unauthorised") {
		return view{Redirect: path("rejects", id) + "?" + query.Encode()}
	}
	return view{Redirect: Path + "rejects?" + query.Encode()}
}

// FaultCount says how many faults the text has.
func (c check) FaultCount() string {
	errors := 0
	for _, f := range c.Faults {
		if !f.Warning() {
			errors++
		}
	}
	words := plural(errors, "fault")
	if c.Editable {
		words += " left"
	}
	return words + "."
}
