package oracle_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bagtrail/test/oracle"
)

// answers are the questions that the oracle and the service answer.
type answers interface {
	Bags(plate string) []*oracle.Bag
	OfFlight(airport string, arriving bool, airline, number, date string) []oracle.FlightEntry
	OfPassenger(pnr, date string) []oracle.PassengerEntry
	History(plate, date, pnr, surname string) []*oracle.Bag
}

// rule is a sentence of the rules, with a small world in which it matters and the answers there,
// written by hand.
//
// World has one line for each message: the time at which it was received on 20 June 2026 (or on
// another day of June: 21/10:00), its position if it has one (@offset or @partition:offset), and
// its elements. In them ~ is a blank, #A the plate A, +A the plate A with a count of one. The end
// line is added. REPORT ZRH A is a delayed-bag report of station ZRH.
//
// Each want is a question and its answer. Several bags of a plate are separated by bars.
type rule struct {
	sentence string
	world    string
	want     []string
}

// plates are the plates in worlds of rules, by letter. R is a rush plate.
var plates = map[string]string{
	"A": "0220123456", "B": "0220123457", "C": "0220123458", "D": "0724123456", "R": "2220123456",
}

// worldOfRule returns the messages of a rule's world.
func worldOfRule(t testing.TB, text string) []oracle.Input {
	t.Helper()
	var pairs []string
	for letter, plate := range plates {
		pairs = append(pairs, "+"+letter, plate+"001", "#"+letter, plate)
	}
	names := strings.NewReplacer(append(pairs, "~", " ")...)
	var inputs []oracle.Input
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		in := oracle.Input{Received: receivedAt(t, words[0])}
		words = words[1:]
		if at, positioned := strings.CutPrefix(words[0], "@"); positioned {
			in.Position = positionAt(t, at)
			words = words[1:]
		}
		if words[0] == "REPORT" {
			in.Report = true
			in.Text = fmt.Sprintf(`{"record_reference":"%sLX%05d","station":%q,"bags":[%q]}`, words[1], 10001+len(inputs), words[1], plates[words[2]])
		} else {
			identifier := words[slices.IndexFunc(words, func(w string) bool { return w == "BSM" || w == "BPM" })]
			in.Text = names.Replace(strings.Join(append(words, "END"+identifier), "\n"))
		}
		inputs = append(inputs, in)
	}
	return inputs
}

func receivedAt(t testing.TB, text string) time.Time {
	t.Helper()
	day, clock, dated := strings.Cut(text, "/")
	if !dated {
		day, clock = "20", text
	}
	for _, layout := range []string{"02 15:04", "02 15:04:05"} {
		if at, err := time.Parse(layout, day+" "+clock); err == nil {
			return at.AddDate(2026, 5, 0)
		}
	}
	t.Fatalf("no time: %q", text)
	return time.Time{}
}

func positionAt(t testing.TB, text string) *oracle.Position {
	t.Helper()
	partition, offset, found := strings.Cut(text, ":")
	if !found {
		partition, offset = "0", text
	}
	p, err := strconv.Atoi(partition)
	o, err2 := strconv.ParseInt(offset, 10, 64)
	if err != nil || err2 != nil {
		t.Fatalf("no position: %q", text)
	}
	return &oracle.Position{Partition: p, Offset: o}
}

// answerTo returns the answer to a rule's question.
func answerTo(t testing.TB, a answers, question string) string {
	t.Helper()
	words := strings.Fields(question)
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch words[0] {
	case "D", "A":
		airline, number := arg(2)[:2], arg(2)[2:]
		if number[0] > '9' {
			airline, number = arg(2)[:3], arg(2)[3:]
		}
		var list []string
		for _, e := range a.OfFlight(arg(1), words[0] == "A", airline, number, dayIn(arg(3))) {
			list = append(list, strings.TrimSpace(letterOf(e.Plate)+" "+e.Status+" "+e.Seat))
		}
		return joined(list, ", ")
	case "pnr":
		var list []string
		for _, e := range a.OfPassenger(arg(1), dayIn(arg(2))) {
			list = append(list, letterOf(e.Plate))
		}
		return joined(list, ", ")
	case "rushtag":
		for _, e := range a.OfPassenger(arg(2), dayIn(arg(3))) {
			if e.Plate == plates[arg(1)] {
				return letterOf(e.RushTag)
			}
		}
		return "no bag"
	case "history":
		var list []string
		for _, b := range a.History(plates[arg(1)], dayIn(arg(2)), strings.TrimPrefix(arg(3), "pnr="), strings.TrimPrefix(arg(4), "name=")) {
			list = append(list, b.PNR+"/"+b.LastName)
		}
		return joined(list, " | ")
	}
	var list []string
	for _, b := range a.Bags(plates[arg(1)]) {
		list = append(list, partOf(t, b, words[0]))
	}
	return joined(list, " | ")
}

