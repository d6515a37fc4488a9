package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"bagtrail/internal/command"
	"bagtrail/internal/kafka"
)

func TestFeedsTellWhatCameByWhichDoor(t *testing.T) {
	s := serve(t)
	text := func(airport string) string {
		return "BSM\r\n.V/1L" + airport + "\r\n.F/LX14/14MAR/JFK\r\n.N/0724123456001\r\nENDBSM\r\n"
	}
	for range 2 { // a copy
		s.post(text("ZRH"), http.StatusOK, "")
	}
	client, err := kafka.Open(kafka.Config{Brokers: []string{s.variable("BAGTRAIL_EMBEDDED_KAFKA_ADDR")}, Topics: []string{"bim.raw"}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []kafka.Record
	for _, value := range []string{text("GVA"), ".V/1LGVA", "BSM"} {
		records = append(records, kafka.Record{Value: []byte(value), Time: time.Now()})
	}
	if err := client.Produce(t.Context(), "bim.raw", records); err != nil {
		t.Fatal(err)
	}
	got := ""
	s.until("every message is counted, at its door alone", func() bool {
		var answer struct {
			Feeds []struct {
				Airport, Door, State          string
				Accepted, Duplicate, Rejected int
			}
		}
		_, body := s.ask("GET", "/v1/feeds", "")
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		got = fmt.Sprint(answer.Feeds)
		return got == "[{ kafka new 0 0 1} {GVA kafka new 1 0 1} {ZRH http new 1 1 0}]"
	})
	if code := s.down(); code != command.Done {
		t.Errorf("exit code %d", code)
	}
}
