package simulate_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/simulate"
	"bagtrail/test/race"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// all generates a feed. It returns a digest of its messages and truth, and counts.
func all(t *testing.T, opt simulate.Options) (digest string, messages, bags, bytes int) {
	t.Helper()
	hash := sha256.New()
	feed := simulate.Generate(opt, func(b simulate.Bag) {
		bags++
		if err := json.NewEncoder(hash).Encode(b); err != nil {
			t.Error(err)
		}
	})
	for m := range feed {
		messages++
		bytes += len(m.Text)
		fmt.Fprintln(hash, m.Text, m.Received, m.Plate, m.Code)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), messages, bags, bytes
}

func TestTheSameOptionsGiveTheSameBytes(t *testing.T) {
	opt := simulate.Options{Seed: 1, Start: start, Bags: race.Less(3000, 500), Faults: simulate.DefaultFaults()}
	first, messages, bags, bytes := all(t, opt)
	second, _, _, _ := all(t, opt)
	if first != second {
		t.Errorf("two runs differ: %s, %s", first, second)
	}
	opt.Seed++
	if third, _, _, _ := all(t, opt); third == first {
		t.Error("another seed gives the same bytes")
	}
	opt.Seed, opt.Start = 1, start.Add(time.Hour)
	if third, _, _, _ := all(t, opt); third == first {
		t.Error("another start gives the same bytes")
	}
	if perBag := float64(messages) / float64(bags); perBag < 13 || perBag > 17 {
		t.Errorf("%.1f messages a bag, want some 15", perBag)
	}
	if mean := bytes / messages; mean < 200 || mean > 320 {
		t.Errorf("%d bytes a message, want 200 to 320", mean)
	}
	t.Logf("%d messages of %d bags, %.1f a bag, %d bytes each", messages, bags, float64(messages)/float64(bags), bytes/messages)
}

func TestWithoutFaultsOfOrderTheFeedIsInTheOrderOfReceivedTimes(t *testing.T) {
	race.SkipOneGoroutine(t)
	faults := simulate.DefaultFaults()
	faults.OutOfOrder = 0
	feed := simulate.Generate(simulate.Options{Start: start, Bags: 2000, Faults: faults}, nil)
	last := time.Time{}
	for m := range feed {
		if m.Received.Before(last) {
			t.Fatalf("received at %v after %v", m.Received, last)
		}
		last = m.Received
	}
}

// The lists of faults make the longest journeys.
func TestEveryJourneyIsOverBeforeNow(t *testing.T) {
	for _, list := range []string{"", "all=16", "none,rush=100,late=100", "none,rerouted=100,duplicated=50", "none,offloaded=100,late=100,duplicated=100"} {
		faults, err := simulate.ParseFaults(list)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(race.Less(3, 1)) {
			opt := simulate.Options{Seed: seed, Bags: 200, Interval: time.Duration(seed) * 3 * time.Minute, Faults: faults}
			opt.Start = opt.StartBefore(start)
			feed := simulate.Generate(opt, nil)
			for m := range feed {
				if m.Received.After(start) {
					t.Fatalf("faults %q, seed %d: a message of %v", list, seed, m.Received)
				}
			}
		}
	}
}

func TestEachFaultAloneHasItsEffectAndNoOther(t *testing.T) {
	race.SkipOneGoroutine(t)
	trace := func(faults string) []string {
		f, err := simulate.ParseFaults(faults)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		note := func(what string, when bool) {
			if when && !slices.Contains(found, what) {
				found = append(found, what)
			}
		}
		feed := simulate.Generate(simulate.Options{Start: start, Bags: 300, Faults: f}, func(b simulate.Bag) {
			note("rush", b.Rush)
			note("unknown", b.Unknown)
			note("cancelled", b.Cancelled)
			note("rerouted", slices.Contains(b.Events, "REROUTED") && !slices.Contains(b.Events, "OFFLOADED"))
			note("offloaded", slices.Contains(b.Events, "OFFLOADED") && b.RushTag == "")
		})
		airports := airport.New()
		judge := ingestor.NewJudge(airports, enricher.New(airports))
		var last time.Time
		sent := map[string]bool{} // texts with blanks for line ends
		for m := range feed {
			note("malformed", m.Code != "")
			note("out-of-order", m.Received.Before(last))
			last = m.Received
			text := strings.Join(strings.FieldsFunc(m.Text, func(c rune) bool { return c == '\r' || c == '\n' }), " ")
			note("duplicated", sent[text])
			happened := judge.Judge(ingestor.Envelope{Raw: m.Text, Received: m.Received}).Happened
			note("late", !happened.IsZero() && !sent[text] && m.Received.Sub(happened) > 2*time.Minute)
			sent[text] = true
		}
		return found
	}
	if found := trace("none"); found != nil {
		t.Errorf("without faults there are %v", found)
	}
	for _, fault := range []string{"late", "duplicated", "out-of-order", "malformed", "rerouted", "rush", "offloaded", "unknown", "cancelled"} {
		if found := trace("none," + fault + "=20"); !slices.Equal(found, []string{fault}) {
			t.Errorf("with %s there are %v", fault, found)
		}
	}
}

func TestFaultsAreReadFromLeftToRight(t *testing.T) {
	ordinary := simulate.DefaultFaults()
	ordinary.Malformed, ordinary.OutOfOrder = 3, 0.5
	for list, want := range map[string]simulate.Faults{
		"":                             simulate.DefaultFaults(),
		"none":                         {},
		"none, rush=5":                 {Rush: 5},
		"rush=5,none":                  {},
		"none,late=0.25,late=1":        {Late: 1},
		"malformed=3,out-of-order=0.5": ordinary,
		"all=4":                        {4, 4, 4, 4, 4, 4, 4, 4, 4},
	} {
		if got, err := simulate.ParseFaults(list); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", list, got, err, want)
		}
	}
	for _, list := range []string{"rush", "rush=", "none=", "=", "rush=x", "rush=-1", "rush=101", "thunder=1", "all=20.1", "rush=NaN"} {
		if got, err := simulate.ParseFaults(list); err == nil {
			t.Errorf("%q: %v, want an error", list, got)
		}
	}
}

func TestEveryFaultOfTheOptionsIsReported(t *testing.T) {
	err := simulate.Options{Bags: -1, Interval: -1, Faults: simulate.Faults{Late: 101}}.Validate()
	if err == nil {
		t.Fatal("want an error")
	}
	if lines := 1 + strings.Count(err.Error(), "\n"); lines != 4 {
		t.Errorf("%d faults, want 4: %v", lines, err)
	}
}
