// Package truth_test sends simulated traffic through Kafka into a running service, and compares
// every answer about every bag, flight and passenger with the truth of the simulator. `make truth`
// runs it at full size on real servers.
package truth_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"bagtrail/internal/simulate"
	"bagtrail/test/servers"
	"bagtrail/test/service"
)

var bags = flag.Int("bags", 300, "how many bags are checked in")

func TestEveryAnswerIsTheTruth(t *testing.T) {
	redis, kafka := servers.Redis(t), servers.Kafka(t)
	name := servers.Unique(t, "truth")
	settings := []string{
		"BAGTRAIL_REDIS_URL=" + redis.URL,
		"BAGTRAIL_KAFKA_BROKERS=" + kafka.URL,
		"BAGTRAIL_KAFKA_TOPIC=" + name,
		"BAGTRAIL_KAFKA_REJECTS_TOPIC=" + name + ".rejected",
		"BAGTRAIL_KAFKA_CHANGES_TOPIC=" + name + ".changes", "BAGTRAIL_KAFKA_DIRTY_TOPIC=" + name + ".marks",
		"BAGTRAIL_KAFKA_GROUP=" + name,
		"BAGTRAIL_RETENTION=" + fmt.Sprint(100*365*24*time.Hour), // so that a fixed date is never too old
		"BAGTRAIL_LOG_LEVEL=warn",
	}
	s := service.Start(t, settings...)
	sent, truth := simulated(t, settings)
	patience := time.Minute + time.Duration(sent.Messages/1000)*time.Second
	again := func() int { return int(s.Metric("bagtrail_kafka_redelivered_records_total")) }
	decided := func(labels ...string) int { return int(s.Metric("bagtrail_messages_total", labels...)) - again() }
	if !s.Until(patience, func() bool { return decided() >= sent.Messages }) {
		t.Fatalf("%d of %d messages are decided on after %v", decided(), sent.Messages, patience)
	}
	if rejected := decided(`"rejected"`); again() == 0 && rejected != sent.Rejected {
		t.Errorf("%d messages were rejected, %d were to be", rejected, sent.Rejected)
	}
	questions := ask(truth)
	wrong := check(t, s, questions)
	t.Logf("Redis is %s, Kafka is %s: %d messages of %d bags, %d rejected; %d questions, %d answered otherwise than the truth",
		redis.Kind, kafka.Kind, sent.Messages, len(truth), sent.Rejected, len(questions), wrong)
}

