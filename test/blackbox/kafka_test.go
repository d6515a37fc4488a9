package blackbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"bagtrail/test/servers/program"
	"bagtrail/test/service"
)

const (
	rawTopic     = "bim.raw"
	rejectsTopic = "bim.rejected"
	changesTopic = "bag.changes"
)

// consume reads a topic from its beginning until it has seen count of the records that the test
// wants. It returns these in the order of partition and offset, or those that it has when patience
// is over.
func consume(t testing.TB, s *service.Service, topic string, count int, wanted func(kafka.Message) bool) []kafka.Message {
	t.Helper()
	var found []kafka.Message
	s.Until(patience, func() bool {
		found = slices.DeleteFunc(dump(t, s, topic), func(m kafka.Message) bool { return !wanted(m) })
		return len(found) >= count
	})
	if len(found) != count {
		t.Errorf("%d records on %s, want %d", len(found), topic, count)
	}
	return found
}

// dump returns every record that a topic holds now.
func dump(t testing.TB, s *service.Service, topic string) []kafka.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	partitions, err := kafka.DefaultDialer.LookupPartitions(ctx, "tcp", s.Kafka, topic)
	if err != nil {
		t.Fatal(err)
	}
	var all []kafka.Message
	for _, p := range partitions {
		if err := program.ReadPartition(ctx, s.Kafka, topic, p.ID, func(m kafka.Message) { all = append(all, m) }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func header(m kafka.Message, name string) string {
	for _, h := range m.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

func keyed(keys ...string) func(kafka.Message) bool {
	return func(m kafka.Message) bool { return slices.Contains(keys, string(m.Key)) }
}

// A record becomes events, or a record on bim.rejected with the value and key as received and
// headers for its origin and faults (service §3). None is skipped.
func TestRecordsBecomeEventsOrRejects(t *testing.T) {
	t.Parallel()
	s := common(t)
	asJSON := []kafka.Header{{Key: "content-type", Value: []byte("application/json")}}
	charset := []kafka.Header{{Key: "content-type", Value: []byte("application/json; charset=utf-8")}}
	good := func(plate string) string { return bsm(plate) }
	binary := "\x00\x01\xff\xfe\x80BSM\x00binary\xff"
	cases := []struct {
		key     string
		value   []byte
		headers []kafka.Header
		codes   string // "" if the message is accepted
	}{
		{"kafka-plain", []byte(good("0724700001")), nil, ""},
		{"kafka-json", []byte(bim(good("0724700002"))), asJSON, ""},
		{"kafka-json-charset", []byte(bim(good("0724700003"))), charset, ""},
		{"kafka-text-type", []byte(good("0724700004")), []kafka.Header{{Key: "content-type", Value: []byte("text/plain")}}, ""},
		{"kafka-binary-carried", []byte(strings.Replace(good("0724700005"), "ENDBSM", ".R/\xff\xfe\nENDBSM", 1)), nil, ""},

		{"kafka-empty", []byte{}, nil, "SVCPRB003"},
		{"kafka-nil", nil, nil, "SVCPRB003"},
		{"kafka-blank", []byte(" \n"), nil, "SVCPRB003"},
		{"kafka-binary", []byte(binary), nil, "SVCPRB004"},
		{"kafka-oversized", []byte("BSM\n" + strings.Repeat("A", 64<<10)), nil, "SVCSRV003"},
		{"kafka-several", []byte("BSM\n.V/2KZRH\n.F/LX14/31FEB/JFK\n.N/1\n.N/2\nENDBSM"), nil, "SVCPRB013,SVCPRB014,SVCPRB022,SVCPRB016"},
		{"kafka-other", []byte("BUM\n.V/1LZRH\nENDBUM"), nil, "SVCPRB011"},
		{"kafka-json-without-header", []byte(bim(good("0724700006"))), nil, "SVCPRB004"},
		{"kafka-header-without-json", []byte(good("0724700006")), asJSON, "SVCPRB003"},
		{"kafka-json-broken", []byte(bim(good("0724700006")) + "x"), asJSON, "SVCPRB003"},
		{"kafka-json-repeated", []byte(`{"bim_message":"BSM","bim_message":"BSM"}`), asJSON, "SVCPRB003"},
		{"kafka-json-number", []byte(`{"bim_message":1}`), asJSON, "SVCPRB003"},
		{"kafka-json-oversized", []byte(bim("BSM\n" + strings.Repeat("A", 64<<10))), asJSON, "SVCSRV003"},
	}
	received := at(t, "2026-03-14T08:00:00.123Z")
	var messages []kafka.Message
	var names []string
	for _, c := range cases {
		messages = append(messages, kafka.Message{Key: []byte(c.key), Value: c.value, Headers: c.headers, Time: received})
		if c.codes != "" {
			names = append(names, c.key)
		}
	}
	produce(t, s, rawTopic, messages...)

	origins := map[string]string{}
	for _, m := range consume(t, s, rawTopic, len(cases), func(m kafka.Message) bool { return strings.HasPrefix(string(m.Key), "kafka-") }) {
		origins[string(m.Key)] = fmt.Sprintf("%s/%d/%d", rawTopic, m.Partition, m.Offset)
	}
	rejected := map[string]kafka.Message{}
	for _, m := range consume(t, s, rejectsTopic, len(names), func(m kafka.Message) bool { return strings.HasPrefix(string(m.Key), "kafka-") }) {
		rejected[string(m.Key)] = m
	}
	for _, c := range cases {
		m, there := rejected[c.key]
		if there != (c.codes != "") {
			t.Errorf("%s: rejected %v", c.key, there)
		}
		if !there {
			continue
		}
		if !bytes.Equal(m.Value, c.value) {
			t.Errorf("%s: value %.80q, want %.80q", c.key, m.Value, c.value)
		}
		if header(m, "bagtrail-origin") != origins[c.key] || header(m, "bagtrail-codes") != c.codes {
			t.Errorf("%s: origin %s, codes %s; want %s, %s", c.key, header(m, "bagtrail-origin"), header(m, "bagtrail-codes"), origins[c.key], c.codes)
		}
		var diagnostics []struct {
			Code                                  string
			Line, Column                          int
			Element, Value, Expected, Description *string
		}
		if err := json.Unmarshal([]byte(header(m, "bagtrail-diagnostics")), &diagnostics); err != nil || len(diagnostics) == 0 {
			t.Errorf("%s: diagnostics %s: %v", c.key, header(m, "bagtrail-diagnostics"), err)
			continue
		}
		for _, d := range diagnostics {
			if !strings.Contains(c.codes, d.Code) || d.Line < 1 || d.Column < 1 || d.Element == nil || d.Value == nil || d.Expected == nil || d.Description == nil || *d.Description == "" {
				t.Errorf("%s: diagnostic %+v", c.key, d)
			}
		}
	}
	for _, plate := range []string{"0724700001", "0724700002", "0724700003", "0724700004", "0724700005"} {
		h := historyOf(t, s, plate, "2026-03-14", "EXPECTED")
		if len(h.Events) == 1 && h.Events[0].UTC != "2026-03-14T08:00:00Z" {
			t.Errorf("%s happened %s: the received time is the record's timestamp", plate, h.Events[0].UTC)
		}
	}
	if got := s.Get(service.HistoryPath("0724700006", "2026-03-14")); !strings.Contains(got.Body, "SVCGBH002") {
		t.Errorf("a rejected message left a trace: %s", got.Body)
	}
}

// The header for diagnostics holds the whole array of service §1.
func TestRejectsCarryTheDiagnostics(t *testing.T) {
	t.Parallel()
	s := common(t)
	produce(t, s, rawTopic, kafka.Message{Key: []byte("diagnosed"), Value: []byte("BSM\n.V/1LZRH\n.F/LX14/05MAR26/JFK\n.N/0724710001001\nENDBSM"), Time: at(t, "2026-03-14T08:00:00Z")})
	for _, m := range consume(t, s, rejectsTopic, 1, keyed("diagnosed")) {
		const want = `[{"code":"SVCPRB022","description":"Invalid date in the flight element (line 3, element .F): found \"05MAR26\", expected a calendar date DDMMM.",` +
			`"severity":"error","line":3,"column":9,"end_column":16,"element":".F","value":"05MAR26","expected":"a calendar date DDMMM","suggestion":"05MAR",` +
			`"hint":"A date has two digits for the day and three letters for the month, and no year: 05MAR."}]`
		if got := header(m, "bagtrail-diagnostics"); got != want {
			t.Errorf("diagnostics\n got %s\nwant %s", got, want)
		}
	}
}

// An accepted POST is on bim.raw with the time of the POST, a rejected one on bim.rejected with
// origin http/<id> (service §3).
func TestPostsAreOnTheTopics(t *testing.T) {
	t.Parallel()
	s := common(t)
	before := time.Now().Add(-time.Millisecond)
	message := bsmOn("0724720001", today())
	expect(t, "POST", s.Process(message), 200, processed)
	for _, m := range consume(t, s, rawTopic, 1, func(m kafka.Message) bool { return string(m.Value) == message }) {
		received, err := time.Parse(time.RFC3339, header(m, "bagtrail-received"))
		if err != nil || received.Before(before) || received.After(time.Now()) || !received.Equal(m.Time) {
			t.Errorf("bagtrail-received %q, record of %v", header(m, "bagtrail-received"), m.Time)
		}
		if string(m.Key) != "0724720001" {
			t.Errorf("key %q, want the plate", m.Key)
		}
	}

	faulty := "BSM\n.V/1LZRH\n.F/LX14/31FEB/JFK\n.N/0724720002001\nENDBSM"
	got := s.Process(faulty)
	named := s.Process(faulty+"\n ", "X-Request-Id", "my-id")
	if got.Status != 400 || named.Status != 400 {
		t.Fatalf("%d, %d", got.Status, named.Status)
	}
	for _, m := range consume(t, s, rejectsTopic, 1, func(m kafka.Message) bool { return string(m.Value) == faulty }) {
		if header(m, "bagtrail-origin") != "http/"+got.Header.Get("X-Request-Id") || header(m, "bagtrail-codes") != "SVCPRB022" || header(m, "bagtrail-key") != "demo" || len(m.Key) != 0 {
			t.Errorf("reject %q %v, want origin http/%s", m.Key, m.Headers, got.Header.Get("X-Request-Id"))
		}
	}
	for _, m := range consume(t, s, rejectsTopic, 1, func(m kafka.Message) bool { return string(m.Value) == faulty+"\n " }) {
		if !strings.HasPrefix(header(m, "bagtrail-origin"), "http/my-id") {
			t.Errorf("origin %s, want http/my-id…", header(m, "bagtrail-origin"))
		}
	}
	for _, m := range dump(t, s, rawTopic) {
		if strings.HasPrefix(string(m.Value), faulty) {
			t.Error("a rejected POST is on the raw topic")
		}
	}
}

// A delayed-bag report is on bim.raw with the header bagtrail-kind (service §3).
func TestReportsAreOnTheRawTopic(t *testing.T) {
	t.Parallel()
	s := common(t)
	body, _ := delayedRequest("LX", "0724730001")
	if got := s.Do("POST", "/baggage/delayedbags/v1.0/", strings.NewReader(body), "Content-Type", "application/json"); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	for _, m := range consume(t, s, rawTopic, 1, keyed("0724730001")) {
		if header(m, "bagtrail-kind") != "delayed-bag-report" || header(m, "bagtrail-received") == "" {
			t.Errorf("headers %v", m.Headers)
		}
		if strings.Contains(string(m.Value), "MUELLER") {
			t.Errorf("the log holds more of a report than reference, station and plates: %s", m.Value)
		}
	}
}

// bag.changes: one CloudEvents 1.0 JSON object a change, key = plate. A reader who keeps, for each
// plate, the state with the highest epoch and sequence ends with what the queries say.
func TestChangesAreCloudEvents(t *testing.T) {
	t.Parallel()
	s := common(t)
	source := record{"2026-03-14T08:00:00.250Z", "BSM\n.V/1LZRH\n.F/LX8700/14MAR/JFK\n.N/0724740001002\n.P/CHANGES/ANNA\n.L/EVENT1\nENDBSM"}
	loaded := record{"2026-03-14T09:00:00Z", "BPM\n.V/1LZRH\n.J/R//L1/14MAR/0950L\n.F/LX8700/14MAR/JFK\n.U/AKE8700LX/41P\n.N/0724740001001\nENDBPM"}
	feed(t, s, source)
	historyOf(t, s, "0724740001", "2026-03-14", "EXPECTED")
	feed(t, s, loaded)
	type change struct {
		SpecVersion, ID, Source, Type, Subject, DataContentType string
		Time                                                    time.Time
		Data                                                    struct {
			ID, Plate       string
			Epoch, Sequence int64
			PNRs            []string
			Bags            []struct {
				Plate  string
				Events []struct{ ID, Code, Airport, Happened string }
			}
		}
	}
	codes := func(c change) (all string) {
		for _, b := range c.Data.Bags {
			for _, e := range b.Events {
				all += e.Code + " "
			}
		}
		return all
	}
	// latest returns the state that a reader of the topic has of a plate, once it holds an event of a code.
	latest := func(plate, code string) (last change) {
		t.Helper()
		told := func() bool {
			last = change{}
			for _, m := range dump(t, s, changesTopic) {
				var c change
				if err := json.Unmarshal(m.Value, &c); err != nil {
					t.Fatalf("%v: %s", err, m.Value)
				}
				if c.Subject != string(m.Key) || c.Data.Plate != c.Subject || len(m.Headers) != 1 || header(m, "content-type") != "application/cloudevents+json" {
					t.Fatalf("change %s with headers %v", m.Value, m.Headers)
				}
				if c.Subject == plate && (c.Data.Epoch > last.Data.Epoch || c.Data.Epoch == last.Data.Epoch && c.Data.Sequence > last.Data.Sequence) {
					last = c
				}
			}
			return strings.Contains(codes(last), code)
		}
		if !s.Until(patience, told) {
			t.Fatalf("%s: %q, want %s", plate, codes(last), code)
		}
		return last
	}
	c := latest("0724740001", "LOADED_ON_AIRCRAFT")
	id := fmt.Sprintf("0724740001-%d-%d", c.Data.Epoch, c.Data.Sequence)
	if c.SpecVersion != "1.0" || c.ID != id || c.Data.ID != id || c.Source != "/bagtrail" || c.Type != "bagtrail.bag.changed" ||
		c.DataContentType != "application/json" || c.Time.IsZero() || codes(c) != "EXPECTED LOADED_ON_AIRCRAFT " ||
		len(c.Data.PNRs) != 1 || c.Data.PNRs[0] != "EVENT1" || c.Data.Bags[0].Events[1].Airport != "ZRH" ||
		c.Data.Bags[0].Events[1].Happened != "2026-03-14T08:50:00.000Z" {
		t.Errorf("change %+v", c)
	}
	if other := latest("0724740002", "EXPECTED"); codes(other) != "EXPECTED " {
		t.Errorf("change %+v", other)
	}

	// A POST is told too.
	expect(t, "POST", s.Process(bsmOn("0724740009", today())), 200, processed)
	latest("0724740009", "EXPECTED")
}

// A record that is delivered twice changes no answer, and a copy under another time within the
// window makes no event.
func TestRecordsMayBeDeliveredTwice(t *testing.T) {
	t.Parallel()
	s := common(t)
	r := record{"2026-03-14T08:00:00Z", "BSM\n.V/1LZRH\n.F/LX8710/14MAR/JFK\n.N/0724750001001\nENDBSM"}
	read := record{"2026-03-14T08:30:00Z", "BPM\n.V/1LZRH\n.J/S//S1/14MAR/0920L\n.F/LX8710/14MAR/JFK\n.N/0724750001001\nENDBPM"}
	readLater := read
	readLater.received = "2026-03-15T08:00:00Z" // equal text and equal read instant, whatever the received time
	copied, late := r, r
	copied.received, late.received = "2026-03-14T08:10:00Z", "2026-03-14T08:10:01Z"
	feed(t, s, r, r, read, copied, read, readLater, r)
	historyOf(t, s, "0724750001", "2026-03-14", "EXPECTED SORTED")
	feed(t, s, late)
	historyOf(t, s, "0724750001", "2026-03-14", "EXPECTED EXPECTED SORTED")
}
