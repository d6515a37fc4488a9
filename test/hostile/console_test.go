package hostile_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bagtrail/test/service"
)

// cookieOf returns the cookie of the session that an answer begins.
func cookieOf(got service.Answer) string {
	cookie, _, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
	return cookie
}

// session returns the cookie of a session that the login of the console begins.
func (o office) session(key string) string {
	o.t.Helper()
	form := strings.NewReader(url.Values{"key": {key}, "next": {"/console/search"}}.Encode())
	got := o.Do(http.MethodPost, "/console/login", form, "Content-Type", "application/x-www-form-urlencoded")
	cookie := cookieOf(got)
	if !strings.HasPrefix(cookie, "bagtrail_session=") {
		o.t.Fatalf("no session of %s: %d %v", key, got.Status, got.Header)
	}
	return cookie
}

// search posts a search of the console.
func (o office) search(cookie, query string) service.Answer {
	o.t.Helper()
	form := strings.NewReader(url.Values{"q": {query}}.Encode())
	return o.Do(http.MethodPost, "/console/search", form, "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie)
}

func TestTheConsoleShowsAKeyNothingOfOthers(t *testing.T) {
	o := openOffice(t)
	const plate, pnr = "0724100001", "ABC123"
	o.swiss(plate, "MUELLER", pnr)
	flight := "/console/flights/ZRH/D/LX/500/" + day(1).iso()
	pages := []string{flight, flight + "?rows=", flight + "?rows=" + plate, strings.Replace(flight, "ZRH/D", "JFK/A", 1), "/console/bags/" + plate, "/console/bags/" + plate + "?rows="}
	secrets := []string{"MUELLER", "ANNA", pnr, ".V/1LZRH", "EXPECTED", "Expected"}
	own := o.session("key-of-lx")
	for _, page := range pages {
		o.holds("lx "+page, o.Get(page, "Cookie", own), []string{"MUELLER"}, nil)
	}
	for _, key := range []string{"ba", "shy"} {
		cookie := o.session("key-of-" + key)
		for _, page := range pages {
			o.holds(key+" "+page, o.Get(page, "Cookie", cookie), nil, secrets)
		}
		if got := o.search(cookie, pnr+" "+day(1).iso()); strings.Contains(got.Body, "MUELLER") || !strings.Contains(got.Body, "Nothing found") {
			t.Errorf("%s: %d %s", key, got.Status, got.Body)
		}
	}
	if got := o.search(own, pnr+" "+day(1).iso()); got.Status != http.StatusSeeOther || got.Header.Get("Location") != "/console/bags/"+plate {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	for _, page := range pages {
		for _, cookie := range []string{"", "bagtrail_session=x", own + "x"} {
			if got := o.Get(page, "Cookie", cookie); got.Status != http.StatusSeeOther && got.Status != http.StatusUnauthorized {
				t.Errorf("%q %s: %d", cookie, page, got.Status)
			}
		}
	}
	if log := o.Log(); strings.Contains(log, "MUELLER") || strings.Contains(log, pnr) {
		t.Error("a name or a PNR is in the log")
	}
}
