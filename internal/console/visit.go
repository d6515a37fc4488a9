package console

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// visit is one request for a page by somebody who is logged in.
type visit struct {
	*Console
	r       *http.Request
	now     time.Time
	session session
}

// view is what a page shows.
type view struct {
	Title    string
	Section  string // the link of the navigation that is current
	Airport  string // whose clock is shown; "" is UTC alone
	Query    string // in the search field
	Live     *live
	Data     any
	Redirect string // if not "", the answer leads there and shows nothing
}

// live tells the script which changes to follow.
type live struct {
	Stream string // address of the stream of changes
	Cursor string // where the stream begins; "" if there are no changes

	Airport, Direction string // of a board, whose rows are flights; else rows are plates
}

// page is the data of a template.
type page struct {
	view
	Session session
	Now     time.Time
	Limits  limits
	Problem *problem
	Path    string // of the page, to come back to after a login
	Ended   bool   // the login says that the session ended
	Refused *problem
	Retry   bool   // the page asks for itself again
	Kept    string // the text of a form that was not taken
}

// handle registers a screen for those who are logged in. Others are led to the login and back.
// With the parameter rows, the answer is only the parts of the page that may have changed.
func (c *Console) handle(pattern, name string, serve func(*visit) (view, *problem)) {
	c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Console: c, r: r, now: c.clock()}
		shown, p := view{}, v.ask(http.MethodGet, "/v1/session", nil, &v.session)
		if p == nil {
			shown, p = serve(v)
		}
		part := r.URL.Query().Has("rows")
		switch {
		case p != nil && p.Status == http.StatusUnauthorized && !part:
			back := r.URL.RequestURI()
			if r.Method != http.MethodGet {
				back = r.URL.Path
			}
			http.Redirect(w, r, Path+"login?ended&next="+url.QueryEscape(back), http.StatusSeeOther)
			return
		case p == nil && shown.Redirect != "":
			http.Redirect(w, r, shown.Redirect, http.StatusSeeOther)
			return
		}
		if p == nil && c.places.KnownAirport(shown.Airport) && !part {
			http.SetCookie(w, &http.Cookie{
				Name: lastAirport, Value: shown.Airport, Path: Path, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 90 * 86400,
			})
		}
		kept := ""
		if p != nil && r.Method == http.MethodPost {
			kept, _ = v.text() // a text that is too long is not kept
		}
		block := "layout"
		if part {
			block = "parts"
		}
		shown.Title = cmp.Or(shown.Title, "bagtrail")
		c.render(w, r, name, block, page{
			view: shown, Session: v.session, Now: v.now, Limits: limitsOf(r), Problem: p, Path: r.URL.RequestURI(),
			Retry: p != nil && p.Status >= http.StatusTooManyRequests && r.Method == http.MethodGet, Kept: kept,
		})
	})
}

// rows returns which rows of a table are asked for: those with a key that rows names, or all.
func (v *visit) rows() func(key string) bool {
	keys := v.r.URL.Query()["rows"]
	return func(key string) bool { return len(keys) == 0 || keys[0] == "" || slices.Contains(keys, key) }
}

// render writes a page, or a part of one. A problem decides its status.
func (c *Console) render(w http.ResponseWriter, r *http.Request, name, block string, p page) {
	status := http.StatusOK
	if trouble := cmp.Or(p.Problem, p.Refused); trouble != nil {
		status = trouble.Status
		if block == "parts" {
			if trouble.Wait != "" {
				w.Header().Set("Retry-After", trouble.Wait)
			}
			http.Error(w, trouble.Title, status)
			return
		}
	}
	var body bytes.Buffer
	if err := c.screens[name].ExecuteTemplate(&body, block, p); err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "private, no-cache")
	write(w, r, status, body.Bytes())
}

// ask asks an operation of /v1 and decodes its answer.
func (v *visit) ask(method, target string, body, into any) *problem {
	a, err := v.Console.ask(v.r, nil, method, target, body)
	if err != nil {
		return &problem{Status: http.StatusBadRequest, Title: "The address is not understood"}
	}
	return a.read(into)
}

// lastAirport is the cookie with the airport that was looked at last.
const lastAirport = "bagtrail-airport"

// airport returns the airport that is meant if none is named: the last one that was looked at, or
// the only one of the key, or "".
func (v *visit) airport() string {
	if last, err := v.r.Cookie(lastAirport); err == nil && v.places.KnownAirport(last.Value) {
		return last.Value
	}
	if all := v.session.Airports; len(all) > 0 && v.places.KnownAirport(all[0]) {
		return all[0]
	}
	return ""
}

// today returns the date at an airport, or of UTC.
func (v *visit) today(airport string) time.Time { return v.now.In(v.places.TimeZone(airport)) }

// missing answers for an address that no page has.
func (v *visit) missing() (view, *problem) {
	return view{Title: "Not found"}, &problem{Status: http.StatusNotFound, Title: "There is no such page"}
}

// path joins escaped segments to the path of a page.
func path(segments ...string) string {
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return Path + strings.Join(segments, "/")
}
