package queryapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/flightref"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/internal/web"
	"bagtrail/parser"
	"bagtrail/queryapi"
	"bagtrail/test/race"
)

// The worlds of this file are small, so that bags often share flights and names. Flights of posts
// have numbers from 9000 on, so that facts from posts are recognised.
var (
	worldLines    = []string{"LX", "BA", "AA"}
	worldPorts    = []string{"ZRH", "LHR", "JFK", "FRA"}
	worldNames    = []string{"MUELLER", "MEIER", "HUBER", "KELLER"}
	worldPlates   = []string{"0724000001", "0125000002", "2001000003"}
	worldBegins   = time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
	worldDays     = 7
	worldMessages = 7
)

// worldMessage is a message of a world.
type worldMessage struct {
	lines []string
	plate string
}

func (s worldMessage) text() string { return strings.Join(s.lines, "\r\n") }

type worldMaker struct {
	*rand.Rand
	bags int // made so far
}

func pick[T any](m *worldMaker, list []T) T { return list[m.IntN(len(list))] }

func (m *worldMaker) day() time.Time { return worldBegins.AddDate(0, 0, m.IntN(worldDays)) }

func bim(day time.Time) string { return strings.ToUpper(day.Format("02Jan")) }

// flight is a flight element.
func (m *worldMaker) flight(element, airline string, number int, day time.Time, end string) string {
	return fmt.Sprintf(".%s/%s%d/%s/%s", element, airline, number, bim(day), end)
}

// victim makes the messages of a bag: a BSM that names its passenger, then its later messages.
func (m *worldMaker) victim(plate string) []worldMessage {
	m.bags++
	day, line, number := m.day(), pick(m, worldLines), 100+m.bags*10
	from, to, beyond := m.way()
	names := []string{".P/" + pick(m, worldNames), fmt.Sprintf(".L/VICT%02d", m.bags)}
	if m.IntN(4) == 0 {
		names = names[:1]
	}
	first := []string{m.flight("F", line, number, day, to)}
	onward, next := "", pick(m, worldLines)
	if m.IntN(2) == 0 {
		onward = m.flight("O", next, number+1, day, beyond)
		first = append(first, onward)
	}
	all := []worldMessage{message("BSM", from, plate, append(first, names...)...)}
	for range m.IntN(worldMessages) {
		where, elements := from, first[:1]
		if onward != "" && m.IntN(2) == 0 {
			where, elements = to, []string{strings.Replace(onward, ".O", ".F", 1)}
		}
		switch m.IntN(6) {
		case 0: // a scan without a flight
			elements = []string{".J/S//A/" + bim(day) + "/1000Z"}
		case 1:
			elements = append([]string{".J/R"}, append(slices.Clone(elements), ".U/AKE12345LX")...)
		case 2: // a transfer BSM, which names the passenger or not
			all = append(all, message("BSM", where, plate, append(slices.Clone(elements), names[:m.IntN(len(names)+1)]...)...))
			continue
		case 3:
			elements = append(slices.Clone(elements), names[m.IntN(len(names)):]...)
		}
		all = append(all, message("BPM", where, plate, elements...))
	}
	return all
}

// way returns three different airports.
func (m *worldMaker) way() (from, to, beyond string) {
	order := m.Perm(len(worldPorts))
	return worldPorts[order[0]], worldPorts[order[1]], worldPorts[order[2]]
}

