package hostile_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/test/service"
)

// This file holds the ways in which a key once got, or was refused, a wrong answer.

// office is a running service for keys of two airlines. BA has two keys, of which one conceals.
type office struct {
	*service.Service
	t *testing.T
}

func openOffice(t *testing.T) office {
	t.Helper()
	file := "keys:\n" + service.KeyEntry("all", service.DevelopmentKey, ", customer: ALL") + service.KeyEntry("lx", "key-of-lx", ", customer: SWISS, airlines: [LX]") +
		service.KeyEntry("ba", "key-of-ba", ", customer: BRITISH, airlines: [BA]") + service.KeyEntry("shy", "key-of-shy", ", customer: SHY, airlines: [BA], conceal: true")
	return office{service.Start(t, noKafka, secret, "BAGTRAIL_LOG_LEVEL=debug", "BAGTRAIL_KEYS_FILE="+service.WriteFile(t, "keys.yaml", file)), t}
}

// ask sends a query with a key of the office.
func (o office) ask(key, target string) service.Answer {
	o.t.Helper()
	return o.Get(target, "api_key", "key-of-"+key)
}

// post posts a message with a key of the office, which must be accepted.
func (o office) post(key string, lines ...string) {
	o.t.Helper()
	expect(o.t, strings.Join(lines, " "), o.Process(strings.Join(lines, "\r\n"), "api_key", "key-of-"+key), http.StatusOK, processed)
}

// holds checks that an answer contains some words and not others.
func (o office) holds(what string, got service.Answer, with, without []string) {
	o.t.Helper()
	for _, word := range with {
		if !strings.Contains(got.Body, word) {
			o.t.Errorf("%s: no %s in %d %s", what, word, got.Status, got.Body)
		}
	}
	for _, word := range without {
		if strings.Contains(got.Body, word) {
			o.t.Errorf("%s: %s in %d %s", what, word, got.Status, got.Body)
		}
	}
}

var (
	notThisHistory   = notAuthorised("SVCGBH014", "get this bag history")
	notThisPassenger = notAuthorised("SVCGBP006", "get bags for this passenger")
	noBags           = failure("SVCGBH002", "No matching bags found")
)

// swiss sends a bag of LX on LX500 from ZRH to JFK.
func (o office) swiss(plate, surname, pnr string) {
	o.t.Helper()
	send(o.t, o.Service, "BSM", ".V/1LZRH", ".F/LX500/"+day(1).bim()+"/JFK", ".N/"+plate+"001", ".P/1"+surname+"/ANNA", ".L/"+pnr, "ENDBSM")
}

// The two answers to a limited key differed, so that they showed whether a guessed surname or PNR
// is right.
func TestLeaksNotWhetherAGuessedNameIsRight(t *testing.T) {
	o := openOffice(t)
	o.swiss("0724200001", "QUIET", "QUI001")
	base := service.HistoryPath("0724200001", day(1).iso())
	for _, guess := range []string{"", "?pax_surname=QUIET", "?pax_surname=LOUD", "?pnr=QUI001", "?pnr=LOU001"} {
		expect(t, "history "+guess, o.ask("ba", base+guess), http.StatusBadRequest, notThisHistory)
		expect(t, "concealed "+guess, o.ask("shy", base+guess), http.StatusOK, noBag)
	}
}

// An application was refused although its passenger has no bags.
func TestNobodyIsRefusedForBagsThatAreNotThere(t *testing.T) {
	o := openOffice(t)
	o.swiss("0724200001", "QUIET", "QUI001")
	for _, key := range []string{"lx", "ba", "shy"} {
		expect(t, key+": no such plate", o.ask(key, service.HistoryPath("0724200009", day(1).iso())), http.StatusOK, noBag)
		expect(t, key+": not on that day", o.ask(key, service.HistoryPath("0724200001", day(2).iso())), http.StatusOK, noBag)
		expect(t, key+": no such PNR", o.ask(key, service.PassengerPath("NOB001", day(1).iso())), http.StatusOK, noBags)
	}
	passenger := service.PassengerPath("QUI001", day(1).iso())
	expect(t, "another's passenger", o.ask("ba", passenger), http.StatusBadRequest, notThisPassenger)
	expect(t, "another's passenger, concealed", o.ask("shy", passenger), http.StatusOK, noBags)
}

