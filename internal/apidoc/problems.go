package apidoc

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"bagtrail/internal/fault"
	"bagtrail/internal/web"
)

// problemPage is the template for the page of one problem and for the list of all problems.
//
//go:embed problem.html
var problemPage string

var problemTemplate = template.Must(template.New("problem").Parse(problemPage))

// problemPages returns the pages of the problems by their paths, made from the register.
func problemPages() map[string][]byte {
	type view struct {
		Title    string
		Problems []*fault.Problem
		Causes   []fault.Cause
		One      bool
	}
	pages := map[string][]byte{}
	add := func(path string, v view) {
		var text bytes.Buffer
		check(problemTemplate.Execute(&text, v))
		pages[path] = text.Bytes()
	}
	add(web.ProblemPages, view{Title: "Problems of /v1", Problems: fault.Problems()})
	for _, p := range fault.Problems() {
		v := view{Title: p.Title, Problems: []*fault.Problem{p}, One: true}
		if p == fault.InvalidRequest {
			v.Causes = fault.Causes()
		}
		add(web.ProblemPages+p.Name, v)
	}
	return pages
}

// withProblems serves the pages of the problems. It passes other requests to another handler.
func withProblems(other http.Handler) http.Handler {
	pages := problemPages()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, there := pages[r.URL.Path]
		if !there {
			other.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", homePolicy)
		write(w, "text/html", text)
	})
}
