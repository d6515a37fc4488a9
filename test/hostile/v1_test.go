package hostile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/servers/inprocess"
	"bagtrail/test/service"
)

// This file asks the operations of /v1 for the cells of the matrix.

const forbidden = "not-authorised"

// isProblem returns what compares an answer with a problem.
func isProblem(name string) func(string) bool {
	return func(got string) bool { return strings.HasPrefix(got, `{"type":"/docs/problems/`+name+`",`) }
}

// bagV1 returns a bag as a key with every right is told of it.
func (m *matrix) bagV1(t *testing.T, s *service.Service, b *luggage) string {
	t.Helper()
	got := s.Get("/v1/bags/" + b.plate + "?fields=raw&date=" + b.day())
	for _, told := range bagsOf(decoded(got.Body)) {
		passenger, _ := told["passenger"].(map[string]any)
		if got.Status == http.StatusOK && (b.pnr == "" || passenger["pnr"] == b.pnr) {
			text, _ := json.Marshal(told) // what was read as JSON can be written
			return string(text)
		}
	}
	t.Fatalf("bag %s is not as the model has it: %d %s", b.plate, got.Status, got.Body)
	return ""
}

func bagsOf(answer any) (bags []map[string]any) {
	object, _ := answer.(map[string]any)
	list, _ := object["bags"].([]any)
	for _, b := range list {
		bags = append(bags, b.(map[string]any))
	}
	return bags
}

// bagsV1 asks for every plate, with and without a date.
func (m *matrix) bagsV1(k scope) {
	asked := map[string][]*luggage{"0724999999": nil}
	for _, b := range m.world {
		asked[b.plate] = ofPlate(m.world, b.plate)
	}
	for plate, there := range asked {
		for _, query := range []string{"?fields=raw", "?fields=raw&date=" + day(1).iso()} {
			wanted := sifted(there, func(b *luggage) bool { return !strings.Contains(query, "date") || b.day() == day(1).iso() })
			m.add(m.cellV1(k, cell{target: "/v1/bags/" + plate + query}, wanted))
		}
	}
}

// searchV1 asks for every PNR, and for all plates at once.
func (m *matrix) searchV1(k scope) {
	search := func(k scope, body string, there []*luggage) {
		m.add(m.cellV1(k, cell{method: http.MethodPost, target: "/v1/bags/search", body: body}, there))
	}
	var plates []string
	for _, b := range m.world {
		plates = append(plates, service.Quoted(b.plate))
		if b.pnr != "" {
			there := sifted(m.world, func(other *luggage) bool { return other.pnr == b.pnr && len(other.living) > 0 })
			slices.SortFunc(there, func(a, b *luggage) int { return strings.Compare(a.plate, b.plate) })
			search(k, `{"pnr":`+service.Quoted(b.pnr)+`,"date":"`+day(1).iso()+`","fields":"raw"}`, there)
			m.add(m.cellV1(k, cell{target: "/v1/bags?fields=raw&date=" + day(1).iso() + "&pnr=" + b.pnr}, there))
		}
	}
	guesser := k
	guesser.conceal = true // who guesses is not told whether the guess is right
	for _, b := range m.world[6:10] {
		at := b.living[0].to
		for member, same := range map[string]func(other *luggage) bool{
			`"last_name":` + service.Quoted(b.surname):   func(other *luggage) bool { return other.surname == b.surname && b.surname != "" },
			`"plate_end":` + service.Quoted(b.plate[4:]): func(other *luggage) bool { return other.plate[4:] == b.plate[4:] },
		} {
			there := sifted(m.world, func(other *luggage) bool {
				return !other.today && same(other) && slices.ContainsFunc(other.living, func(f flight) bool { return f.from == at || f.to == at })
			})
			slices.SortFunc(there, func(a, b *luggage) int { return strings.Compare(a.plate, b.plate) })
			if len(there) > 0 {
				search(guesser, `{`+member+`,"airport":"`+at+`","date":"`+day(1).iso()+`","fields":"raw"}`, there)
			}
		}
	}
	everything := slices.Clone(m.world)
	slices.SortStableFunc(everything, func(a, b *luggage) int { return strings.Compare(a.plate, b.plate) })
	search(k, `{"plate":[`+strings.Join(plates, ",")+`],"fields":"raw"}`, everything)
}

