package hostile_test

import (
	"bufio"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bagtrail/test/service"
)

// A key is told each plate of which it sees a bag, with these bags as it sees them, and nothing of
// other plates, by streams too.
func TestEveryKeyIsToldTheChangesInItsScopeAndNothingElse(t *testing.T) {
	keys := scopes()
	s := service.Start(t, "BAGTRAIL_LOG_LEVEL=warn", "BAGTRAIL_KEYS_FILE="+keyFile(t, keys))
	sendWorld(t, s)
	m := newMatrix()
	for _, b := range m.world {
		m.v1[b] = m.bagV1(t, s, b)
	}
	begin := "since=" + url.QueryEscape(time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
	since := begin + "&limit=1000"
	plates, filter := platesOf(m.world), since
	for plate := range plates {
		filter += "&plate=" + plate
	}
	if !s.Until(patience, func() bool { return len(told(s.Get("/v1/changes?"+filter))) == len(plates) }) {
		t.Fatalf("changes are not told: %s", s.Get("/v1/changes?"+filter).Body)
	}
	streams := stream(t, s, keys, begin)
	for i, k := range keys {
		want := map[string][]any{}
		for _, b := range m.world {
			if k.bag(b) {
				want[b.plate] = append(want[b.plate], withoutTexts(m.shownV1(k, b)))
			}
		}
		for _, query := range []string{since, filter + "&airline=BA", "a stream"} {
			got := streams[i]
			if query != "a stream" {
				got = s.Get("/v1/changes?"+query, "api_key", "key-of-"+k.name)
			}
			if !covers(k.operations, "changes") || !k.customer {
				if got.Status != http.StatusForbidden || !isProblem(forbidden)(got.Body) {
					t.Errorf("key %+v: %s: %d %s", k, query, got.Status, got.Body)
				}
				continue
			}
			_, airline, filtered := strings.Cut(query, "airline=")
			answer := told(got)
			for plate := range plates {
				switch bags := answer[plate]; {
				case filtered && !m.sees(k, plate, airline) && bags == nil:
				case filtered && !m.sees(k, plate, airline), !reflect.DeepEqual(bags, want[plate]):
					t.Errorf("key %+v: %s tells of %s\n%v, want\n%v", k, query, plate, bags, want[plate])
				}
			}
		}
	}
}

// stream opens a stream for each key, and returns what it tells until its second heartbeat, in the
// form of the other answers. By then a stream has told what the index held when it was opened.
func stream(t *testing.T, s *service.Service, keys []scope, query string) []service.Answer {
	t.Helper()
	told := make([]service.Answer, len(keys))
	var group sync.WaitGroup
	for i, k := range keys {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/changes?"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Api-Key": {"key-of-" + k.name}, "Accept": {"text/event-stream"}}
		group.Go(func() {
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = answer.Body.Close() }()
			var list []string
			lines := bufio.NewScanner(answer.Body)
			lines.Buffer(nil, 1<<20)
			for beats := 0; beats < 2 && lines.Scan(); {
				switch field, value, _ := strings.Cut(lines.Text(), ": "); {
				case value == "heartbeat":
					beats++
				case field == "data" && strings.HasPrefix(value, `{"id":`): // a change
					list = append(list, value)
				case answer.StatusCode != http.StatusOK:
					told[i].Body += lines.Text()
				}
			}
			if told[i].Status = answer.StatusCode; told[i].Status == http.StatusOK {
				told[i].Body = `{"changes":[` + strings.Join(list, ",") + `]}`
			}
		})
	}
	group.Wait()
	return told
}

// sees reports whether the key sees a bag of a plate with a flight of an airline.
func (m *matrix) sees(k scope, plate, airline string) bool {
	return slices.ContainsFunc(ofPlate(m.world, plate), func(b *luggage) bool {
		return k.bag(b) && slices.ContainsFunc(slices.Concat(b.living, b.gone), func(f flight) bool { return f.airline == airline })
	})
}

// told returns the bags of each plate of an answer about changes.
func told(got service.Answer) map[string][]any {
	answer, _ := decoded(got.Body).(map[string]any)
	list, _ := answer["changes"].([]any)
	all := map[string][]any{}
	for _, c := range list {
		change := c.(map[string]any)
		all[change["plate"].(string)] = change["bags"].([]any)
	}
	return all
}

// withoutTexts returns a bag without the texts of its messages.
func withoutTexts(bag any) any {
	for _, e := range bag.(map[string]any)["events"].([]any) {
		delete(e.(map[string]any), "raw_bim_msg")
	}
	return bag
}
