package queryapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/test/race"
)

func TestSearchesByNameAndEndOfPlate(t *testing.T) {
	hit := newBag(t, "0724100001", "ABC123", "MUELLER", "LX", "100", "ZRH", "JFK")
	hit.Legs = append(hit.Legs, bag.Leg{Flight: bag.Flight{Airline: "LX", Number: "101", Day: date(t, "2026-03-14")}, From: "ZRH", To: "FRA"}) // not living
	twin := &answers{plate: []*bag.Bag{hit}, flights: []bag.Flight{{Airline: "LX", Number: "100", Day: date(t, "2026-03-14")}}}
	s := site(twin)
	for _, tc := range []struct {
		query string
		found bool
	}{
		{"last_name=M%C3%BCeller&airport=ZRH&date=2026-03-14", false},
		{"last_name=mu-eller&airport=ZRH&date=2026-03-14", true},
		{"last_name=MUELLER&airport=JFK&date=2026-03-14", true},
		{"last_name=MUELLER&airport=LHR&date=2026-03-14", false},
		{"last_name=MUELLER&airport=ZRH&date=2026-03-15", false},
		{"last_name=MUELLER&airline=LX&flight=0100&date=2026-03-14", true},
		{"last_name=MUELLER&airline=SWR&flight=100&date=2026-03-14", true},
		{"last_name=MUELLER&airline=LX&flight=101&date=2026-03-14", false},
		{"plate_end=100001&airport=ZRH&date=2026-03-14", true},
		{"plate_end=100001&airport=FRA&date=2026-03-14", false},
	} {
		pairs, _ := url.ParseQuery(tc.query)
		var members []string
		for name, values := range pairs {
			members = append(members, fmt.Sprintf("%q:%q", name, values[0]))
		}
		body := "{" + strings.Join(members, ",") + "}"
		for _, w := range []string{askV1(s, "demo", "/v1/bags?"+tc.query, "").Body.String(), askV1(s, "demo", "/v1/bags/search", body).Body.String()} {
			if found := strings.HasPrefix(w, `{"bags":[{"plate":"0724100001",`); found != tc.found || !found && w != `{"bags":[]}` {
				t.Errorf("%s: %s", tc.query, w)
			}
		}
	}
	for key, want := range map[string]string{
		"lx": `200 {"bags":[{"plate":"0724100001",`, "lx-at-jfk": `200 {"bags":[{"plate":"0724100001",`,
		"ba": `200 {"bags":[]}`, "lhr": `200 {"bags":[]}`, // as for a surname that is not there
		"no-customer": "403 ", "history-only": "403 ", "nobody": "401 ",
	} {
		for _, query := range []string{
			"last_name=MUELLER&airport=ZRH&date=2026-03-14", "last_name=MUELLER&airline=LX&flight=100&date=2026-03-14",
			"plate_end=100001&airport=ZRH&date=2026-03-14",
		} {
			w := askV1(s, key, "/v1/bags?"+query, "")
			got := strings.ReplaceAll(fmt.Sprint(w.Code, " ", w.Body), w.Header().Get("X-Request-Id"), "") // which is random
			if !strings.HasPrefix(got, want) || !strings.HasPrefix(want, "200 ") && strings.Contains(got, "0724") {
				t.Errorf("%s: %s", key, got)
			}
		}
	}
	if got := faultsV1(t, askV1(s, "demo", "/v1/bags?last_name=M%FFLLER&airport=ZRH&date=2026-03-14", "")); got != "last_name malformed" {
		t.Errorf("a surname that is not UTF-8: %s", got)
	}
}

// Whatever a key posts, a search finds only bags that the key sees by their plates, with the facts
// that it sees there. A key that sees everything finds each bag by the names of its messages.
func TestSearchesTellAKeyNothingThatPlatesDoNotTell(t *testing.T) {
	worlds := race.Less(40, 8)
	compared, complete := 0, 0
	for seed := range uint64(worlds) {
		m := &worldMaker{Rand: rand.New(rand.NewPCG(seed, 19))}
		key, o, free := twoOffices(t, m)
		told, _ := o.factsV1(t)
		for fact := range o.foundBySearch(t) {
			if compared++; !told[fact] {
				t.Fatalf("world %d, key %v %v: a search tells %s", seed, key.Airlines, key.Airports, fact)
			}
		}
		found := free.foundBySearch(t)
		for _, plate := range worldPlates {
			for _, b := range bagsIn(free.get("/v1/bags/" + plate)) {
				legs, _ := b["legs"].([]any)
				passenger, _ := b["passenger"].(map[string]any)
				if name, there := passenger["last_name"]; there && len(legs) > 0 && legs[0].(map[string]any)["living"] == true {
					complete++
					if !found[fmt.Sprint(plate, " passenger_last_name ", name)] {
						t.Fatalf("world %d: %s is not found by %v", seed, plate, name)
					}
				}
			}
		}
	}
	if compared < worlds || complete < worlds {
		t.Errorf("only %d facts and %d names compared", compared, complete)
	}
}

// foundBySearch returns the facts of all bags that searches by name and by the end of a plate find,
// at every airport and day, as factsV1 does.
func (o *office) foundBySearch(t *testing.T) map[string]bool {
	t.Helper()
	told := map[string]bool{}
	var searches []string
	for _, name := range worldNames {
		searches = append(searches, "last_name="+name)
	}
	for _, plate := range worldPlates {
		searches = append(searches, "plate_end="+plate[4:])
	}
	for d := range worldDays {
		day := worldBegins.AddDate(0, 0, d).Format(time.DateOnly)
		for _, airport := range worldPorts {
			for _, search := range searches {
				for _, b := range bagsIn(o.get("/v1/bags?" + search + "&airport=" + airport + "&date=" + day + "&fields=raw")) {
					o.tellBagV1(t, told, b)
				}
			}
		}
	}
	return told
}

func bagsIn(answer map[string]any) (bags []map[string]any) {
	list, _ := answer["bags"].([]any)
	for _, b := range list {
		bags = append(bags, b.(map[string]any))
	}
	return bags
}