// cellV1 is the cell of a question that these bags match.
func (m *matrix) cellV1(k scope, c cell, there []*luggage) cell {
	c.key, c.status, c.same = k, http.StatusForbidden, isProblem(forbidden)
	seen := sifted(there, k.bag)
	switch {
	case !covers(k.operations, "bags") || !k.customer || len(there) > 0 && len(seen) == 0 && !k.conceal:
		return c
	case len(seen) == 0:
		c.status, c.same, c.want = http.StatusOK, nil, `{"bags":[]}`
		return c
	}
	c.status, c.tells = http.StatusOK, true
	c.same = func(got string) bool {
		told := bagsOf(decoded(got))
		if len(told) != len(seen) {
			return false
		}
		for i, b := range seen {
			if !reflect.DeepEqual(any(told[i]), m.shownV1(k, b)) {
				return false
			}
		}
		return true
	}
	return c
}

// shownV1 is what a key sees of a bag in its scope: all of it, but for the texts of messages of
// which not all is in scope, and for what leads to bags that it does not see.
func (m *matrix) shownV1(k scope, b *luggage) any {
	shown := decoded(m.v1[b]).(map[string]any)
	k.hide(b, shown)
	var chain []any
	at := b
	for ; at.original != nil && k.bag(at.original); at = at.original {
		chain = append(chain, at.original.plate)
	}
	if at == b && b.original != nil && b.named {
		chain = append(chain, b.original.plate)
	}
	if len(chain) == 0 {
		delete(shown, "originals")
	}
	slices.Reverse(chain)
	chain = append(chain, b.plate)
	delete(shown, "rush_plate")
	for rush := b.reflight; rush != nil && k.bag(rush); rush = rush.reflight {
		chain = append(chain, rush.plate)
		shown["rush_plate"] = rush.plate
	}
	delete(shown, "chain")
	if len(chain) > 1 {
		shown["chain"] = chain
	}
	m.hideCauses(k, b, shown)
	return shown
}

// hideCauses removes what set the statuses of a bag from what is shown of it, if the key does not see
// the rush bag that did. Then the bag was changed when the newest of its own events was received.
func (m *matrix) hideCauses(k scope, b *luggage, shown map[string]any) {
	if b.reflight != nil && !k.bag(b.reflight) {
		newest := ""
		for _, e := range decoded(m.v1[b]).(map[string]any)["events"].([]any) {
			newest = max(newest, e.(map[string]any)["received"].(string))
		}
		shown["changed"] = newest
		for _, l := range shown["legs"].([]any) {
			leg := l.(map[string]any)
			delete(leg, "status_since")
			delete(leg, "status_event")
		}
	}
}

// shownOnFlight reports whether a key is shown of a flight what everybody sees who may ask, but for
// what rush bags did that it does not see.
func (m *matrix) shownOnFlight(k scope, every, got string) bool {
	want := decoded(every)
	for _, shown := range bagsOf(want) {
		passenger, _ := shown["passenger"].(map[string]any)
		pnr, _ := passenger["pnr"].(string)
		for _, b := range m.world {
			if b.plate == shown["plate"] && b.pnr == pnr {
				m.hideCauses(k, b, shown)
			}
		}
	}
	return reflect.DeepEqual(decoded(got), want)
}

