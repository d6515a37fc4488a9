package apidoc_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/apidoc"
)

// parameter is a parameter with its example, or a reference to one.
type parameter struct {
	Name, In string
	Required bool
	Example  any    // a text, or a list of texts
	Ref      string `json:"$ref"`
}

// exampleTarget is a path with the examples of its parameters.
func exampleTarget(path string, parameters []parameter) string {
	query := url.Values{}
	for _, p := range parameters {
		switch example := p.Example.(type) {
		case []any:
			for _, e := range example {
				query.Add(p.Name, e.(string))
			}
		case string:
			if p.In == "path" {
				path = strings.ReplaceAll(path, "{"+p.Name+"}", example)
			} else {
				query.Set(p.Name, example)
			}
		}
	}
	return path + "?" + query.Encode()
}

func TestExamplesWorkOnTheDayOnWhichTheyAreServed(t *testing.T) {
	hooks := exampleWebhooks(t)
	for _, now := range []time.Time{
		time.Date(2027, 7, 4, 23, 59, 0, 0, time.UTC), time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 31, 23, 0, 0, 0, time.FixedZone("", -5*3600)),
	} {
		s := newStack(t, hooks)
		s.now = now
		served := s.ask("GET", "/openapi.json", "", "").Body.Bytes()
		if text := string(served); strings.Contains(text, "2026-03-14") || strings.Contains(text, "14MAR") {
			t.Errorf("the document of %v speaks of another day", now)
		}
		var d document
		if err := json.Unmarshal(served, &d); err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"post", "patch", "get"} {
			for path, methods := range d.Paths {
				operation, ok := methods[method]
				if !ok || strings.Contains(path, "/{id}") && method != "patch" { // of what no example makes
					continue
				}
				target := exampleTarget(path, operation.Parameters)
				w := s.ask(strings.ToUpper(method), target, "demo", string(operation.RequestBody.Content["application/json"].Example))
				if strings.HasPrefix(path, "/v1/") {
					if w.Code/100 != 2 {
						t.Errorf("%v: %s %s: %d %s", now, method, target, w.Code, w.Body)
					}
					continue
				}
				if w.Code != 200 || !strings.HasPrefix(w.Body.String(), `{"success":true`) || !strings.Contains(w.Body.String(), "0724100001") && method == "get" {
					t.Errorf("%v: %s %s: %d %s", now, method, target, w.Code, w.Body)
				}
			}
		}
	}
}

func TestJSONStandsFirstAmongTheFormsOfAnAnswer(t *testing.T) {
	var d struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Content json.RawMessage }
		}
	}
	if err := json.Unmarshal(newStack(t).ask("GET", "/openapi.json", "", "").Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for _, operation := range methods {
			for status, response := range operation.Responses {
				if !strings.HasPrefix(string(response.Content), `{"application/json":`) && !strings.HasPrefix(path, "/v1/") {
					t.Errorf("%s %s: %.60s", path, status, response.Content)
				}
			}
		}
	}
}

// TestAnAnswerFitsOneSchemaOnly: a RelayedFailure also fits the schema Failure. If both were
// allowed, clients generated from the document would take it for two answers.
func TestAnAnswerFitsOneSchemaOnly(t *testing.T) {
	for path, methods := range read(t).Paths {
		for _, operation := range methods {
			for status, response := range operation.Responses {
				schema, _ := json.Marshal(response.Content["application/json"].Schema)
				if failures := regexp.MustCompile(`(Failure|RejectedMessage)"`).FindAll(schema, -1); len(failures) > 1 {
					t.Errorf("%s %s: %s", path, status, schema)
				}
			}
		}
	}
}

func TestTheRootLeadsToTheDocuments(t *testing.T) {
	s := newStack(t)
	w := s.ask("GET", "/", "", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none';") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	led := map[string]bool{}
	for _, link := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(w.Body.String(), -1) {
		led[link[1]] = true
		for _, method := range []string{"GET", "HEAD"} {
			if there := s.ask(method, link[1], "", ""); there.Code != 200 {
				t.Errorf("%s %s: %d", method, link[1], there.Code)
			}
		}
	}
	for _, page := range []string{"/docs", "/openapi.json", "/asyncapi.json", "/codes.json"} {
		if !led[page] {
			t.Errorf("the root does not lead to %s", page)
		}
	}
	if strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), "<style") || strings.Contains(w.Body.String(), "style=") {
		t.Errorf("the policy forbids what the page holds: %s", w.Body)
	}
}

func TestAReloadOfTheDocsIsNotModified(t *testing.T) {
	s := newStack(t)
	for _, file := range []string{"swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"} {
		etag := s.ask("GET", "/docs/"+file, "", "").Header().Get("Etag")
		if etag == "" {
			t.Errorf("%s has no Etag", file)
		}
		r := httptest.NewRequest("GET", "/docs/"+file, nil)
		r.Header.Set("If-None-Match", etag)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 304 || w.Body.Len() != 0 {
			t.Errorf("%s: %d, %d bytes", file, w.Code, w.Body.Len())
		}
	}
}

// keeper is an answer that is not copied, as to a caller who does not read it.
type keeper struct {
	*httptest.ResponseRecorder
	first *byte
}

func (k *keeper) Write(body []byte) (int, error) {
	k.first = &body[0]
	return len(body), nil
}

func TestAnswersOfADayShareTheOpenAPIDocument(t *testing.T) {
	now := time.Date(2027, 7, 4, 0, 0, 0, 0, time.UTC)
	for _, page := range apidoc.Pages("test", func() time.Time { return now }, apidoc.Home{}) {
		if page.Path != "/openapi.json" {
			continue
		}
		ask := func() *byte {
			answer := &keeper{ResponseRecorder: httptest.NewRecorder()}
			page.Handler.ServeHTTP(answer, httptest.NewRequest("GET", page.Path, nil))
			return answer.first
		}
		first := ask()
		now = now.Add(23 * time.Hour)
		if ask() != first {
			t.Error("two answers of a day hold two copies")
		}
		if now = now.Add(time.Hour); ask() == first {
			t.Error("the answer is of the day before")
		}
	}
}