// A BPM without a name, posted on a flight of the poster's own, opened every bag whose plate it
// names, with name, PNR and movements.
func TestLeaksNoBagToWhoNamesItsPlate(t *testing.T) {
	o := openOffice(t)
	d := day(1).bim()
	o.swiss("0724200001", "QUIET", "QUI001")
	o.post("ba", "BPM", ".V/1LLHR", ".J/R", ".F/BA900/"+d+"/FRA", ".N/0724200001001", "ENDBPM")
	o.post("ba", "BSM", ".V/1LLHR", ".F/BA901/"+d+"/FRA", ".N/0724200001001", ".P/1OTHER", ".L/OTH001", "ENDBSM")
	o.post("ba", "BPM", ".V/1LLHR", ".J/R//A/"+day(-1).bim()+"/0001Z", ".F/BA902/"+d+"/FRA", ".N/0724200001001", ".P/1QUIET", "ENDBPM")
	send(t, o.Service, "BPM", ".V/1LZRH", ".J/S//S1/"+day(0).bim()+"/0001Z/BELT7", ".F/LX500/"+d+"/JFK", ".N/0724200001001", "ENDBPM")
	history := service.HistoryPath("0724200001", day(1).iso()) + "?include_bim=true"
	secrets := []string{"ANNA", "QUI001", "LX", `"500"`, "BELT7", "EXPECTED\",\"event_desc\":\"Bag Expected\",\"local_date_time\":\"" + day(1).iso()}
	for _, narrowed := range []string{"", "&pax_surname=QUIET", "&pax_surname=OTHER", "&pnr=OTH001", "&pnr=QUI001"} {
		o.holds("history"+narrowed, o.ask("ba", history+narrowed), nil, secrets)
	}
	o.holds("its own flight", o.ask("ba", service.FlightPath("LHR", "D", "BA", "900", day(1).iso())), []string{`"bagtag":"0724200001"`}, secrets)
	o.holds("its own name", o.ask("ba", service.PassengerPath("OTH001", day(1).iso())), []string{`"passenger_last_name":"OTHER"`}, secrets)
	o.holds("the owner", o.ask("lx", history+"&pnr=QUI001"), []string{"ANNA", "QUI001", "BELT7"}, nil)
}

// A carrier was refused its own bag if its transfer BSM has no name and the bag was first named for
// another carrier.
func TestCarrierSeesItsOwnTransferMessageWithoutANameAndNoMore(t *testing.T) {
	o := openOffice(t)
	d := day(1).bim()
	send(t, o.Service, "BSM", ".V/1LZRH", ".F/LX510/"+d+"/LHR", ".N/0724200002001", ".P/1QUIET/ANNA", ".L/QUI002", "ENDBSM")
	send(t, o.Service, "BPM", ".V/1LZRH", ".J/S//S1/"+day(0).bim()+"/0001Z/BELT7", ".F/LX510/"+d+"/LHR", ".N/0724200002001", "ENDBPM")
	send(t, o.Service, "BSM", ".V/1LLHR", ".F/BA910/"+d+"/JFK", ".N/0724200002001", "ENDBSM")
	got := o.ask("ba", service.HistoryPath("0724200002", day(1).iso())+"?include_bim=true")
	o.holds("transfer", got, []string{`"success":true`, "EXPECTED", `"910"`, "raw_bim_msg"}, []string{"QUIET", "ANNA", "QUI002", `"510"`, "BELT7"})
	o.holds("first carrier", o.ask("lx", service.HistoryPath("0724200002", day(1).iso())), []string{"QUIET", "BELT7", `"910"`}, nil)
}

// If a carrier sees the message that first named the passenger, it also sees messages without a
// name.
func TestOnwardCarrierSeesTheMovementsOfABagThatWasBookedWithIt(t *testing.T) {
	o := openOffice(t)
	d := day(1).bim()
	send(t, o.Service, "BSM", ".V/1LZRH", ".F/LX520/"+d+"/LHR", ".O/BA920/"+d+"/JFK", ".N/0724200003001", ".P/1GUEST/ANNA", ".L/GUE003", "ENDBSM")
	send(t, o.Service, "BPM", ".V/1LZRH", ".J/S//S1/"+day(0).bim()+"/0001Z/BELT7", ".F/LX520/"+d+"/LHR", ".N/0724200003001", "ENDBPM")
	o.holds("onward carrier", o.ask("ba", service.HistoryPath("0724200003", day(1).iso())), []string{"GUEST", "GUE003", "BELT7", "SORTED"}, nil)
}

