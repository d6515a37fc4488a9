package hostile_test

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// A key is told each plate of which it sees a bag, with these bags as it sees them, and nothing of
// other plates.
func TestEveryKeyIsToldTheChangesInItsScopeAndNothingElse(t *testing.T) {
	keys := scopes()
	s := service.Start(t, "BAGTRAIL_LOG_LEVEL=warn", "BAGTRAIL_KEYS_FILE="+keyFile(t, keys))
	sendWorld(t, s)
	m := newMatrix()
	for _, b := range m.world {
		m.v1[b] = m.bagV1(t, s, b)
	}
	since := "since=" + url.QueryEscape(time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)) + "&limit=1000"
	plates := map[string]bool{}
	filter := since
	for _, b := range m.world {
		if !plates[b.plate] {
			filter += "&plate=" + b.plate
		}
		plates[b.plate] = true
	}
	if !s.Until(patience, func() bool { return len(told(s.Get("/v1/changes?"+filter))) == len(plates) }) {
		t.Fatalf("changes are not told: %s", s.Get("/v1/changes?"+filter).Body)
	}
	for _, k := range keys {
		want := map[string][]any{}
		for _, b := range m.world {
			if k.bag(b) {
				want[b.plate] = append(want[b.plate], withoutTexts(m.shownV1(k, b)))
			}
		}
		for _, query := range []string{since, filter + "&airline=BA"} {
			got, err := s.TryDo(http.MethodGet, "/v1/changes?"+query, strings.NewReader(""), "api_key", "key-of-"+k.name)
			switch {
			case err != nil:
				t.Fatal(err)
			case !covers(k.operations, "changes") || !k.customer:
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
