package console

import (
	"net/http"
	"net/url"
	slashpath "path"
	"strings"

	sessions "bagtrail/internal/session"
)

func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, "login", "layout", page{
		view: view{Title: "Log in"}, Now: c.clock(), Path: back(r.URL.Query().Get("next")), Ended: r.URL.Query().Has("ended"),
	})
}

// login exchanges the key of the form for a session, whose cookie goes to the browser.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	next := back(r.PostFormValue("next"))
	key := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(r.PostFormValue("key"))}, "Cookie": nil}
	header, p := c.ask(r, key, http.MethodPost, "/v1/session", nil, nil)
	if p != nil {
		c.render(w, r, "login", "layout", page{view: view{Title: "Log in"}, Now: c.clock(), Path: next, Problem: p})
		return
	}
	w.Header()["Set-Cookie"] = header["Set-Cookie"]
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// logout ends the session. Even if the service cannot end it, the browser removes the cookie and the
// pages that it keeps, so that the next user of the browser does not have the session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Clear-Site-Data", `"cache"`)
	http.SetCookie(w, &http.Cookie{Name: sessions.Cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	if header, _ := c.ask(r, nil, http.MethodDelete, "/v1/session", nil, nil); header["Set-Cookie"] != nil {
		w.Header()["Set-Cookie"] = header["Set-Cookie"]
	}
	http.Redirect(w, r, Path+"login", http.StatusSeeOther)
}

// back returns the address to go to after a login. It is always an address of the console.
func back(next string) string {
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(next, Path) || strings.ContainsAny(next, "\\\r\n") {
		return Path
	}
	if leads := slashpath.Clean(u.Path); !strings.HasPrefix(leads+"/", Path) || strings.HasPrefix(leads, Path+"log") { // without dots
		return Path
	}
	return next
}