// flightsV1 asks for every flight at both its ends. Who may ask sees what everybody sees who may.
func (m *matrix) flightsV1(t *testing.T, s *service.Service, keys []scope) {
	asked := map[string]flight{}
	for _, b := range m.world {
		for _, f := range slices.Concat(b.living, b.gone) {
			asked["/v1/flights/"+f.to+"/A/"+f.airline+"/"+f.number+"/"+day(1).iso()] = flight{airline: f.airline, number: f.number, to: f.to}
			if f.from != "" {
				asked["/v1/flights/"+f.from+"/D/"+f.airline+"/"+f.number+"/"+day(1).iso()] = flight{airline: f.airline, number: f.number, from: f.from}
			}
		}
	}
	for target, f := range asked {
		every := s.Get(target)
		var listed []string
		for _, b := range m.world {
			for _, leg := range b.living {
				if leg.airline == f.airline && leg.number == f.number {
					listed = append(listed, b.plate)
				}
			}
		}
		var told []string
		for _, b := range bagsOf(decoded(every.Body)) {
			told = append(told, b["plate"].(string))
		}
		if slices.Sort(listed); every.Status != http.StatusOK || !slices.Equal(told, listed) {
			t.Fatalf("%s: %d %s, want %q", target, every.Status, every.Body, listed)
		}
		for _, k := range keys {
			c := cell{key: k, target: target, status: http.StatusForbidden, same: isProblem(forbidden)}
			if covers(k.operations, "flights") && k.customer && covers(k.airlines, f.airline) && covers(k.airports, f.from+f.to) {
				c.status, c.want, c.tells = http.StatusOK, every.Body, true
				c.same = func(got string) bool { return m.shownOnFlight(k, every.Body, got) }
			}
			m.add(c)
		}
	}
}

// airportsV1 asks for the flights of every airport. A key sees the flights of its airlines as everybody
// sees them.
func (m *matrix) airportsV1(t *testing.T, s *service.Service, keys []scope) {
	for _, airport := range []string{"ZRH", "JFK", "LHR", "FRA", "KEF"} {
		for _, direction := range []string{"D", "A"} {
			target := "/v1/flights?limit=1000&airport=" + airport + "&direction=" + direction + "&date=" + day(1).iso()
			every, _ := decoded(s.Get(target).Body).(map[string]any)["flights"].([]any)
			if want := m.flightsAt(airport, direction == "A"); !slices.Equal(namesOf(every), want) {
				t.Fatalf("%s: %v, want %q", target, every, want)
			}
			for _, k := range keys {
				c := cell{key: k, target: target, status: http.StatusForbidden, same: isProblem(forbidden)}
				if covers(k.operations, "flights") && k.customer && covers(k.airports, airport) {
					seen := slices.DeleteFunc(slices.Clone(every), func(f any) bool { return !covers(k.airlines, f.(map[string]any)["airline"].(string)) })
					c.status, c.tells = http.StatusOK, len(seen) > 0
					c.same = func(got string) bool {
						told, _ := decoded(got).(map[string]any)["flights"].([]any)
						return len(told) == len(seen) && (len(seen) == 0 || reflect.DeepEqual(told, seen))
					}
				}
				m.add(c)
			}
		}
	}
}