// post makes a message about a plate with arbitrary content, including flights and names of other
// bags. It does not use their PNRs: a sender who knows a PNR is taken to be entitled to the bag.
func (m *worldMaker) post(plate string, n int) worldMessage {
	from, to, beyond := m.way()
	day := m.day()
	elements := []string{m.flight("F", pick(m, worldLines), 9000+n, day, to)}
	if m.IntN(3) == 0 {
		elements = append(elements, m.flight("O", pick(m, worldLines), 100+m.IntN(40), m.day(), beyond))
	}
	if m.IntN(3) == 0 {
		elements = append(elements, m.flight("I", pick(m, worldLines), 100+m.IntN(40), m.day(), beyond))
	}
	kind := pick(m, []string{"BSM", "BPM"})
	if kind == "BPM" && m.IntN(2) == 0 {
		elements = append(elements, ".J/S//A/"+bim(m.day())+"/0001Z")
	}
	if kind == "BPM" && m.IntN(3) == 0 {
		elements = append(elements, ".U/AKE12345LX")
	}
	if m.IntN(2) == 0 {
		elements = append(elements, ".P/"+pick(m, worldNames))
	}
	if m.IntN(2) == 0 {
		elements = append(elements, fmt.Sprintf(".L/POST%02d", m.IntN(3)))
	}
	if kind == "BSM" && m.IntN(4) == 0 {
		elements = append(elements, ".E/RUSH", ".M/"+pick(m, worldPlates))
	}
	return message(kind, from, plate, elements...)
}

// message puts a message together; .P, .L, .E and .M stand behind the tag.
func message(kind, airport, plate string, elements ...string) worldMessage {
	lines := []string{kind, ".V/1L" + airport}
	tag := slices.IndexFunc(elements, func(e string) bool { return strings.ContainsRune("PLEM", rune(e[1])) })
	if tag < 0 {
		tag = len(elements)
	}
	lines = append(append(lines, elements[:tag]...), ".N/"+plate+"001")
	return worldMessage{append(append(lines, elements[tag:]...), "END"+kind), plate}
}

// office is the service with an index in memory, for one key.
type office struct {
	site     *web.Site
	acceptor *ingestor.Acceptor
	now      time.Time
	key      *apikey.Key
	count    int64
}

func newOffice(key *apikey.Key) *office {
	library, index := airport.New(), memory.New()
	filer := enricher.New(library)
	o := &office{now: worldBegins.AddDate(0, 0, worldDays+1), key: key, acceptor: ingestor.NewAcceptor(ingestor.Config{Judge: ingestor.NewJudge(library, filer), Index: index})}
	reader := trail.New(index, filer, trail.Settings{Window: 10 * time.Minute, Airports: library, Now: func() time.Time { return o.now }})
	queries := queryapi.Queries{
		Trails:   func(seen bag.Sight) queryapi.Trails { return reader.For(seen) },
		Airports: library, Airlines: airline.New(), Flights: flightref.None(),
	}
	o.site = web.New(web.Settings{Keys: keys{"key": key}, Log: zap.NewNop(), Clock: time.Now}, queries.Operations(), nil)
	return o
}

// take processes a message, an hour after the previous one.
func (o *office) take(t *testing.T, s worldMessage) {
	t.Helper()
	o.takeText(t, s.text())
}

// takeText is take for the texts of messages.
func (o *office) takeText(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		o.now, o.count = o.now.Add(time.Hour), o.count+1
		outcomes, err := o.acceptor.AcceptBatch(context.Background(), []ingestor.Envelope{{
			Raw: text, Received: o.now, Position: bag.Position{Known: true, Offset: o.count},
		}})
		if err != nil || outcomes[0].Verdict != ingestor.Accepted {
			t.Fatalf("%q: %v %v", text, outcomes, err)
		}
	}
}

// may reports whether the key may post a message.
func (o *office) may(t *testing.T, s worldMessage) bool {
	t.Helper()
	var m parser.Message
	m.Parse(s.text(), airport.New())
	if !m.Accepted() {
		t.Fatalf("%q: %v", s.text(), m.Errors)
	}
	return o.key.Message(&m)
}

func (o *office) get(target string) map[string]any {
	var answer map[string]any
	if err := json.Unmarshal(ask(context.Background(), o.site, "GET", target, "", "api_key", "key").Body.Bytes(), &answer); err != nil {
		panic(err)
	}
	return answer
}

