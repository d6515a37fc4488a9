package contract_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"bagtrail/test/service"
)

// changeRecord is a record of the topic of changes, and the event that an SDK must read from it.
type changeRecord struct {
	Headers map[string]string `json:"headers"`
	Key     string            `json:"key"`
	Value   string            `json:"value"`
	Event   struct {
		ID      string          `json:"id"`
		Source  string          `json:"source"`
		Type    string          `json:"type"`
		Subject string          `json:"subject"`
		Time    time.Time       `json:"time"`
		Data    json.RawMessage `json:"data"`
	} `json:"event"`
}

// The records are those that the service wrote, header by header and byte by byte.
func TestChangesAreReadByTheSDKsOfCloudEvents(t *testing.T) {
	python, modules, jars := setting(t, "BAGTRAIL_TEST_PYTHON"), setting(t, "BAGTRAIL_TEST_CLIENT_MODULES"), setting(t, "BAGTRAIL_TEST_JARS")
	s := service.Start(t)
	began := time.Now().Add(-time.Second)
	for _, plate := range []string{"0724760001", "0724760002"} {
		for _, message := range []string{
			"BSM\n.V/1LZRH\n.F/LX100/14MAR/JFK\n.O/BA20/14MAR/LHR\n.N/" + plate + "001\n.S/Y/12A\n.W/K/1/18\n.P/MUELLER/ANNA\n.L/ABC123\nENDBSM",
			"BPM\n.V/1LZRH\n.J/R\n.F/LX100/14MAR/JFK\n.U/AKE12345LX\n.N/" + plate + "001\nENDBPM",
		} {
			if got := s.Process(message); got.Status != 200 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}
	}
	records := readChanges(t, s, "0724760001", "0724760002")
	for i := range records {
		r := &records[i]
		if err := json.Unmarshal([]byte(r.Value), &r.Event); err != nil {
			t.Fatalf("%v: %s", err, r.Value)
		}
		var data struct {
			ID, Plate       string
			Epoch, Sequence int64
		}
		if err := json.Unmarshal(r.Event.Data, &data); err != nil {
			t.Fatalf("%v: %s", err, r.Value)
		}
		id := data.Plate + "-" + strconv.FormatInt(data.Epoch, 10) + "-" + strconv.FormatInt(data.Sequence, 10)
		if e := r.Event; e.ID != id || data.ID != id || e.Subject != data.Plate || r.Key != data.Plate ||
			e.Source != "/bagtrail" || e.Type != "bagtrail.bag.changed" || e.Time.Before(began) || e.Time.After(time.Now()) {
			t.Errorf("record %s: %s", r.Key, r.Value)
		}
	}
	text, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	file := service.WriteFile(t, "records.json", string(text))
	t.Run("python", func(t *testing.T) { run(t, ".", nil, python, here(t, "changes.py"), file) })
	t.Run("javascript", func(t *testing.T) {
		run(t, ".", []string{"NODE_MODULES=" + modules}, "node", here(t, "changes.mjs"), file)
	})
	t.Run("java", func(t *testing.T) { run(t, ".", nil, "java", "-cp", jars+"/*", here(t, "Changes.java"), file) })
}

// readChanges reads the topic of changes from its beginning, until a change of each plate has come.
func readChanges(t *testing.T, s *service.Service, plates ...string) (records []changeRecord) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.Kafka), kgo.ConsumeTopics("bag.changes"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	left := make(map[string]bool)
	for _, plate := range plates {
		left[plate] = true
	}
	for len(left) > 0 {
		fetched := client.PollFetches(t.Context())
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			record := changeRecord{Headers: make(map[string]string), Key: string(r.Key), Value: string(r.Value)}
			for _, h := range r.Headers {
				record.Headers[h.Key] = string(h.Value)
			}
			records = append(records, record)
			delete(left, record.Key)
		})
	}
	return records
}
