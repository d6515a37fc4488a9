package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"bagtrail/internal/simulate"
)

// soakFill is how many messages are stored before a soak begins.
const soakFill = 400_000

// soak puts a bagtrail process under the load of lines 5 to 7 for as long as is wanted, and prints what each minute was
// like: nothing may grow from the second minute on.
func soak(ctx context.Context, b *bench, length time.Duration) error {
	l, err := b.openLive(ctx, nil, "serve")
	if err != nil {
		return err
	}
	defer l.close()
	var truth []simulate.Bag
	wanted := soakFill + int(length.Seconds())*streamRate
	stream := simulate.Generate(simulate.Options{Seed: feedSeed, Start: feedStart, Bags: wanted / 12, Faults: simulate.DefaultFaults()},
		func(t simulate.Bag) {
			if l.flights == nil {
				truth = append(truth, t)
			}
		})
	pull, stop := iter.Pull(stream)
	defer stop()
	first := take(pull, soakFill)
	b.say("soak: %s messages go in as fast as they can", thousands(float64(len(first))))
	if _, err := l.fill(ctx, first); err != nil {
		return err
	}
	l.choose(first, truth)
	b.say("soak: %d messages a second for %v", streamRate, length)

	left := wanted - soakFill
	watched, stopWatching := context.WithCancel(ctx)
	minutes := make(chan []minute, 1)
	go func() { minutes <- l.minutes(watched, b) }()
	err = l.run(ctx, func(n int) []simulate.Message {
		some := take(pull, min(n, left))
		left -= len(some)
		return some
	})
	stopWatching()
	all := <-minutes
	if err != nil {
		return err
	}
	printSoak(all)
	return nil
}

// take returns the next n messages, fewer at the end.
func take(next func() (simulate.Message, bool), n int) []simulate.Message {
	some := make([]simulate.Message, 0, n)
	for len(some) < n {
		m, more := next()
		if !more {
			break
		}
		some = append(some, m)
	}
	return some
}

// minute is what a minute of a soak was like.
type minute struct {
	resident                   int64   // most bytes
	goroutines, connections    float64 // at its end; connections are all descriptors
	messages                   float64 // decided on a second
	refused                    int     // queries of all kinds
	flight, passenger, visible []time.Duration
}

// minutes measures until ctx ends. What is left of a minute then is not counted.
func (l *live) minutes(ctx context.Context, b *bench) (all []minute) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	before, _ := l.decided()
	var now minute
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return all
		case <-ticker.C:
		}
		took := time.Since(began)
		if took < time.Minute {
			continue
		}
		decided, err := l.decided()
		_, peak, errMemory := l.api.memory()
		goroutines, errGoroutines := l.api.metric("go_goroutines")
		connections, errConnections := l.api.metric("process_open_fds")
		if err := errors.Join(err, errMemory, l.api.forgetPeak(), errGoroutines, errConnections); err != nil {
			b.say("soak: a minute could not be measured: %v", err)
			continue
		}
		now.resident, now.messages, now.goroutines, now.connections = peak, (decided-before)/took.Seconds(), goroutines, connections
		l.mu.Lock()
		now.flight = append(l.took["flight"], l.took["flights"]...)
		now.passenger, now.visible = l.took["passenger"], l.visible
		for _, n := range l.refused {
			now.refused += n
		}
		l.took, l.refused, l.visible = map[string][]time.Duration{}, map[string]int{}, nil
		l.mu.Unlock()
		all = append(all, now)
		b.say("soak: minute %d: %d MiB", len(all), now.resident>>20)
		before, began, now = decided, time.Now(), minute{}
	}
}

// printSoak prints the minutes, and how much more than in the first third, the first minute left out, each figure is in the last.
func printSoak(all []minute) {
	columns := []struct {
		name string
		of   func(m *minute) float64
	}{
		{"messages/s", func(m *minute) float64 { return m.messages }},
		{"MiB", func(m *minute) float64 { return float64(m.resident) / (1 << 20) }},
		{"goroutines", func(m *minute) float64 { return m.goroutines }},
		{"connections", func(m *minute) float64 { return m.connections }},
		{"refused", func(m *minute) float64 { return float64(m.refused) }},
		{"flight p50 ms", func(m *minute) float64 { return percentile(m.flight, 50).Seconds() * 1000 }},
		{"p99", func(m *minute) float64 { return percentile(m.flight, 99).Seconds() * 1000 }},
		{"passenger p50", func(m *minute) float64 { return percentile(m.passenger, 50).Seconds() * 1000 }},
		{"p99", func(m *minute) float64 { return percentile(m.passenger, 99).Seconds() * 1000 }},
		{"visible p50", func(m *minute) float64 { return percentile(m.visible, 50).Seconds() * 1000 }},
		{"p99", func(m *minute) float64 { return percentile(m.visible, 99).Seconds() * 1000 }},
	}
	line := []string{"minute"}
	for _, c := range columns {
		line = append(line, c.name)
	}
	fmt.Fprintln(os.Stdout, strings.Join(line, " | "))
	for i := range all {
		line = []string{fmt.Sprint(i + 1)}
		for _, c := range columns {
			line = append(line, fmt.Sprintf("%.1f", c.of(&all[i])))
		}
		fmt.Fprintln(os.Stdout, strings.Join(line, " | "))
	}
	if len(all) < 4 {
		return
	}
	settled := all[1:]
	third := max(1, len(settled)/3)
	line = []string{"last third by first"}
	for _, c := range columns {
		median := func(part []minute) float64 {
			var s series
			for i := range part {
				s = append(s, c.of(&part[i]))
			}
			return s.median()
		}
		line = append(line, fmt.Sprintf("%.2f ×", median(settled[len(settled)-third:])/median(settled[:third])))
	}
	fmt.Fprintln(os.Stdout, strings.Join(line, " | "))
}