// The text of a message in scope showed flights out of scope, and so other people's bags.
func TestLeaksNoTextThatTellsOfFlightsOutOfScope(t *testing.T) {
	o := openOffice(t)
	d := day(1).bim()
	send(t, o.Service, "BSM", ".V/1LZRH", ".F/LX530/"+d+"/JFK", ".N/0724200004001", ".P/1GUEST/ANNA", ".L/GUE004",
		".F/BA930/"+d+"/LHR", ".N/0125200004001", ".P/1QUIET", ".L/QUI004", "ENDBSM")
	send(t, o.Service, "BPM", ".V/1LZRH", ".J/S//S1/"+day(0).bim()+"/0001Z/BELT7", ".F/LX530/"+d+"/JFK", ".N/0724200004001", "ENDBPM")
	got := o.ask("lx", service.HistoryPath("0724200004", day(1).iso())+"?include_bim=true")
	o.holds("history", got, []string{"GUEST", `"raw_bim_msg":"BPM`}, []string{"QUIET", "QUI004", `"raw_bim_msg":"BSM`})
}

// A delayed-bag report made the bags of others Delayed, and showed their names.
func TestReportReachesNoBagOfAnother(t *testing.T) {
	o := openOffice(t)
	send(t, o.Service, "BSM", ".V/1LZRH", ".F/LX540/"+day(-1).bim()+"/JFK", ".N/0724200005001", ".P/1QUIET/ANNA", ".L/QUI005", "ENDBSM")
	send(t, o.Service, "BSM", ".V/1LLHR", ".F/BA940/"+day(-1).bim()+"/JFK", ".N/0125200005001", ".P/1GUEST", ".L/GUE005", "ENDBSM")
	got := report(t, o.Service, service.DelayedBagReport("CALLER", []string{"BA"}, []string{"0724200005", "0125200005"}), "api_key", "key-of-ba")
	o.holds("report", got, []string{`"success":true`, "CALLER", "GUEST"}, []string{"QUIET", "ANNA"})
	o.holds("another's bag", o.Get(service.HistoryPath("0724200005", day(-1).iso())), []string{"EXPECTED"}, []string{"MISHANDLED"})
	o.holds("its own bag", o.Get(service.HistoryPath("0125200005", day(-1).iso())), []string{"MISHANDLED"}, nil)
}