// flightsAt returns the flights with living legs that depart from an airport tomorrow, or arrive
// there, in the order of their names.
func (m *matrix) flightsAt(airport string, arriving bool) (names []string) {
	for _, b := range m.world {
		for _, f := range b.living {
			if end := map[bool]string{false: f.from, true: f.to}[arriving]; end == airport && !b.today {
				names = append(names, f.airline+f.number)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func namesOf(flights []any) (names []string) {
	for _, f := range flights {
		flight := f.(map[string]any)
		names = append(names, fmt.Sprint(flight["airline"], flight["flight"]))
	}
	slices.Sort(names)
	return names
}

// messagesV1 sends messages of two airlines at once, and has them validated: each has a verdict of
// its own. What the key may not send leaves no trace, and nor does what is validated.
func (m *matrix) messagesV1(k scope) {
	for _, target := range []string{"/v1/messages/validate", "/v1/messages"} {
		c := cell{key: k, method: http.MethodPost, target: target, status: http.StatusForbidden, same: isProblem(forbidden)}
		var list []string
		var want []any
		for i, line := range []string{"LX", "BA"} {
			plate := fmt.Sprintf("4%08d%d", len(m.cells), i)
			text := "BSM .V/1LZRH .F/" + line + "9100/" + day(20).bim() + "/JFK .N/" + plate + "001 .P/ONE ENDBSM"
			list = append(list, `{"text":`+service.Quoted(strings.ReplaceAll(text, " ", "\r\n"))+`}`)
			verdict := map[string]any{"verdict": "unauthorised", "diagnostics": []any{}}
			if covers(k.airports, "ZRH") && covers(k.airlines, line) {
				verdict["verdict"], verdict["events"] = "accepted", []any{map[string]any{"plate": plate, "code": "EXPECTED"}}
				if i == 0 {
					c.after, c.tells = plate, target == "/v1/messages"
				}
			} else if i == 0 {
				c.after = plate
			}
			want = append(want, verdict)
		}
		c.body = `{"messages":[` + strings.Join(list, ",") + `]}`
		if c.tells = c.tells && covers(k.operations, "messages"); covers(k.operations, "messages") {
			c.status, c.same = http.StatusOK, func(got string) bool {
				answer, _ := decoded(got).(map[string]any)
				return reflect.DeepEqual(answer["results"], any(want))
			}
		}
		m.add(c)
	}
}

// feedsV1 asks for the feeds: a key sees those of its airports. Their counts may change meanwhile.
func (m *matrix) feedsV1(k scope) {
	c := cell{key: k, target: "/v1/feeds", status: http.StatusForbidden, same: isProblem(forbidden)}
	if covers(k.operations, "feeds") {
		c.status, c.tells = http.StatusOK, true
		c.same = func(got string) bool {
			answer, _ := decoded(got).(map[string]any)
			list, isList := answer["feeds"].([]any)
			told := map[any]bool{}
			for _, f := range list {
				told[f.(map[string]any)["airport"]] = true
			}
			for _, airport := range []string{"ZRH", "LHR", "JFK", "KEF"} { // that send messages
				if told[airport] != covers(k.airports, airport) {
					return false
				}
			}
			return isList && told[nil] == everything(k.airports) // of a reject
		}
	}
	m.add(c)
}

// airportV1 asks for an airport, which is the same for every key with the right.
func (m *matrix) airportV1(k scope) {
	c := cell{key: k, target: "/v1/airports/ZRH", status: http.StatusForbidden, same: isProblem(forbidden)}
	if covers(k.operations, "flights") {
		c.status, c.same = http.StatusOK, func(got string) bool { return strings.Contains(got, `"Europe/Zurich"`) }
	}
	m.add(c)
}

const (
	sessionTarget = "/v1/session"
	secret        = "BAGTRAIL_SECRET=0123456789abcdef0123456789abcdef"
)

// sessionV1 begins a session, and asks what it may do: what its key may.
func (m *matrix) sessionV1(t *testing.T, s *service.Service, k scope) {
	got := s.Do(http.MethodPost, sessionTarget, nil, "api_key", "key-of-"+k.name)
	cookie := cookieOf(got)
	if got.Status != http.StatusOK || cookie == "" {
		t.Fatalf("a session of %+v: %d %s", k, got.Status, got.Body)
	}
	m.cookies[k.name] = cookie
	list := func(codes []string) any {
		told := []any{}
		if everything(codes) {
			codes = []string{"*"}
		}
		for _, code := range codes {
			told = append(told, code)
		}
		return told
	}
	m.add(cell{key: k, target: sessionTarget, cookie: cookie, status: http.StatusOK, same: func(got string) bool {
		told, _ := decoded(got).(map[string]any)
		delete(told, "ends")
		return reflect.DeepEqual(told, map[string]any{
			"name": k.name, "airlines": list(k.airlines), "airports": list(k.airports), "operations": list(k.operations),
		})
	}})
	m.add(cell{key: k, target: "/v1/status", status: http.StatusOK, same: func(got string) bool {
		return strings.HasSuffix(got, `"parts":{"kafka":"off","redis":"ok","consumer":"off","changes":"off","delayed_bags":"ok"}}`)
	}})
	m.add(cell{key: k, method: http.MethodDelete, target: sessionTarget, status: http.StatusNotFound, same: isProblem("not-found")})
}

// A session ends when its key is revoked; it does not outlive a Redis that forgets which sessions
// were ended.
func TestASessionEndsWithItsKeyInARunningService(t *testing.T) {
	t.Parallel()
	path := service.WriteFile(t, "keys.yaml", "keys:\n"+service.KeyEntry("one", "key-of-one", ""))
	s := service.Start(t, noKafka, secret, "BAGTRAIL_KEYS_FILE="+path)
	got := s.Do(http.MethodPost, sessionTarget, nil, "api_key", "key-of-one")
	cookie := cookieOf(got)
	ask := func() int { return s.Get("/v1/airports/ZRH", "api_key", "", "Cookie", cookie).Status }
	if status := ask(); status != http.StatusOK {
		t.Fatalf("%d %s, then %d", got.Status, got.Body, status)
	}
	if code := s.Stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	s.Up()
	if status := ask(); status != http.StatusUnauthorized {
		t.Errorf("after a restart with the in-process Redis: %d", status)
	}
	cookie = cookieOf(s.Do(http.MethodPost, sessionTarget, nil, "api_key", "key-of-one"))
	if status := ask(); status != http.StatusOK {
		t.Fatal(status)
	}
	if err := os.Rename(service.WriteFile(t, "revoked.yaml", "keys:\n"+service.KeyEntry("one", "key-of-one", ", revoked: true")), path); err != nil {
		t.Fatal(err)
	}
	if !s.Until(patience, func() bool { return ask() == http.StatusUnauthorized }) {
		t.Errorf("after its key was revoked: %d", ask())
	}
}

func TestASessionIsEndedInEveryProcess(t *testing.T) {
	t.Parallel()
	redis, err := inprocess.StartRedis("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	here, there := service.Start(t, noKafka, secret, "BAGTRAIL_REDIS_URL=redis://"+redis.Addr()), service.Start(t, noKafka, secret, "BAGTRAIL_REDIS_URL=redis://"+redis.Addr())
	cookie := cookieOf(here.Do(http.MethodPost, sessionTarget, nil))
	for _, step := range []struct {
		by     *service.Service
		method string
		want   int
	}{{there, http.MethodGet, http.StatusOK}, {here, http.MethodDelete, http.StatusNoContent}, {there, http.MethodGet, http.StatusUnauthorized}} {
		if got := step.by.Do(step.method, sessionTarget, nil, "api_key", "", "Cookie", cookie); got.Status != step.want {
			t.Errorf("%s: %d %s", step.method, got.Status, got.Body)
		}
	}
}

// rejected is what was rejected before the cells are asked for.
type rejected struct {
	ids   map[string]string // by airport, "" for none that is known
	jobs  map[string]string // ids of jobs by the name of the key
	until string            // after their times of receipt
	later map[string]string // ids of others of ZRH, received after until, by the name of the key that dismisses them
}

// rejectedWorld has messages of some airports rejected.
func rejectedWorld(t *testing.T, s *service.Service) rejected {
	t.Helper()
	ids := map[string]string{}
	for airport, sent := range map[string]string{"ZRH": "ZRH", "LHR": "LHR", "JFK": "JFK", "": "QQQ"} {
		text := "BSM\r\n.V/1L" + sent + "\r\n.N/0724000019001\r\n.P/REJECTED" + sent + "\r\nENDBSM\r\n"
		s.Do(http.MethodPost, "/v1/messages", strings.NewReader(`{"messages":[{"text":`+service.Quoted(text)+`}]}`), "Content-Type", jsonType)
		var listed struct {
			Rejects []struct{ ID, Airport string }
		}
		got := s.Get("/v1/rejects?q=REJECTED" + sent)
		if err := json.Unmarshal([]byte(got.Body), &listed); err != nil || len(listed.Rejects) != 1 || listed.Rejects[0].Airport != airport {
			t.Fatalf("%s: %d %s", sent, got.Status, got.Body)
		}
		ids[airport] = listed.Rejects[0].ID
	}
	return rejected{ids, map[string]string{}, time.Now().Add(time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z"), map[string]string{}}
}

// rejectLater has a message rejected for each key: a reject can be dismissed only once.
func rejectLater(t *testing.T, s *service.Service, keys []scope, there rejected) {
	t.Helper()
	var list []string
	for _, k := range keys {
		list = append(list, `{"text":`+service.Quoted("BSM\r\n.V/1LZRH\r\n.P/LATER"+k.name+"\r\nENDBSM")+`}`)
	}
	s.Do(http.MethodPost, "/v1/messages", strings.NewReader(`{"messages":[`+strings.Join(list, ",")+`]}`), "Content-Type", jsonType)
	var listed struct{ Rejects []struct{ ID string } }
	got := s.Get("/v1/rejects?limit=1000&q=LATER")
	if err := json.Unmarshal([]byte(got.Body), &listed); err != nil || len(listed.Rejects) != len(keys) {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	for i, k := range keys {
		there.later[k.name] = listed.Rejects[i].ID
	}
}

// rejectsV1 asks for rejects, and tries to decide on them. A key sees those of its airports, and
// those without one if it covers all airports: here no key has posted any.
func (m *matrix) rejectsV1(k scope, there rejected) {
	right := covers(k.operations, "rejects")
	var seen, airports []string
	for airport, id := range there.ids {
		sees := right && (airport == "" && everything(k.airports) || airport != "" && covers(k.airports, airport))
		refusal := cell{key: k, status: http.StatusNotFound, same: isProblem("not-found")}
		if !right {
			refusal = cell{key: k, status: http.StatusForbidden, same: isProblem(forbidden)}
		}
		one, again, dismissed := refusal, refusal, refusal
		one.target, again.target, dismissed.target = "/v1/rejects/"+id, "/v1/rejects/"+id+"/resubmit", "/v1/rejects/"+id+"/dismiss"
		again.method, again.body = http.MethodPost, "{}"
		dismissed.method, dismissed.body = http.MethodPost, `{"reason":"x"}`
		if !sees {
			m.add(one)
			m.add(again)
			m.add(dismissed)
			continue
		}
		seen, airports = append(seen, id), append(airports, airport)
		one.tells, one.status, one.same = true, http.StatusOK, func(got string) bool { return strings.HasPrefix(got, `{"id":"`+id+`","state":"open"`) }
		again.tells, again.status, again.same = true, http.StatusOK, func(got string) bool { return strings.HasPrefix(got, `{"verdict":"rejected"`) }
		m.add(one)
		m.add(again)
		if airport == "ZRH" {
			dismissed.target, dismissed.once = "/v1/rejects/"+there.later[k.name]+"/dismiss", true
			dismissed.tells, dismissed.status, dismissed.same = true, http.StatusOK, func(got string) bool {
				return strings.HasPrefix(got, `{"reject":{"id":"`+there.later[k.name]+`","state":"dismissed"`)
			}
			m.add(dismissed)
		}
	}
	m.jobsV1(k, there, len(seen))
	list, summary := cell{key: k, target: "/v1/rejects?until=" + there.until, status: http.StatusForbidden, same: isProblem(forbidden)}, cell{key: k, target: "/v1/rejects/summary", status: http.StatusForbidden, same: isProblem(forbidden)}
	if right {
		list.status, list.tells, list.same = http.StatusOK, true, func(got string) bool {
			var listed struct{ Rejects []struct{ ID string } }
			found := []string{}
			if json.Unmarshal([]byte(got), &listed) != nil {
				return false
			}
			for _, r := range listed.Rejects {
				found = append(found, r.ID)
			}
			return slices.Equal(slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(seen)))
		}
		summary.status, summary.tells, summary.same = http.StatusOK, true, func(got string) bool {
			var sum struct{ Airports []struct{ Airport string } }
			err := json.Unmarshal([]byte(got), &sum)
			var found []string
			for _, a := range sum.Airports {
				found = append(found, a.Airport)
			}
			return err == nil && slices.Equal(slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(airports)))
		}
	}
	m.add(list)
	m.add(summary)
}

// jobsV1 begins jobs over rejects. A job looks at all ids, and judges those that the key sees.
func (m *matrix) jobsV1(k scope, there rejected, seen int) {
	ids := slices.Sorted(maps.Values(there.ids))
	body := `{"ids":["` + strings.Join(ids, `","`) + `"],"dry_run":true`
	begin := cell{key: k, method: http.MethodPost, target: "/v1/rejects/resubmit", body: body + "}", status: http.StatusForbidden, same: isProblem(forbidden)}
	outside := cell{key: k, method: http.MethodPost, target: "/v1/rejects/dismiss", body: `{"airport":"CDG","reason":"x","dry_run":true}`, status: http.StatusForbidden, same: isProblem(forbidden)}
	job := cell{key: k, target: "/v1/rejects/jobs/" + there.jobs[k.name], status: http.StatusForbidden, same: isProblem(forbidden)}
	other := cell{key: k, target: "/v1/rejects/jobs/" + there.jobs[service.DevelopmentKey], status: http.StatusForbidden, same: isProblem(forbidden)}
	if covers(k.operations, "rejects") {
		begin.status, begin.same = http.StatusAccepted, func(got string) bool {
			return strings.Contains(got, `"state":"running","dry_run":true,"key":"`+k.name+`"`)
		}
		job.status, job.tells, job.same = http.StatusOK, true, func(got string) bool {
			counts := fmt.Sprintf(`"total":4,"looked_at":4,"accepted":0,"rejected":%d,"unauthorised":0,"dismissed":0,"skipped":%d}`, seen, 4-seen)
			return strings.Contains(got, `"state":"done"`) && strings.HasSuffix(got, counts)
		}
		other.status, other.same = http.StatusNotFound, isProblem("not-found")
		if covers(k.airports, "CDG") {
			outside.status, outside.same = http.StatusAccepted, func(got string) bool { return strings.Contains(got, `"total":0,`) }
		}
	}
	m.add(begin)
	m.add(outside)
	m.add(job)
	m.add(other)
}

// beginJobs begins a job of each key that may, and waits for its end.
func beginJobs(t *testing.T, s *service.Service, keys []scope, there rejected) {
	t.Helper()
	body := `{"ids":["` + strings.Join(slices.Sorted(maps.Values(there.ids)), `","`) + `"],"dry_run":true}`
	for _, k := range append(keys, scope{name: service.DevelopmentKey}) {
		key := "key-of-" + k.name
		if k.name == service.DevelopmentKey {
			key = k.name
		}
		var job struct{ ID, State string }
		got := s.Do(http.MethodPost, "/v1/rejects/resubmit", strings.NewReader(body), "api_key", key, "Content-Type", jsonType)
		if got.Status == http.StatusForbidden {
			there.jobs[k.name] = "none"
			continue
		}
		if err := json.Unmarshal([]byte(got.Body), &job); err != nil || got.Status != http.StatusAccepted {
			t.Fatalf("a job of %+v: %d %s", k, got.Status, got.Body)
		}
		there.jobs[k.name] = job.ID
		if !s.Until(patience, func() bool {
			return strings.Contains(s.Get("/v1/rejects/jobs/"+job.ID, "api_key", key).Body, `"state":"done"`)
		}) {
			t.Fatalf("the job of %+v does not end", k)
		}
	}
}