// facts returns all that histories and passenger lists tell the key, as lines with one fact each.
func (o *office) facts() map[string]bool {
	told := map[string]bool{}
	for _, plate := range worldPlates {
		for d := range worldDays {
			day := worldBegins.AddDate(0, 0, d).Format(time.DateOnly)
			target := "/baggage/history/v1.0/tag/" + plate + "/flightdate/" + day + "?include_bim=true"
			answer := o.get(target)
			o.tellHistory(told, plate, answer)
			if strings.Contains(fmt.Sprint(answer["errors"]), "SVCGBH001") {
				for _, name := range worldNames {
					o.tellHistory(told, plate, o.get(target+"&pax_surname="+name))
				}
			}
		}
	}
	for d := range worldDays {
		day := worldBegins.AddDate(0, 0, d).Format(time.DateOnly)
		for n := 1; n < 7; n++ {
			o.tellBags(told, o.get(fmt.Sprintf("/baggage/bagsforpassenger/v1.0/pnr/VICT%02d/dep_flight_date/%s", n, day)))
		}
		for n := range 3 {
			o.tellBags(told, o.get(fmt.Sprintf("/baggage/bagsforpassenger/v1.0/pnr/POST%02d/dep_flight_date/%s", n, day)))
		}
	}
	return told
}

func (o *office) tellHistory(told map[string]bool, plate string, answer map[string]any) {
	b, found := answer["bag"].(map[string]any)
	if !found {
		return
	}
	tell(told, plate, b, "passenger_last_name")
	for _, e := range answer["events"].([]any) {
		event := e.(map[string]any)
		tellEvent(told, plate, event, event["utc_date_time"])
	}
}

// tellEvent notes the facts of an event that happened at a time, in UTC without milliseconds.
func tellEvent(told map[string]bool, plate string, event map[string]any, happened any) {
	line, _ := json.Marshal([]any{event["airport"], happened, event["flight_info"], event["pnr"], event["stowage_device"]}) // what was read as JSON can be written
	told[plate+" event "+string(line)] = true
	tell(told, plate, event, "pnr", "raw_bim_msg")
	if r, there := event["reflighted_info"].(map[string]any); there {
		flights, _ := json.Marshal(r["flights"])
		told[plate+" re-flights "+fmt.Sprint(r["bagtag"])+" "+string(flights)] = true
	}
}

func (o *office) tellBags(told map[string]bool, answer map[string]any) {
	for _, bag := range bagsIn(answer) {
		plate := fmt.Sprint(bag["bagtag"])
		told[plate+" listed"] = true
		tell(told, plate, bag, "passenger_last_name", "rushtag")
	}
}

func tell(told map[string]bool, plate string, object map[string]any, members ...string) {
	for _, member := range members {
		if value, there := object[member]; there {
			told[fmt.Sprint(plate, " ", member, " ", value)] = true
		}
	}
}

// own reports whether a fact comes from the posts: from a flight from 9000 on, from a value in a
// post, or from an original that a post names and that was seen before.
func own(fact string, before map[string]bool, posts []worldMessage) bool {
	plate, rest, _ := strings.Cut(fact, " ")
	if strings.Contains(rest, `"flight":"9`) || rest == "listed" {
		return true // listed among the bags of a PNR that the key knows
	}
	member, value, _ := strings.Cut(rest, " ")
	for _, p := range posts {
		switch {
		case member == "raw_bim_msg" && value == p.text():
			return true
		case member == "re-flights" && p.plate == plate && slices.Contains(p.lines, ".M/"+value[:10]) && seenFlight(before, posts, value[:10], value[11:]):
			return true
		case member == "passenger_last_name" && p.plate == plate && slices.Contains(p.lines, ".P/"+value):
			return true
		case member == "pnr" && p.plate == plate && slices.Contains(p.lines, ".L/"+value):
			return true
		case member == "rushtag" && p.plate == value:
			return true
		}
	}
	return false
}