// A message that was rejected for a fault before the key was checked came in by replay --rejects.
func TestReplayOfRejectsAsksWhetherTheKeyMay(t *testing.T) {
	t.Parallel()
	airports := service.WriteFile(t, "airports.yaml", "airports: []\n")
	keyFile := func(revoked string) string {
		return "keys:\n" + service.KeyEntry("all", service.DevelopmentKey, ", customer: ALL") + service.KeyEntry("lx", "key-of-lx", ", customer: SWISS, airlines: [LX]"+revoked)
	}
	path := service.WriteFile(t, "keys.yaml", keyFile(""))
	settings := []string{"BAGTRAIL_LOG_LEVEL=warn", "BAGTRAIL_AIRPORTS_FILE=" + airports, "BAGTRAIL_KEYS_FILE=" + path}
	s := service.Start(t, settings...)
	d := day(1)
	for plate, airline := range map[string]string{"0724200006": "LX", "0125200006": "BA"} {
		message := "BSM\r\n.V/1LXQZ\r\n.F/" + airline + "950/" + d.bim() + "/JFK\r\n.N/" + plate + "001\r\nENDBSM"
		if got := s.Process(message, "api_key", "key-of-lx"); got.Status != http.StatusBadRequest || !strings.Contains(got.Body, "SVCPRB015") {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	replace(t, airports, "airports: [{code: XQZ, timezone: Europe/Zurich, latitude: 47, longitude: 8}]\n")
	here := append(settings, "BAGTRAIL_DATA_DIR="+s.Dir, "BAGTRAIL_EMBEDDED_KAFKA_ADDR="+s.Kafka)
	for _, tc := range []struct{ keys, want string }{
		{keyFile(", revoked: true"), "messages: 2, accepted: 0, known before: 0, rejected: 2, of these not authorised: 2\n"},
		{keyFile(""), "messages: 2, accepted: 1, known before: 0, rejected: 1, of these not authorised: 1\n"},
	} {
		replace(t, path, tc.keys)
		if stdout, stderr, code := service.Run(t.Context(), t, "", []string{"replay", "--rejects"}, here...); code != 1 || stdout != tc.want {
			t.Errorf("exit code %d\n got %s\nwant %s\n%s", code, stdout, tc.want, stderr)
		}
	}
	s.Up()
	if got := s.Get(service.HistoryPath("0724200006", d.iso())); !strings.Contains(got.Body, "EXPECTED") {
		t.Errorf("what the key may post: %d %s", got.Status, got.Body)
	}
	expect(t, "what the key may not post", s.Get(service.HistoryPath("0125200006", d.iso())), http.StatusOK, noBag)
}

// replace replaces the text of a file atomically.
func replace(t *testing.T, path, text string) {
	t.Helper()
	next := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// Keys that may post and ask gain no bag of the matrix: three of them post about every plate, and
// then no key gets a name or a PNR of a bag that it does not see.
func TestNobodyGainsABagByPosting(t *testing.T) {
	writers := []scope{
		{name: "writer-lx", airlines: []string{"LX"}, airports: []string{"ZRH"}, customer: true},
		{name: "writer-ba", airlines: []string{"BA"}, airports: []string{"LHR"}, customer: true},
		{name: "writer-aa", airlines: []string{"AA"}, airports: []string{"JFK"}, customer: true},
	}
	keys := append(scopes(), writers...)
	o := office{service.Start(t, "BAGTRAIL_LOG_LEVEL=warn", "BAGTRAIL_KEYS_FILE="+keyFile(t, keys)), t}
	sendWorld(t, o.Service)
	bags := world()
	d := day(1).bim()
	for i, w := range writers {
		version, flight := ".V/1L"+w.airports[0], ".F/"+w.airlines[0]+"88"
		for _, b := range bags {
			tag := ".N/" + b.plate + "001"
			o.post(w.name, "BPM", version, ".J/S", flight+"10/"+d+"/FRA", tag, "ENDBPM")
			o.post(w.name, "BSM", version, flight+"20/"+d+"/FRA", tag, "ENDBSM")
			o.post(w.name, "BSM", version, flight+"30/"+d+"/FRA", tag, ".P/WRITER", ".L/WRITE"+string(rune('1'+i)), "ENDBSM")
			o.post(w.name, "BPM", version, ".J/R//A/"+day(-2).bim()+"/0001Z", flight+"40/"+d+"/FRA", ".U/AKE12345LX", tag, ".P/WRITER", "ENDBPM")
		}
	}
	since := "&since=" + url.QueryEscape(time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
	if !o.Until(patience, func() bool { return len(told(o.Get("/v1/changes?limit=1000"+since))) == len(platesOf(bags)) }) {
		t.Fatal("changes are not told")
	}
	asked := 0
	for _, k := range keys {
		for _, b := range bags {
			if b.surname == "" || k.bag(b) || k.operations != nil || !k.customer {
				continue
			}
			history := service.HistoryPath(b.plate, day(1).iso())
			queries := []string{
				history, history + "?pax_surname=WRITER&include_bim=true", history + "?pax_surname=" + b.surname, history + "?pnr=" + b.pnr,
				"/v1/bags/" + b.plate + "?fields=raw", "/v1/changes?plate=" + b.plate + since,
			}
			if !slices.ContainsFunc(bags, func(other *luggage) bool { return other.surname == b.surname && k.bag(other) }) {
				named := "/v1/bags?fields=raw&airport=FRA&date=" + day(1).iso() + "&last_name="
				queries = append(queries, named+"WRITER", named+b.surname)
			}
			for _, query := range queries {
				o.holds(k.name+" asks "+query, o.ask(k.name, query), nil, []string{b.surname, b.pnr})
				asked++
			}
		}
		for i, w := range writers {
			got := o.ask(k.name, service.FlightPath(w.airports[0], "D", w.airlines[0], "8810", day(1).iso())).Body +
				o.ask(k.name, service.PassengerPath("WRITE"+string(rune('1'+i)), day(1).iso())).Body
			for _, b := range bags {
				if b.surname != "" && !k.bag(b) && len(sifted(bags, func(other *luggage) bool { return other.surname == b.surname && k.bag(other) })) == 0 {
					o.holds(k.name+" asks for what "+w.name+" posted", service.Answer{Body: got}, nil, []string{b.surname, b.pnr})
				}
			}
		}
	}
	t.Logf("%d questions about bags out of scope", asked)
	if asked < 1000 {
		t.Error("too few")
	}
}