// simulated runs the simulator. It returns its summary and the truth.
func simulated(t *testing.T, settings []string) (sent simulate.Summary, truth []simulate.Bag) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "truth")
	args := []string{"simulate", "--to", "kafka", "--seed", "1", "--start", "2026-03-01", "--bags", strconv.Itoa(*bags), "--truth", file}
	stdout, stderr, code := service.Run(t.Context(), t, "", args, settings...)
	if code != 0 {
		t.Fatalf("simulate ended with %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &sent); err != nil {
		t.Fatalf("%v: %q", err, stdout)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	for lines := json.NewDecoder(bufio.NewReader(in)); lines.More(); {
		var b simulate.Bag
		if err := lines.Decode(&b); err != nil {
			t.Fatal(err)
		}
		truth = append(truth, b)
	}
	if len(truth) < *bags || len(truth) != sent.Bags {
		t.Fatalf("the truth of %d bags, %d were sent, %d checked in", len(truth), sent.Bags, *bags)
	}
	return sent, truth
}

// question is a query with the true answer, one line for each bag or event.
type question struct {
	target string
	lines  []string
	read   func(body []byte) ([]string, error)
}

// ask returns every question that the truth answers: each bag, each flight at both ends, each
// passenger on each day.
func ask(truth []simulate.Bag) []question {
	var all []question
	lists := make(map[string]*question)
	add := func(target, line string, read func([]byte) ([]string, error)) {
		if lists[target] == nil {
			lists[target] = &question{target: target, read: read}
		}
		lists[target].lines = append(lists[target].lines, line)
	}
	for _, b := range truth {
		if len(b.Legs) == 0 {
			continue // a bag without legs has no date for a query, and must be on no list
		}
		all = append(all, question{service.HistoryPath(b.Plate, b.Legs[0].Date), history(b), readHistory})
		days := make(map[string]bool)
		for _, l := range b.Legs {
			airline, number := l.Designator()
			for _, end := range [][2]string{{l.From, "D"}, {l.To, "A"}} {
				add(service.FlightPath(end[0], end[1], airline, number, l.Date), b.Plate+" "+l.Status, readFlight)
			}
			days[l.Date] = true
		}
		for day := range days {
			if b.PNR != "" {
				add(service.PassengerPath(b.PNR, day), b.Plate+" "+b.RushTag, readPassenger)
			}
		}
	}
	for _, q := range lists {
		slices.Sort(q.lines)
		all = append(all, *q)
	}
	return all
}

// history returns the true history of a bag.
func history(b simulate.Bag) []string {
	reflights := ""
	if r := b.Reflights; r != nil {
		reflights = r.Plate + " " + r.Flight + " " + r.Date
	}
	lines := []string{b.Surname + " " + fmt.Sprint(b.Unknown) + " " + reflights}
	return append(lines, b.Events...)
}

func readHistory(body []byte) ([]string, error) {
	var h struct {
		Bag struct {
			Last string `json:"passenger_last_name"`
		}
		Events []struct {
			Code       string `json:"event_code"`
			Unknown    string `json:"unknown_bag_flag"`
			Reflighted struct {
				Plate   string `json:"bagtag"`
				Flights struct{ Airline, Flight, Date string }
			} `json:"reflighted_info"`
		}
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return nil, err
	}
	unknown, reflights, lines := false, "", []string{""}
	for _, e := range h.Events {
		unknown = unknown || e.Unknown == "Y"
		if r := e.Reflighted; r.Plate != "" {
			reflights = r.Plate + " " + r.Flights.Airline + r.Flights.Flight + " " + r.Flights.Date
		}
		lines = append(lines, e.Code)
	}
	lines[0] = h.Bag.Last + " " + fmt.Sprint(unknown) + " " + reflights
	return lines, nil
}

func readFlight(body []byte) ([]string, error) {
	var list struct {
		Bags []struct {
			Bag struct {
				Plate  string `json:"bagtag"`
				Status string `json:"loading_status"`
			}
		}
	}
	err := json.Unmarshal(body, &list)
	var lines []string
	for _, b := range list.Bags {
		lines = append(lines, b.Bag.Plate+" "+b.Bag.Status)
	}
	slices.Sort(lines)
	return lines, err
}

func readPassenger(body []byte) ([]string, error) {
	var list struct {
		Bags []struct {
			Plate   string `json:"bagtag"`
			RushTag string
		}
	}
	err := json.Unmarshal(body, &list)
	var lines []string
	for _, b := range list.Bags {
		lines = append(lines, b.Plate+" "+b.RushTag)
	}
	slices.Sort(lines)
	return lines, err
}

// check asks all questions. It returns the number of answers that are not the truth.
func check(t *testing.T, s *service.Service, questions []question) (wrong int) {
	t.Helper()
	next := make(chan question)
	var mu sync.Mutex
	var asking sync.WaitGroup
	for range 16 {
		asking.Go(func() {
			for q := range next {
				answer, err := s.TryDo(http.MethodGet, q.target, nil)
				lines := []string(nil)
				if err == nil {
					lines, err = q.read([]byte(answer.Body))
				}
				if err == nil && answer.Status == http.StatusOK && slices.Equal(lines, q.lines) {
					continue
				}
				mu.Lock()
				if wrong++; wrong <= 5 {
					t.Errorf("%s: %d, %v\n%q, the truth is\n%q", q.target, answer.Status, err, lines, q.lines)
				}
				mu.Unlock()
			}
		})
	}
	for _, q := range questions {
		next <- q
	}
	close(next)
	asking.Wait()
	if wrong > 0 {
		t.Errorf("%d of %d answers are not the truth", wrong, len(questions))
	}
	return wrong
}
