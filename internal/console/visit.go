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

// visit is one request for a page by a user who is logged in.
type visit struct {
	*Console
	r       *http.Request
	now     time.Time
	session session
}

// view is the content of a page.
type view struct {
	Title    string
	Section  string // the current link of the navigation
	Airport  string // the airport whose clock is shown; "" shows only UTC
	Query    string // the text in the search field
	Live     *live
	Data     any
	Redirect string // if not "", the answer redirects to this address
}

// live tells the script which changes to follow.
type live struct {
	Stream string // address of the stream of changes
	Cursor string // cursor at which the stream begins; "" if there are no changes

	Airport, Direction, Date string // of a board, on which the rows are flights; "" on other pages, where the rows are plates
}

// page is the data of a template.
type page struct {
	view
	Session session
	Now     time.Time
	Limits  limits
	Problem *problem
	Path    string     // address of the page, to return to after a login
	Ended   bool       // the login says that the session has ended
	Retry   bool       // the page loads itself again
	Kept    url.Values // the form that was refused
}

// handle registers a screen for users who are logged in. Other users are redirected to the login
// and then back. With the parameter rows, the answer has only the parts of the page that may have
// changed. Its header Changes-Cursor then has the cursor from which to follow later changes.
func (c *Console) handle(pattern, name string, serve func(*visit) (view, *problem)) {
	c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Console: c, r: r, now: c.clock()}
		shown, p := view{}, v.ask("/v1/session", nil, &v.session)
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
		case p != nil:
			_ = v.form() // reads the form for Kept, unless serve has read it; a form that is too long is not kept
		case shown.Redirect != "":
			http.Redirect(w, r, shown.Redirect, http.StatusSeeOther)
			return
		case name == "board" && shown.Airport != "" && !part:
			http.SetCookie(w, &http.Cookie{
				Name: lastAirport, Value: shown.Airport, Path: Path, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 90 * 86400,
			})
		}
		block := "layout"
		if part {
			block = "parts"
			if shown.Live != nil && shown.Live.Cursor != "" {
				w.Header().Set("Changes-Cursor", shown.Live.Cursor)
			}
		}
		shown.Title = cmp.Or(shown.Title, "bagtrail")
		c.render(w, r, name, block, page{
			view: shown, Session: v.session, Now: v.now, Limits: limitsOf(r), Problem: p, Path: r.URL.RequestURI(),
			Retry: p != nil && p.Status >= http.StatusTooManyRequests && r.Method == http.MethodGet, Kept: r.PostForm,
		})
	})
}

// rows returns a function that reports whether the request asks for a row of a table: for the rows
// whose keys the parameter rows names, or for all if it names none.
func (v *visit) rows() func(key string) bool {
	keys := v.r.URL.Query()["rows"]
	return func(key string) bool { return len(keys) == 0 || keys[0] == "" || slices.Contains(keys, key) }
}

// render writes a page, or parts of one. If there is a problem, the answer has its status and its
// Retry-After.
func (c *Console) render(w http.ResponseWriter, r *http.Request, name, block string, p page) {
	status := http.StatusOK
	if p.Problem != nil {
		status = p.Problem.Status
		if p.Problem.Wait != "" {
			w.Header().Set("Retry-After", p.Problem.Wait)
		}
		if block == "parts" {
			http.Error(w, p.Problem.Title, status)
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

// ask sends a request to an operation of /v1, by POST if there is a body, and decodes the answer.
func (v *visit) ask(target string, body, into any) *problem {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	_, p := v.Console.ask(v.r, nil, method, target, body, into)
	return p
}

// lastAirport is the cookie with the airport whose board was shown last.
const lastAirport = "bagtrail-airport"

// airport returns the airport to use if the request names none: the one whose board was shown last, if
// the key covers it, or the first one of the key, or "".
func (v *visit) airport() string {
	all := v.session.Airports
	last, err := v.r.Cookie(lastAirport)
	switch {
	case err == nil && v.airports.KnownLocation(last.Value) && v.session.covers(last.Value):
		return last.Value
	case len(all) > 0 && v.airports.KnownLocation(all[0]):
		return all[0]
	}
	return ""
}

// today returns the current time at an airport, or in UTC if airport is "".
func (v *visit) today(airport string) time.Time { return v.now.In(v.airports.TimeZone(airport)) }

// missing answers requests for unknown addresses.
func (v *visit) missing() (view, *problem) {
	return view{Title: "Not found"}, &problem{Status: http.StatusNotFound, Title: "There is no such page"}
}

// path returns the path of a page from its segments.
func path(segments ...string) string { return Path + joined(segments...) }

// joined escapes segments of a path, and joins them.
func joined(segments ...string) string {
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return strings.Join(segments, "/")
}
