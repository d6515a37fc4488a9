package simulate_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/simulate"
	"bagtrail/internal/trail"
	"bagtrail/internal/trail/memory"
	"bagtrail/parser"
	"bagtrail/test/race"
)

var airlines = airline.New()

// The days are hard ones: one with many faults, New Year, the nights on which Europe changes its
// clocks, and 29 February. On the last one the bags come far apart.
func TestTheTruthIsWhatTheServiceAnswers(t *testing.T) {
	for _, tc := range []struct {
		start    string
		interval time.Duration
	}{
		{"2026-03-01T00:00:00Z", 40 * time.Second}, {"2026-12-31T10:00:00Z", 40 * time.Second}, {"2026-03-28T12:00:00Z", 40 * time.Second},
		{"2026-10-24T12:00:00Z", 40 * time.Second}, {"2028-02-28T12:00:00Z", 40 * time.Second}, {"2026-06-01T00:00:00Z", time.Hour},
	} {
		t.Run(tc.start[:10], func(t *testing.T) {
			faults, err := simulate.ParseFaults("all=8")
			if err != nil {
				t.Fatal(err)
			}
			begin, err := time.Parse(time.RFC3339, tc.start)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, simulate.Options{Seed: 7, Start: begin, Bags: race.Less(1000, 200), Faults: faults, Interval: tc.interval})
		})
	}
}

func compare(t *testing.T, opt simulate.Options) {
	var truth []simulate.Bag
	messages := simulate.Generate(opt, func(b simulate.Bag) { truth = append(truth, b) })
	reader := read(t, messages)
	if len(truth) < opt.Bags {
		t.Fatalf("truth of %d bags, want %d and more", len(truth), opt.Bags)
	}
	onFlight := map[string][]string{}    // question → plates
	ofPassenger := map[string][]string{} // question → plates, each with its rush tag
	wrong := 0
	for _, want := range truth {
		bags, err := reader.OfPlates(context.Background(), []bag.Plate{bag.Plate(want.Plate)})
		if err != nil || len(bags) != 1 {
			t.Fatalf("%s: %d bags, %v", want.Plate, len(bags), err)
		}
		if got := answer(bags[0]); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", flat(want)) {
			t.Errorf("the service says\n%+v, the truth is\n%+v", got, flat(want))
			if wrong++; wrong == 10 {
				t.Fatal("there may be more")
			}
		}
		days := map[string]bool{}
		for _, leg := range want.Legs {
			onFlight[leg.Flight+" "+leg.Date+" "+leg.From+" D"] = append(onFlight[leg.Flight+" "+leg.Date+" "+leg.From+" D"], want.Plate)
			onFlight[leg.Flight+" "+leg.Date+" "+leg.To+" A"] = append(onFlight[leg.Flight+" "+leg.Date+" "+leg.To+" A"], want.Plate)
			days[leg.Date] = true
		}
		for day := range days {
			if want.PNR != "" {
				ofPassenger[want.PNR+" "+day] = append(ofPassenger[want.PNR+" "+day], want.Plate+" "+want.RushTag)
			}
		}
	}
	for question, plates := range onFlight {
		slices.Sort(plates)
		if got := flightPlates(t, reader, question); !slices.Equal(got, plates) {
			t.Errorf("flight %s: the service lists %v, the truth is %v", question, got, plates)
		}
	}
	for question, plates := range ofPassenger {
		slices.Sort(plates)
		pnr, day, _ := strings.Cut(question, " ")
		bags, err := reader.OfPassenger(context.Background(), pnr, parseDay(t, day))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range bags {
			tag := ""
			if b.RushTag != nil {
				tag = string(b.RushTag.Plate)
			}
			got = append(got, string(b.Plate)+" "+tag)
		}
		if !slices.Equal(got, plates) {
			t.Errorf("passenger %s: the service lists %v, the truth is %v", question, got, plates)
		}
	}
}

// read files every message, and checks that malformed messages, and no others, are rejected.
func read(t *testing.T, messages func(func(simulate.Message) bool)) *trail.Reader {
	airports := airport.New()
	enr, index := enricher.New(airports), memory.New()
	var m parser.Message
	for sent := range messages {
		m.Parse(sent.Text, airports)
		code := ""
		if len(m.Errors) > 0 {
			code = m.Errors[0].Code.String()
		}
		if code != sent.Code || len(m.Errors) > 1 {
			t.Fatalf("rejected with %v, want %q:\n%s", m.Errors, sent.Code, sent.Text)
		}
		if len(m.Warnings) > 0 {
			t.Fatalf("warned: %v\n%s", m.Warnings, sent.Text)
		}
		if code != "" {
			continue
		}
		if _, err := index.File(context.Background(), []bag.Filing{enr.Filing(&m, sent.Text, sent.Received)}); err != nil {
			t.Fatal(err)
		}
	}
	return trail.New(index, enr, trail.Settings{Window: 10 * time.Minute, Airports: airports, Now: time.Now})
}

// facts are the members that the truth and an answer have in common. Legs are sorted, since the
// service lists them by day, and a bag that crosses the date line travels back to the day before.
type facts struct {
	Plate, PNR, Surname, Reflights string
	Unknown, Rush, Cancelled       bool
	Legs, Events                   []string
}

func flat(b simulate.Bag) facts {
	f := facts{b.Plate, b.PNR, b.Surname, "", b.Unknown, b.Rush, b.Cancelled, nil, b.Events}
	if r := b.Reflights; r != nil {
		f.Reflights = r.Plate + " " + r.Flight + " " + r.Date
	}
	for _, l := range b.Legs {
		f.Legs = append(f.Legs, fmt.Sprint(l))
	}
	slices.Sort(f.Legs)
	return f
}

func answer(b *bag.Bag) facts {
	f := facts{string(b.Plate), b.PNR, b.Surname, "", b.Unknown, b.Rush, b.Cancelled, nil, nil}
	for _, r := range b.Reflighted {
		f.Reflights = string(r.Plate) + " " + r.Carrier + r.Flight.Number + " " + r.Flight.Day.String()
	}
	for _, l := range b.Legs {
		if l.Living {
			f.Legs = append(f.Legs, fmt.Sprint(simulate.Leg{Flight: l.Carrier + l.Number, Date: l.Day.String(), From: l.From, To: l.To, Status: l.Status.String()}))
		}
	}
	slices.Sort(f.Legs)
	for _, e := range b.Events {
		f.Events = append(f.Events, e.Code)
	}
	return f
}

func flightPlates(t *testing.T, reader *trail.Reader, question string) []string {
	part := strings.Fields(question)
	code, number := simulate.Leg{Flight: part[0]}.Designator()
	f := bag.Flight{Airline: airlines.Code(code), Number: number, Day: parseDay(t, part[1])}
	listed, err := reader.OfFlight(context.Background(), part[2], part[3] == "A", f)
	if err != nil {
		t.Fatal(err)
	}
	var plates []string
	for _, l := range listed {
		plates = append(plates, string(l.Bag.Plate))
	}
	slices.SortFunc(plates, cmp.Compare)
	return plates
}

func parseDay(t *testing.T, s string) bag.Day {
	day, err := bag.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return day
}
