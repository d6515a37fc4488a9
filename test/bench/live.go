package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"bagtrail/ingestor"
	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/bag"
	"bagtrail/internal/pause"
	"bagtrail/internal/simulate"
)

// What streams in, and what is asked, while lines 5 to 7 are measured.
const (
	streamRate  = 5000 // messages a second
	queryRate   = 50   // queries a second, of mixed kinds
	connections = 8
	flightBags  = 300
	liveStreams = 200 // of changes, each of one flight
)

// liveLine measures lines 5, 6, 7 and 12: bagtrail under the load of a day, first as one serve process, then as an ingest and an api
// process, then with streams of changes.
func liveLine(ctx context.Context, b *bench) ([]row, error) {
	seconds := 10 + b.size(50)
	messages, truth := feed(30_000 + seconds*streamRate/15)
	var rows []row
	for _, c := range []struct {
		streams  int
		commands []string
	}{{0, []string{"serve"}}, {0, []string{"ingest", "api"}}, {liveStreams, []string{"ingest", "api"}}} {
		some, err := b.liveRows(ctx, messages, seconds*streamRate, truth, c.streams, c.commands...)
		rows = append(rows, some...)
		if err != nil {
			return rows, fmt.Errorf("%s with %d streams: %w", strings.Join(c.commands, " and "), c.streams, err)
		}
	}
	return rows, nil
}

// liveRows fills an empty index with all but the last streamed messages, and measures while these stream in and so many streams are open.
func (b *bench) liveRows(ctx context.Context, messages []simulate.Message, streamed int, truth []simulate.Bag, streams int, commands ...string) ([]row, error) {
	stored := len(messages) - streamed
	l, err := b.openLive(ctx, []string{fmt.Sprint("BAGTRAIL_HTTP_STREAMS=", liveStreams)}, commands...)
	if err != nil {
		return nil, err
	}
	defer l.close()
	if streams > 0 {
		l.name += fmt.Sprintf(", %d streams", streams)
	}

	b.say("line 5, %s: %s messages go in as fast as they can", l.name, thousands(float64(stored)))
	profiles := b.profileOf(l.ingest, "fill "+l.name)
	rate, err := l.fill(ctx, messages[:stored])
	if err := errors.Join(err, profiles(), l.awaitTold(ctx)); err != nil {
		return nil, err
	}
	l.choose(messages[:stored], truth)
	b.say("line 5, %s: %d flights of %d–%d bags; %d messages a second for %d s", l.name, len(l.flights), l.smallest, l.largest, streamRate, streamed/streamRate)
	flights := streamedFlights(messages[stored:], truth)
	s, err := l.listen(ctx, streams, func(i int) string { return flights[i*len(flights)/streams] })
	if err != nil {
		return nil, err
	}
	profiles = b.profileOf(l.api, "live "+l.name)
	err = l.run(ctx, inTurn(messages[stored:]))
	if err := errors.Join(err, s.close(), profiles()); err != nil {
		return nil, err
	}
	trips, err := tripsRow(ctx, b.redis, l.most, l.fewest)
	if err != nil {
		return nil, err
	}
	rows := slices.Insert(l.rows(), 2, trips)
	memory, err := l.memoryRows(rate)
	if err != nil {
		return nil, err
	}
	rows = append(rows, memory...)
	if streams > 0 {
		rows = append(rows, row{"5", "  changes/s that the streams tell", thousands(float64(s.changes) * streamRate / float64(streamed)), "–", "–", "reported", reported})
	}
	return rows, nil
}

// openLive starts a process for each command, serve or ingest and api, with an empty index, topics of their own, and env
// added to their environment.
func (b *bench) openLive(ctx context.Context, env []string, commands ...string) (*live, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	k, err := b.needKafka(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.empty(ctx); err != nil {
		return nil, err
	}
	topics := kafkadoor.Topics{Raw: k.name("live"), Rejects: k.name("live-rejected")}
	l := &live{name: strings.Join(commands, " and "), redis: r, kafka: k, marks: topics.Raw + ".marks"}
	if l.door, l.closeDoor, err = openDoor(ctx, k.brokers, "unused", topics); err != nil {
		return nil, err
	}
	group := k.name("live")
	for _, command := range commands {
		p, err := b.launch(command, r, k, topics, group, env...)
		if err != nil {
			l.close()
			return nil, err
		}
		l.processes = append(l.processes, p)
	}
	l.ingest, l.api = l.processes[0], l.processes[len(l.processes)-1]
	return l, nil
}

func (l *live) close() {
	for _, p := range l.processes {
		p.end()
	}
	l.closeDoor()
}

// live is bagtrail under load, with what is asked of it and how long the answers took.
type live struct {
	name        string // its commands
	door        *kafkadoor.Door
	closeDoor   func()
	redis       *redisServer
	kafka       *kafkaServer
	marks       string // the topic of marks
	processes   []*bagtrail
	ingest, api *bagtrail // the processes that file and that answer; serve is both

	flights, histories, passengers [][]byte // requests
	smallest, largest              int      // bags of the flights
	most, fewest                   simulate.Leg

	mu       sync.Mutex
	took     map[string][]time.Duration // by kind of query
	refused  map[string]int
	visible  []time.Duration
	streamed float64 // messages a second that were sent
}

// fill sends messages as fast as the broker takes them, and waits until all of them are decided on.
func (l *live) fill(ctx context.Context, messages []simulate.Message) (rate float64, err error) {
	before, err := l.decided()
	if err != nil {
		before = 0 // nothing is counted yet
	}
	began := time.Now()
	if err := produce(ctx, l.door, messages); err != nil {
		return 0, err
	}
	err = l.awaitDecided(ctx, before+float64(len(messages)))
	return float64(len(messages)) / time.Since(began).Seconds(), err
}

// awaitDecided waits until so many messages are decided on.
func (l *live) awaitDecided(ctx context.Context, want float64) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		now, err := l.decided()
		if err == nil && now >= want {
			return nil
		}
		if pause.For(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("%.0f of %.0f messages are decided on: %w", now, want, ctx.Err())
		}
	}
}

