package oracle_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/parser"
	"bagtrail/test/journey"
	"bagtrail/test/oracle"
)

var (
	worlds    = flag.Int("worlds", 3000, "how many worlds of journeys to compare")
	firstSeed = flag.Uint64("seed", 1, "seed of the first world")
	limit     = flag.Int("differences", 1, "after how many differences to stop")
)

// compareBag returns the first part in which two bags differ.
func compareBag(service, truth *oracle.Bag) (question, bool) {
	name := func(part string) string {
		return "bag " + truth.Plate + " " + truth.PNR + " " + truth.LastName + ": " + part
	}
	// Events come first, since most other differences follow from them.
	for i := range max(len(service.Events), len(truth.Events)) {
		if i >= len(service.Events) || i >= len(truth.Events) || !reflect.DeepEqual(service.Events[i], truth.Events[i]) {
			return question{name(fmt.Sprintf("event %d", i)), service.Events, truth.Events}, true
		}
	}
	if got, want := living(service), living(truth); !slices.Equal(got, want) {
		return question{name("legs"), service.Legs, truth.Legs}, true
	}
	s, t := *service, bare(truth)
	s.Events, s.Legs = nil, nil
	if !reflect.DeepEqual(s, t) {
		return question{name("fields"), s, t}, true
	}
	return question{}, false
}

func bare(b *oracle.Bag) oracle.Bag {
	return oracle.Bag{Plate: b.Plate, FirstName: b.FirstName, LastName: b.LastName, Pieces: b.Pieces, Weight: b.Weight,
		WeightUnit: b.WeightUnit, PNR: b.PNR, RushTag: b.RushTag, Unknown: b.Unknown, Rush: b.Rush, Cancelled: b.Cancelled}
}

// living returns the living legs as the interface shows them.
func living(b *oracle.Bag) []string {
	var legs []string
	for _, l := range b.Legs {
		if l.Living {
			text, _ := json.Marshal(l)
			legs = append(legs, string(text))
		}
	}
	return legs
}

// The worlds are crowded: their journeys share plates, flights and passengers.
func TestTheServiceAnswersAsTheOracleDoes(t *testing.T) {
	n := *worlds
	if testing.Short() {
		n = min(n, 150)
	}
	differences, asked, empty := 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+uint64(n); seed++ {
		messages := worldOf(seed)
		q, questions := compare(t, messages)
		asked += questions
		if questions == 0 {
			empty++
		}
		if q.name == "" {
			continue
		}
		messages, q = shrink(t, messages, q)
		t.Errorf("seed %d: %s", seed, show(messages, q))
		if differences++; differences >= *limit {
			return
		}
	}
	if asked == 0 || empty > n/4 {
		t.Error("that is not much of a comparison")
	}
	t.Logf("%d worlds, %d of them empty; %d questions, %d differences", n, empty, asked, differences)
}

// worldOf returns the messages of the world of a seed. Every third world is made of journeys.
func worldOf(seed uint64) []oracle.Input {
	if seed%3 == 0 {
		return journeysOf(seed)
	}
	return talkOf(seed)
}

// kindOf returns the kind of a question, without its names and numbers.
func kindOf(q question) string {
	if i := strings.LastIndex(q.name, ": "); i >= 0 {
		return strings.Fields(q.name[i+2:])[0]
	}
	return strings.Fields(q.name)[0]
}

// shrink removes messages one by one while a difference of the kind of q remains.
func shrink(t *testing.T, messages []oracle.Input, q question) ([]oracle.Input, question) {
	for again := true; again; {
		again = false
		for i := range slices.Backward(messages) {
			fewer := slices.Delete(slices.Clone(messages), i, i+1)
			if smaller, _ := compare(t, fewer); smaller.name != "" && kindOf(smaller) == kindOf(q) {
				messages, q, again = fewer, smaller, true
			}
		}
	}
	return messages, q
}

func show(messages []oracle.Input, q question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", q.name)
	for _, m := range messages {
		text := m.Text
		if !m.Report {
			var read parser.Message
			read.Parse(m.Text, library)
			text = read.Canonical()
		}
		fmt.Fprintf(&b, "  %s  %s\n", m.Received.Format(time.RFC3339Nano), strings.ReplaceAll(text, "\n", "  "))
	}
	service, truth := lines(q.service), lines(q.truth)
	for i := range max(len(service), len(truth)) {
		s, o := "", ""
		if i < len(service) {
			s = service[i]
		}
		if i < len(truth) {
			o = truth[i]
		}
		if s != o {
			fmt.Fprintf(&b, "  service %s\n  oracle  %s\n", s, o)
		}
	}
	return b.String()
}

// lines formats the elements of an answer, one in each line.
func lines(v any) []string {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
		var all []string
		for i := range r.Len() {
			text, _ := json.Marshal(r.Index(i).Interface())
			all = append(all, string(text))
		}
		return all
	}
	text, _ := json.Marshal(v)
	return []string{string(text)}
}

func TestMalformedMessagesOfJourneysHaveTheCodesThatTheyName(t *testing.T) {
	for seed := uint64(1); seed <= 300; seed++ {
		opt := journey.Crowded(journey.Awkward()[0], 3)
		opt.Malformed, opt.Statuses = 30, statuses
		for _, m := range journey.Make(seed, opt) {
			if m.Report {
				continue
			}
			var parsed parser.Message
			parsed.Parse(m.Text, library)
			var codes []int
			for _, e := range parsed.Errors {
				codes = append(codes, int(e.Code))
			}
			if !slices.Equal(codes, m.Rejects) {
				t.Fatalf("seed %d: codes %v, want %v:\n%s", seed, codes, m.Rejects, m.Text)
			}
		}
	}
}
