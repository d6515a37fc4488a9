package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/simulate"
	"bagtrail/internal/trail"
)

// largeLine measures line 10: a plate, flight, tag range or container that is much larger than usual costs as much as the
// same number of ordinary events, and other questions do not wait for it.
func largeLine(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range []struct {
		what            string
		large, ordinary load10
	}{
		{"a plate with 10,000 events", onePlate(10_000), manyPlates(1000, 667, 15)},
		{"a flight of 5,000 bags of 3 events", oneFlight(5000, 1), oneFlight(5000, 17)},
		{"a 999-tag range", tagRange(999), manyPlates(1000, 999, 1)},
		{"200 bags in one container", container(200, true), container(200, false)},
	} {
		var waits [][]time.Duration // of each run
		p, err := b.alternate(
			func() (float64, error) {
				cost, took, err := c.large.cost(ctx, r)
				waits = append(waits, took)
				return cost, err
			},
			func() (float64, error) { cost, _, err := c.ordinary.cost(ctx, r); return cost, err })
		if err != nil {
			return rows, err
		}
		meanwhile := slices.Concat(waits[1:]...) // the first run is not counted
		worst := percentile(meanwhile, 99)
		rows = append(rows, row{"10", c.what + ", µs an event", fmt.Sprintf("%.1f µs", p.ours.median()), fmt.Sprintf("%.1f µs", p.reference.median()),
			p.ratio(), "≤ 1.5 ×, others p99 ≤ 20 ms", verdictOf(p.ratios().median() <= 1.5 && worst <= 20*time.Millisecond)})
		rows = append(rows, row{"10", "  histories of others meanwhile", fmt.Sprintf("p99 %.1f ms of %d", worst.Seconds()*1000, len(meanwhile)), "–", "–", "", reported})
	}
	return rows, r.empty(ctx)
}

// The other bags of line 10, whose histories are asked for in turn. They are cached once each was asked for.
const (
	firstOther = 900_000 // number of the first plate
	others     = 200
)

// load10 is a load of line 10: messages, the question after they are filed, and the number of events in the answer.
type load10 struct {
	messages []simulate.Message
	ask      func(context.Context, *trail.Reader) error
	events   int
}