func (l *live) decided() (float64, error) { return l.ingest.metric("bagtrail_messages_total") }

// choose picks what is asked for: flights of about 300 bags all of which are stored, and bags and passengers on the way.
func (l *live) choose(messages []simulate.Message, truth []simulate.Bag) {
	known := map[string]bool{}
	for _, m := range messages {
		known[m.Plate] = true
	}
	bags, legs := map[string]int{}, map[string]simulate.Leg{}
	for _, t := range truth {
		if !known[t.Plate] || len(t.Legs) == 0 {
			continue
		}
		l.histories = append(l.histories, get(historyPath(t)))
		if t.PNR != "" {
			l.passengers = append(l.passengers, get("/baggage/bagsforpassenger/v1.0/pnr/"+t.PNR+"/dep_flight_date/"+t.Legs[0].Date))
		}
		for _, leg := range t.Legs {
			bags[flightPath(leg)]++
			legs[flightPath(leg)] = leg
		}
	}
	paths := slices.Sorted(maps.Keys(bags))
	l.most = legs[slices.MaxFunc(paths, func(a, b string) int { return cmp.Compare(bags[a], bags[b]) })]
	l.fewest = legs[slices.MinFunc(paths, func(a, b string) int { return cmp.Compare(bags[a], bags[b]) })]
	distance := func(path string) int { return max(bags[path]-flightBags, flightBags-bags[path]) }
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), strings.Compare(a, b))
	})
	l.smallest = flightBags
	for _, path := range paths[:min(10, len(paths))] {
		l.flights = append(l.flights, get(path))
		l.smallest, l.largest = min(l.smallest, bags[path]), max(l.largest, bags[path])
	}
}

func flightPath(leg simulate.Leg) string {
	airline, number := leg.Designator()
	return "/baggage/bagsforflight/v1.0/airport_code/" + leg.From + "/arr_dep_indicator/D/airline_code/" + airline +
		"/flight_no/" + number + "/dep_flight_date/" + leg.Date
}

// run streams messages at their rate, and asks while they stream. next returns up to n more messages, none at the end.
func (l *live) run(ctx context.Context, next func(n int) []simulate.Message) error {
	l.took, l.refused = map[string][]time.Duration{}, map[string]int{}
	runtime.GC() // of all messages in memory, which is not to happen while the service is timed
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var asking sync.WaitGroup
	errs := make([]error, 2)
	asking.Go(func() { errs[0] = l.ask(ctx) })
	asking.Go(func() { errs[1] = l.probe(ctx) })
	err := l.stream(ctx, next)
	cancel()
	asking.Wait()
	return errors.Join(append(errs, err)...)
}

func (l *live) stream(ctx context.Context, next func(n int) []simulate.Message) error {
	sink := simulate.ToLog(l.door)
	began := time.Now()
	sent := 0
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		if due := int(time.Since(began).Seconds()*streamRate) - sent; due > 0 {
			some := next(due)
			if len(some) == 0 {
				break
			}
			if err := sink(ctx, some); err != nil {
				return err
			}
			sent += len(some)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	l.streamed = float64(sent) / time.Since(began).Seconds()
	return nil
}

// query is one request, with the moment at which it should be sent.
type query struct {
	kind    string
	request []byte
	due     time.Time
}

// ask sends queries at their rate over 8 connections. A query that has to wait for a connection waits at its own cost.
func (l *live) ask(ctx context.Context) error {
	waiting := make(chan query, 1000)
	errs := make([]error, connections)
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() { errs[i] = l.answer(waiting) })
	}
	const every = time.Second / queryRate
	moment := rand.New(rand.NewPCG(feedSeed, 0)) // within its turn, so that queries and messages do not keep step
	began := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		due := began.Add(time.Duration(n)*every + time.Duration(moment.Int64N(int64(every))))
		sleepUntil(due)
		switch n % 5 {
		case 0:
			waiting <- query{"flight", l.flights[0], due}
		case 2:
			waiting <- query{"flights", l.flights[n/5%len(l.flights)], due}
		case 1, 3:
			waiting <- query{"history", l.histories[n*7919%len(l.histories)], due}
		default:
			waiting <- query{"passenger", l.passengers[n*7919%len(l.passengers)], due}
		}
	}
	close(waiting)
	wg.Wait()
	return errors.Join(errs...)
}