// partOf formats one part of a bag.
func partOf(t testing.TB, b *oracle.Bag, part string) string {
	t.Helper()
	each := func(of func(e oracle.Event) string) string {
		var list []string
		for _, e := range b.Events {
			if s := of(e); s != "" {
				list = append(list, s)
			}
		}
		return joined(list, " ")
	}
	legs := func(living bool) string {
		var list []string
		for _, l := range b.Legs {
			if l.Living == living {
				list = append(list, strings.TrimSpace(shortFlight(l.Airline, l.Number, l.Date)+" "+cmp.Or(l.From, "?")+"-"+l.To+" "+l.Status))
			}
		}
		return joined(list, ", ")
	}
	switch part {
	case "events":
		return each(func(e oracle.Event) string { return e.Code })
	case "times":
		return each(func(e oracle.Event) string { return e.UTC[len("2026-06-20T") : len(e.UTC)-1] })
	case "compartments":
		return each(func(e oracle.Event) string { return cmp.Or(e.Compartment, "-") })
	case "loading":
		return each(func(e oracle.Event) string {
			if e.Loading == nil {
				return "-"
			}
			return shortFlight(e.Loading.Airline, e.Loading.Number, e.Loading.Date)
		})
	case "reflighted":
		return each(func(e oracle.Event) string {
			if e.Code != "REFLIGHTED" {
				return ""
			}
			if e.Reflighted == nil {
				return "-"
			}
			return letterOf(e.Reflighted.Plate) + ":" + shortFlight(e.Reflighted.Airline, e.Reflighted.Number, e.Reflighted.Date)
		})
	case "legs":
		return legs(true)
	case "others":
		return legs(false)
	case "bag":
		about := b.PNR + "/" + b.LastName
		for _, flag := range []struct {
			is   bool
			name string
		}{{b.Unknown, "unknown"}, {b.Rush, "rush"}, {b.Cancelled, "cancelled"}} {
			if flag.is {
				about += " " + flag.name
			}
		}
		return about
	case "given":
		return b.FirstName
	}
	t.Fatalf("no part %q", part)
	return ""
}

// shortFlight formats a flight, without the date if it is 20 June.
func shortFlight(airline, number, date string) string {
	if date != "" && date != "2026-06-20" {
		number += "/" + date[len(date)-2:]
	}
	return airline + number
}

func letterOf(plate string) string {
	for letter, p := range plates {
		if p == plate {
			return letter
		}
	}
	return cmp.Or(plate, "none")
}

func dayIn(day string) string { return "2026-06-" + cmp.Or(day, "20") }

func joined(list []string, by string) string { return cmp.Or(strings.Join(list, by), "none") }

// Oracle and service must both give the answers.
func TestOracleAndServiceGiveTheAnswersWrittenByHand(t *testing.T) {
	set := settings
	set.Departed = func(f oracle.Flight, _ string) bool { return f.Number[0] == '9' }
	seen := map[string]bool{}
	for _, r := range slices.Concat(orderRules, deletionRules, copyRules, arrivalRules, libraryRules, legRules, nameRules,
		fieldRules, delayRules, rushRules, listRules, containerRules, identityRules) {
		if seen[r.sentence] {
			t.Fatalf("two rules are named %q", r.sentence)
		}
		seen[r.sentence] = true
		t.Run(r.sentence, func(t *testing.T) {
			inputs := worldOfRule(t, r.world)
			for _, by := range []struct {
				name string
				answers
			}{{"oracle", oracle.New(inputs, set)}, {"service", newWorld(t, inputs, set)}} {
				for _, want := range r.want {
					question, answer, _ := strings.Cut(want, ": ")
					if got := answerTo(t, by.answers, question); got != answer {
						t.Errorf("%s: %s: got %q, want %q", by.name, question, got, answer)
					}
				}
			}
		})
	}
}
