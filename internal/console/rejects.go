package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/excerpt"
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

// unwrap replaces a document {"bim_message": "…"} by the message in it, to which the faults refer.
// It cuts a text that is too long to be accepted, which cannot be edited.
func (r *rejectDoc) unwrap() {
	if text, ok := ingestor.DecodeDocument(r.Text); ok && r.Form == "json" {
		r.Form, r.Text = "text", text
	}
	r.removeNUL()
	if len(r.Text) > ingestor.MaxMessage {
		r.Form, r.Text = "long", r.Text[:ingestor.MaxMessage]+"…"
	}
}

// removeNUL removes NUL from the text, and its bytes from the columns of the faults. A message is
// read without NUL; a page cannot hold it, and a browser would send another character in its place.
func (r *rejectDoc) removeNUL() {
	lines := excerpt.Lines(r.Text)
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		if d.Line < 1 || d.Line > len(lines) {
			continue
		}
		line := lines[d.Line-1]
		for _, column := range []*int{&d.Column, &d.EndColumn} {
			*column -= strings.Count(line[:max(0, min(*column-1, len(line)))], "\x00")
		}
	}
	r.Text = strings.ReplaceAll(r.Text, "\x00", "")
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
	filter      url.Values // see listOf
	States      []tally
	Facets      []facet
	Hours       []hour
	Most        int // rejects of the fullest hour
	List        []rejectDoc
	Next        string // address of the next page
	Selected    *rejectDoc
	FromAddress bool // the address names Selected; otherwise it is the first of the list
	Check       check
	Done        string // the result of the form that led here, see outcomes
	Plate       string // plate of a bag in the message that was accepted, or ""
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

const (
	maxListed = 50                           // how many rejects a page has
	maxForm   = 3*ingestor.MaxMessage + 4096 // bytes of a form; a byte of a message may take three bytes in it
	dismissed = "Dismissed in the console"   // the reason, if none is given
)

// filters lists the parameters of the list of rejects, which are in its address: its filters, and the
// cursor of its page unless that is the first.
var filters = []string{"state", "code", "airport", "door", "cursor"}

// outcomes lists the results of forms that the page may show.
var outcomes = []string{"accepted", "duplicate", "dismissed", "rejected", "unauthorised", "nothing selected"}

// rejects shows rejected messages, and an editor with one of them.
func (v *visit) rejects() (view, *problem) { return v.rejectsOf(v.r.URL.Query()) }

// rejectsOf is rejects for a query. The Data of the view is a rejectsPage, unless there is a
// problem, or the page of the list is now empty.
func (v *visit) rejectsOf(asked url.Values) (view, *problem) {
	data := rejectsPage{filter: listOf(asked)}
	if !data.filter.Has("state") {
		data.filter.Set("state", "open")
	}
	if done := asked.Get("done"); slices.Contains(outcomes, done) {
		data.Done = done // an address cannot make the page show another text
	}
	if plate := asked.Get("plate"); bag.Plate(plate).Valid() {
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
	if p := v.ask("/v1/rejects?"+query.Encode(), nil, &list); p != nil {
		return shown, p
	}
	if len(list.Rejects) == 0 && data.filter.Has("cursor") && v.r.Method == http.MethodGet { // the last reject of an older page was decided on
		asked.Del("cursor")
		shown.Redirect = v.r.URL.EscapedPath() + "?" + asked.Encode()
		return shown, nil
	}
	data.List = list.Rejects
	if list.Next != "" {
		data.Next = data.Address("cursor", list.Next)
	}
	id := v.r.PathValue("id")
	if data.FromAddress = id != ""; !data.FromAddress && len(data.List) > 0 {
		id = data.List[0].ID
	}
	if id != "" {
		data.Selected = &rejectDoc{}
		if p := v.ask("/v1/rejects/"+url.PathEscape(id), nil, data.Selected); p != nil {
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
	if p := v.ask("/v1/rejects/summary?"+url.Values{"state": data.filter["state"]}.Encode(), nil, &sum); p != nil {
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
	query.Del("cursor")
	if query.Has(name) && query.Get(name) == value && name != "state" {
		query.Del(name)
	} else {
		query.Set(name, value)
	}
	return listed(query.Encode())
}

// Link returns the address of a reject of the list, which shows the same page of the list.
func (p rejectsPage) Link(id string) string { return path("rejects", id) + "?" + p.Back() }

// Back returns the query of the page of the list.
func (p rejectsPage) Back() string { return p.filter.Encode() }

// Is reports whether a filter has a value.
func (p rejectsPage) Is(name, value string) bool {
	return p.filter.Has(name) && p.filter.Get(name) == value
}

// resubmit submits a reject again: with the text of the form, or as it came. If it is not accepted,
// the page shows the reject, with the text that was sent and its faults.
func (v *visit) resubmit() (view, *problem) {
	id, body := v.r.PathValue("id"), map[string]any{}
	if p := v.form(); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	if v.r.PostForm.Get("as") != "it came" {
		body["text"] = v.text()
	}
	var answer struct {
		Verdict     string          `json:"verdict"`
		Diagnostics []diagnosticDoc `json:"diagnostics"`
	}
	if p := v.ask("/v1/rejects/"+url.PathEscape(id)+"/resubmit", body, &answer); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	if answer.Verdict != "rejected" && answer.Verdict != "unauthorised" {
		return v.done(answer.Verdict), nil
	}
	shown, p := v.rejectsOf(v.backQuery(answer.Verdict))
	if data, ok := shown.Data.(rejectsPage); ok && body["text"] != nil {
		data.Selected.Text = v.text()
		data.Check = checkOf(v.text(), answer.Diagnostics, data.Check.Editable)
		data.Check.Verdict = answer.Verdict
		shown.Data = data
	}
	return shown, p
}

func (v *visit) dismiss() (view, *problem) {
	id := v.r.PathValue("id")
	if p := v.form(); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	reason := cmp.Or(strings.TrimSpace(v.r.PostForm.Get("reason")), dismissed)
	if p := v.ask("/v1/rejects/"+url.PathEscape(id)+"/dismiss", map[string]any{"reason": reason}, nil); p != nil {
		return view{Title: "Rejects", Section: "rejects"}, p
	}
	return v.done("dismissed"), nil
}

// plateOf returns the first plate of a message, or "".
func plateOf(text string) string {
	for line := range strings.Lines(text) {
		tag, found := strings.CutPrefix(line, ".N/")
		if plate := tag[:min(len(tag), 10)]; found && bag.Plate(plate).Valid() {
			return plate
		}
	}
	return ""
}

// backQuery returns the query of the page of the list from which the form was sent, with the result
// of the form.
func (v *visit) backQuery(result string) url.Values {
	back, _ := url.ParseQuery(v.r.PostFormValue("back")) // a query that cannot be parsed gives no filters
	query := listOf(back)
	query.Set("done", result)
	return query
}

// done redirects to the page of the list. It has a link to the bag of a message that was accepted.
func (v *visit) done(result string) view {
	query := v.backQuery(result)
	if plate := plateOf(v.r.PostFormValue("text")); plate != "" && result == "accepted" {
		query.Set("plate", plate)
	}
	return view{Redirect: listed(query.Encode())}
}