// cost files the messages and asks. It returns the time per event in µs, and the latencies of other questions meanwhile.
func (l load10) cost(ctx context.Context, r *redisServer) (perEvent float64, waits []time.Duration, err error) {
	store, err := openStore(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	defer store.Close()
	acceptor := newAcceptor(store)
	if err := process(ctx, acceptor, manyPlates(firstOther, others, 15).messages); err != nil {
		return 0, nil, err
	}
	trails := newTrails(store.Reader())
	waiting, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	var errAsking error
	asking.Go(func() {
		reader := newTrails(store.Reader())
		errAsking = atPace(waiting, 2*time.Millisecond, func(n int, due time.Time) error {
			_, err := reader.History(ctx, bag.Plate(plateOf(firstOther+n%others)))
			waits = append(waits, time.Since(due))
			return err
		})
	})
	began := time.Now()
	if err = process(ctx, acceptor, l.messages); err == nil {
		err = l.ask(ctx, trails)
	}
	took := time.Since(began)
	stop()
	asking.Wait()
	return float64(took.Nanoseconds()) / 1000 / float64(l.events), waits, errors.Join(err, errAsking)
}

// at is the moment of the n-th message.
func at(n int) time.Time { return feedStart.Add(time.Duration(n) * time.Second) }

// pnrOf returns the PNR of the bag with a plate. Each bag is a passenger's of its own, unless it is one of a range.
func pnrOf(plate string) string { return "Q" + plate[len(plate)-5:] }

func bsm(n int, flight, plate string) simulate.Message {
	return simulate.Message{Received: at(n), Plate: plate, Text: "BSM\r\n.V/1LZRH\r\n.F/" + flight + "/01MAR/JFK/Y\r\n.N/" + plate +
		"001\r\n.S/Y/23A/C/051/0051//N/A\r\n.W/K/1/20\r\n.P/1BRUNNER/ANNAMR\r\n.L/" + pnrOf(plate) + "\r\nENDBSM\r\n"}
}

func bpm(n int, flight, plate, loading string) simulate.Message {
	read := at(n).Format("150405") + "Z"
	return simulate.Message{Received: at(n), Plate: plate, Text: "BPM\r\n.V/1LZRH\r\n.J/S/4567/381761/01MAR/" + read + "/ZRHB2/A61\r\n.F/" + flight +
		"/01MAR/JFK/Y\r\n" + loading + ".N/" + plate + "001\r\n.S/Y/23A/C/051/0051//N/A\r\n.W/K/1/20\r\n.P/1BRUNNER/ANNAMR\r\n.L/" + pnrOf(plate) + "\r\nENDBPM\r\n"}
}

func plateOf(i int) string { return fmt.Sprintf("0724%06d", i) }

// askPlates asks for the history of each plate.
func askPlates(first, plates int) func(context.Context, *trail.Reader) error {
	return func(ctx context.Context, trails *trail.Reader) error {
		for i := range plates {
			if _, err := trails.History(ctx, bag.Plate(plateOf(first+i))); err != nil {
				return err
			}
		}
		return nil
	}
}

// onePlate is a bag with so many events.
func onePlate(events int) load10 {
	l := load10{events: events, ask: askPlates(1, 1)}
	for n := range events {
		l.messages = append(l.messages, bpm(n, "LX100", plateOf(1), ""))
	}
	return l
}

// manyPlates are bags with so many events each, on flights of a hundred. first is the number of the first plate.
func manyPlates(first, bags, events int) load10 {
	l := load10{events: bags * events, ask: askPlates(first, bags)}
	for n := range events {
		for i := range bags {
			l.messages = append(l.messages, bpm(n*bags+i, fmt.Sprintf("LX%d", 200+i/100), plateOf(first+i), ""))
		}
	}
	return l
}

// oneFlight are so many bags of three events on so many flights, all of which are asked for.
func oneFlight(bags, flights int) load10 {
	l := load10{events: 3 * bags}
	for i := range bags {
		flight := fmt.Sprintf("LX%d", 300+i%flights)
		l.messages = append(l.messages, bsm(3*i, flight, plateOf(i)), bpm(3*i+1, flight, plateOf(i), ""), bpm(3*i+2, flight, plateOf(i), ".U//3\r\n"))
	}
	l.ask = func(ctx context.Context, trails *trail.Reader) error {
		for f := range flights {
			listed, err := trails.OfFlight(ctx, "ZRH", false, bag.Flight{Airline: "LX", Number: fmt.Sprint(300 + f), Day: bag.DayOf(feedStart)})
			if err != nil {
				return err
			}
			if len(listed) < bags/flights {
				return fmt.Errorf("flight LX%d has %d bags, want %d", 300+f, len(listed), bags/flights)
			}
		}
		return nil
	}
	return l
}

// tagRange is one message for so many tags.
func tagRange(tags int) load10 {
	m := bpm(0, "LX100", plateOf(1000), "")
	m.Text = fmt.Sprintf("BPM\r\n.V/1LZRH\r\n.J/S/4567/381761/01MAR/000000Z/ZRHB2/A61\r\n.F/LX100/01MAR/JFK/Y\r\n.N/%s%03d\r\nENDBPM\r\n", plateOf(1000), tags)
	return load10{messages: []simulate.Message{m}, events: tags, ask: askPlates(1000, tags)}
}

// container are so many bags in one container, which is loaded into the aircraft: by one message, or bag by bag.
func container(bags int, together bool) load10 {
	l := load10{events: 3 * bags}
	for i := range bags {
		l.messages = append(l.messages, bsm(i, "LX400", plateOf(i)), bpm(bags+i, "LX400", plateOf(i), ".U/AKE12345LX\r\n"))
		if !together {
			l.messages = append(l.messages, bpm(2*bags+i, "LX400", plateOf(i), ".U/AKE12345LX/41\r\n"))
		}
	}
	if together {
		m := simulate.Message{Received: at(3 * bags)}
		m.Text = "BPM\r\n.V/1LZRH\r\n.J/R/4567/381761/01MAR/" + at(3*bags).Format("150405") + "Z/ZRHB2/A61\r\n.F/LX400/01MAR/JFK\r\n.U/AKE12345LX/41\r\nENDBPM\r\n"
		l.messages = append(l.messages, m)
	}
	l.ask = func(ctx context.Context, trails *trail.Reader) error {
		listed, err := trails.OfFlight(ctx, "ZRH", false, bag.Flight{Airline: "LX", Number: "400", Day: bag.DayOf(feedStart)})
		if err != nil {
			return err
		}
		for _, each := range listed {
			if each.Leg.Status != bag.OnAircraft {
				return fmt.Errorf("bag %s is %v", each.Bag.Plate, each.Leg.Status)
			}
		}
		if len(listed) != bags {
			return fmt.Errorf("%d bags, want %d", len(listed), bags)
		}
		return nil
	}
	return l
}