// seenFlight reports whether an earlier event of the plate, or a post, has that flight.
func seenFlight(before map[string]bool, posts []worldMessage, plate, flight string) bool {
	_, number, named := strings.Cut(flight, `"flight":"`)
	number = strings.TrimSuffix(number, `"}`)
	for fact := range before {
		if strings.HasPrefix(fact, plate+" event ") && strings.Contains(fact, `"flight":"`+number+`"`) {
			return true
		}
	}
	return !named || slices.ContainsFunc(posts, func(p worldMessage) bool { return p.plate == plate && strings.Contains(p.text(), number+"/") })
}

// writer makes a key that may post as well as ask.
func writer(m *worldMaker) *apikey.Key {
	scope := func(list []string) apikey.Scope {
		if m.IntN(4) == 0 {
			return all
		}
		order := m.Perm(len(list))
		return only(list[order[0]], list[order[1]])
	}
	k := &apikey.Key{Name: "writer", Customer: "W", Airlines: only(pick(m, worldLines)), Airports: scope(worldPorts), Operations: all}
	if m.IntN(4) == 0 {
		k.Airlines, k.Airports = scope(worldLines), only(pick(m, worldPorts))
	}
	return k
}

// gained returns the facts that a key gets after it has posted, without those that it had before
// and those that it has posted itself.
func gained(before, after map[string]bool, posts []worldMessage) (facts []string) {
	for fact := range after {
		if !before[fact] && !own(fact, before, posts) {
			facts = append(facts, fact)
		}
	}
	slices.Sort(facts)
	return facts
}

// A key that may post and read gains nothing by posting about plates whose bags have messages that
// name their passengers: neither facts from before the posts, with several bags of a plate, nor
// facts from later messages of a bag.
func TestWritersSeeNoMoreThanBeforeAndWhatTheyPosted(t *testing.T) {
	worlds := race.Less(300, 30)
	posted, told := 0, 0
	for seed := range uint64(worlds) {
		m := &worldMaker{Rand: rand.New(rand.NewPCG(seed, 15))}
		key := writer(m)
		quiet, loud := newOffice(key), newOffice(key)
		var begun, later []worldMessage
		for _, plate := range worldPlates {
			messages := m.victim(plate)
			if seed%2 == 0 { // all is there before the posts, also of other passengers with the same plate
				begun = append(begun, messages...)
				if m.IntN(2) == 0 {
					begun = append(begun, m.victim(plate)...)
				}
				continue
			}
			begun, later = append(begun, messages[0]), append(later, messages[1:]...)
		}
		var posts []worldMessage
		for n := range 12 {
			if p := m.post(pick(m, worldPlates), n); quiet.may(t, p) {
				posts = append(posts, p)
			}
		}
		posted += len(posts)
		for _, s := range begun {
			quiet.take(t, s)
			loud.take(t, s)
		}
		hours := len(posts)
		for _, p := range posts {
			loud.take(t, p)
		}
		quiet.now = quiet.now.Add(time.Duration(hours) * time.Hour)
		for _, s := range later {
			quiet.take(t, s)
			loud.take(t, s)
		}
		before, after := quiet.facts(), loud.facts()
		told += len(before)
		if facts := gained(before, after, posts); len(facts) > 0 {
			var lines []string
			for _, s := range slices.Concat(begun, []worldMessage{{lines: []string{"-- posts"}}}, posts, []worldMessage{{lines: []string{"-- later"}}}, later) {
				lines = append(lines, strings.Join(s.lines, " "))
			}
			t.Errorf("world %d, key %v %v:\n%s\ngains\n%s", seed, key.Airlines, key.Airports, strings.Join(lines, "\n"), strings.Join(facts, "\n"))
			return
		}
	}
	t.Logf("%d worlds, %d posts; %d facts are told without them", worlds, posted, told)
	if posted < worlds || told < worlds {
		t.Error("too little is posted or told for this to mean anything")
	}
}
