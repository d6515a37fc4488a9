package bag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// looker is a context that notes when it is asked, and says after some looks that nobody waits any
// more.
type looker struct {
	context.Context
	looks []time.Time
	most  int // looks after which it is cancelled; 0 for never
}

func (l *looker) Err() error {
	l.looks = append(l.looks, time.Now())
	if l.most > 0 && len(l.looks) > l.most {
		return context.Canceled
	}
	return nil
}

// tooLong is a time that a fold of the most expensive messages never takes between two looks.
const tooLong = 250 * time.Millisecond

var rules = bag.Rules{Window: 10 * time.Minute, Places: apart{}}

// apart is a world in which no two places have a city in common.
type apart struct{}

func (apart) SamePlace(a, b string) bool { return a == b }
func (apart) Cities(string) []string     { return nil }

// crowd is the messages of a plate that cost most: bags of many passengers, and messages without a
// name that are about each of them.
func crowd(passengers, nameless int) []*bag.Message {
	day := bag.DayIn(2026, time.March, 12)
	flight := bag.Segment{Flight: bag.Flight{Airline: "LX", Number: "100", Day: day}, Carrier: "LX", Airport: "JFK"}
	var all []*bag.Message
	for i := range passengers + nameless {
		at := time.Date(2026, 3, 12, 6, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Millisecond)
		m := &bag.Message{
			Head:     parser.Head{Kind: parser.BPM, Version: parser.Version{Airport: "ZRH"}, Processing: parser.Processing{Present: true, Code: 'S'}},
			Received: at, Happened: at, Order: at, LocalDay: day, Outbound: flight, Raw: fmt.Sprint(i), Text: fmt.Sprint(i),
		}
		if i < passengers {
			m.Kind, m.Processing.Present, m.Source, m.PNR = parser.BSM, false, 'L', fmt.Sprintf("P%05d", i)
			m.Surname = strings.Map(func(r rune) rune { return r - '0' + 'A' }, m.PNR[1:])
		}
		all = append(all, m)
	}
	return all
}

// network is the messages of one bag with many current BSMs, each with as many onward flights as a
// group may have, and of DELs that do not count.
func network(booked, cancelled int) []*bag.Message {
	all := crowd(1, booked+cancelled-1)
	onward := make([]bag.Segment, 99)
	for i := range onward {
		onward[i] = bag.Segment{Flight: bag.Flight{Airline: "LX", Number: fmt.Sprint(200 + i), Day: all[0].LocalDay}, Airport: fmt.Sprintf("O%02d", i)}
	}
	for i, m := range all {
		m.Head, m.Details, m.Outbound.Number = all[0].Head, all[0].Details, fmt.Sprint(1000+i)
		m.Airport, m.Onward = fmt.Sprintf("V%d", i), onward
		if i >= booked {
			m.Change, m.Onward = parser.Delete, nil
		}
	}
	return all
}

func TestAFoldStopsWhenNobodyWaitsForIt(t *testing.T) {
	for name, messages := range map[string][]*bag.Message{
		"one bag":                    crowd(1, 20_000),
		"as many bags as share":      crowd(99, 2000),
		"more bags":                  crowd(2500, 3200),
		"onward flights":             network(60, 0),
		"onward flights and deleted": network(60, 300),
	} {
		var all *looker
		longest := time.Hour
		for tries := 0; tries < 5 && longest > tooLong; tries++ { // a pause of the machine is no fault of the fold
			all = &looker{Context: t.Context()}
			if _, err := rules.Fold(all, "0220000001", slices.Clone(messages), nil); err != nil {
				t.Fatal(err)
			}
			longest = 0
			for i := range all.looks[1:] {
				longest = max(longest, all.looks[i+1].Sub(all.looks[i]))
			}
		}
		t.Logf("%s: %d messages, looked %d times, at most %v apart", name, len(messages), len(all.looks), longest)
		if len(all.looks) < len(messages) || longest > tooLong {
			t.Errorf("%s: looked %d times for %d messages, at most %v apart", name, len(all.looks), len(messages), longest)
		}
		for most := 1; most < len(all.looks); most += 1 + len(all.looks)/5 {
			some := &looker{Context: t.Context(), most: most}
			bags, err := rules.Fold(some, "0220000001", slices.Clone(messages), nil)
			if !errors.Is(err, context.Canceled) || bags != nil {
				t.Errorf("%s, cancelled after %d looks: %d bags, %v", name, most, len(bags), err)
			}
		}
	}
}

// A message that fits no bag of a plate is not about more than 99 of them.
func TestTheEventsOfAPlateAreAtMost99TimesItsMessages(t *testing.T) {
	for _, passengers := range []int{99, 100, 400} {
		messages := crowd(passengers, 100)
		for i := range 50 { // name a passenger who has no new BSM
			messages[passengers+i].Surname = "STRANGER"
		}
		bags, err := rules.Fold(t.Context(), "0220000001", messages, nil)
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		for _, b := range bags {
			events += len(b.Events)
		}
		want := len(messages)
		if passengers <= 99 {
			want = passengers + passengers*100
		}
		if events != want {
			t.Errorf("%d passengers: %d events of %d messages in %d bags, want %d", passengers, events, len(messages), len(bags), want)
		}
	}
}