// sleepUntil waits for a moment. Timers of Go may be a millisecond late in an idle program, which would count as latency.
func sleepUntil(moment time.Time) {
	for left := time.Until(moment); left > 0; left = time.Until(moment) { // a signal ends a sleep before its time
		ts := syscall.NsecToTimespec(int64(left))
		syscall.Nanosleep(&ts, nil)
	}
}

func (l *live) answer(waiting <-chan query) error {
	c, err := dial(l.api.http)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for q := range waiting {
		status, err := c.do(q.request, nil)
		if err != nil {
			return err
		}
		l.mu.Lock()
		if status != http.StatusOK {
			l.refused[q.kind]++
		}
		l.took[q.kind] = append(l.took[q.kind], time.Since(q.due))
		l.mu.Unlock()
	}
	return nil
}

// probe produces a message about a new plate ten times a second, and asks for the plate until it is answered. A message that
// waits for the one before it waits at its own cost.
func (l *live) probe(ctx context.Context) error {
	c, err := dial(l.api.http)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	return atPace(ctx, 100*time.Millisecond, func(n int, due time.Time) error {
		plate := fmt.Sprintf("9999%06d", n)
		text := "BSM\r\n.V/1LZRH\r\n.F/LX9998/01MAR/JFK/Y\r\n.N/" + plate + "001\r\n.P/1PROBE/ANNA\r\n.L/PROBE1\r\nENDBSM\r\n"
		request := get("/baggage/history/v1.0/tag/" + plate + "/flightdate/2026-03-01")
		if err := l.door.Append(ctx, []ingestor.Record{{Raw: text, Received: feedStart, Plate: bag.Plate(plate)}}); err != nil {
			return err
		}
		for there := false; !there && ctx.Err() == nil; {
			if _, err := c.do(request, func(body []byte) { there = strings.HasPrefix(string(body), `{"success":true`) }); err != nil {
				return err
			}
			if there {
				l.mu.Lock()
				l.visible = append(l.visible, time.Since(due))
				l.mu.Unlock()
			} else {
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	})
}

// rows are the lines of the table.
func (l *live) rows() []row {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
	within := func(took []time.Duration, p50, p99 time.Duration, refused int) verdict {
		return verdictOf(refused == 0 && percentile(took, 50) <= p50 && percentile(took, 99) <= p99)
	}
	both := func(took []time.Duration, refused int) string {
		text := fmt.Sprintf("p50 %s, p99 %s of %d", ms(percentile(took, 50)), ms(percentile(took, 99)), len(took))
		if refused > 0 {
			text += fmt.Sprintf(", %d refused", refused)
		}
		return text
	}
	flight, flights, passengers := l.took["flight"], l.took["flights"], l.took["passenger"]
	return []row{
		{"5", fmt.Sprintf("%s: bags of one flight of some %d at %.0f messages/s", l.name, flightBags, l.streamed), both(flight, l.refused["flight"]), "–", "–",
			"p50 ≤ 5 ms, p99 ≤ 20 ms", within(flight, 5*time.Millisecond, 20*time.Millisecond, l.refused["flight"])},
		{"5", fmt.Sprintf("  of any of %d flights of %d–%d", len(l.flights), l.smallest, l.largest), both(flights, l.refused["flights"]), "–", "–",
			"p50 ≤ 5 ms, p99 ≤ 20 ms", within(flights, 5*time.Millisecond, 20*time.Millisecond, l.refused["flights"])},
		{"5", "  histories under the same load", both(l.took["history"], l.refused["history"]), "–", "–", "reported", reported},
		{"6", "  bags of a passenger, the same load", both(passengers, l.refused["passenger"]), "–", "–", "p99 ≤ 5 ms", within(passengers, time.Second, 5*time.Millisecond, l.refused["passenger"])},
		{"7", "  produced to visible in an answer, the same load", both(l.visible, 0), "–", "–", "p99 ≤ 100 ms", within(l.visible, time.Second, 100*time.Millisecond, 0)},
	}
}

// memoryRows are the lines of the table about memory.
func (l *live) memoryRows(rate float64) (rows []row, err error) {
	for _, p := range l.processes {
		_, most, err := p.memory()
		if err != nil {
			return nil, err
		}
		peak, at := float64(most)/(1<<20), ""
		if p == l.ingest {
			at = fmt.Sprintf(", also at full rate (%s messages/s, changes published)", thousands(rate))
		}
		rows = append(rows, row{"12", "  resident memory of " + p.command + at, fmt.Sprintf("%.0f MiB", peak), "–", "–", "≤ 128 MiB", verdictOf(peak <= 128)})
	}
	return rows, nil
}
