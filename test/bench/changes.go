package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bagtrail/internal/changestore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
	"bagtrail/internal/simulate"
)

// awaitTold waits until the owners have told every mark, so that what follows does not compete with them.
func (l *live) awaitTold(ctx context.Context) error {
	index, err := redis.Open(redis.Config{URL: l.redis.url(), Now: time.Now})
	if err != nil {
		return err
	}
	defer index.Close()
	store := changestore.New(index, 72*time.Hour, time.Now)
	marks, err := kafka.Open(kafka.Config{Brokers: l.kafka.brokers, Topics: []string{l.marks}})
	if err != nil {
		return err
	}
	defer marks.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		spans, err := marks.Spans(ctx, l.marks, kafka.Start{})
		if err != nil {
			return err
		}
		_, progress, err := store.State(ctx)
		if err != nil {
			return err
		}
		left := int64(0)
		for _, span := range spans {
			left += span.To
			if span.Partition < len(progress) {
				left -= progress[span.Partition].Told + 1
			}
		}
		if left == 0 {
			return nil
		}
		if pause.For(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("%d marks are not told: %w", left, ctx.Err())
		}
	}
}

// Line 17: the latency of streams under load.
const (
	storedBags   = 10_000 // before the load begins
	probeRate    = 50     // a second
	probeAirline = "LX"   // one of the eight of the simulator
)

// storedAndStreamed returns messages to be stored before a load, and those of so many seconds of the load.
func storedAndStreamed(seconds int) (stored, streamed []simulate.Message) {
	all, _ := feed(storedBags + seconds*streamRate/15)
	stored = all[:len(all)-seconds*streamRate]
	return stored, all[len(stored):]
}

// streamLine measures line 17: how long after a message was produced a stream tells the change.
func streamLine(ctx context.Context, b *bench) ([]row, error) {
	seconds := 5 + b.size(55)
	stored, streamed := storedAndStreamed(seconds)
	var rows []row
	for _, s := range []struct{ what, query string }{
		{"of one airline in eight", "airline=" + probeAirline},
		{"of everything", ""},
	} {
		r, err := b.streamLatency(ctx, stored, streamed, s.what, s.query)
		if err != nil {
			return rows, fmt.Errorf("a stream %s: %w", s.what, err)
		}
		rows = append(rows, r)
	}
	return rows, b.redis.empty(ctx)
}

// streamLatency is line 17 for one stream.
func (b *bench) streamLatency(ctx context.Context, stored, streamed []simulate.Message, what, query string) (row, error) {
	l, err := b.openLive(ctx, nil, "ingest", "api")
	if err != nil {
		return row{}, err
	}
	defer l.close()
	if _, err := l.fill(ctx, stored); err != nil {
		return row{}, err
	}
	if err := l.awaitTold(ctx); err != nil {
		return row{}, err
	}
	s, err := l.listen(ctx, 1, func(int) string { return query })
	if err != nil {
		return row{}, err
	}
	probes := probeRate * len(streamed) / streamRate
	probing := make(chan error, 1)
	go func() {
		probing <- s.probe(ctx, l.door, probes, probeRate, probes, func(int) string { return probeAirline + "600" })
	}()
	profiles := b.profileOf(l.api, "stream-api")
	profilesIngest := b.profileOf(l.ingest, "stream-ingest")
	err = l.stream(ctx, inTurn(streamed))
	if err := errors.Join(err, <-probing, s.close(), profiles(), profilesIngest()); err != nil {
		return row{}, err
	}
	p50, p99 := percentile(s.took, 50), percentile(s.took, 99)
	return row{
		"17", fmt.Sprintf("produced to told by a stream %s, at %.0f messages/s (%s changes told)", what, l.streamed, thousands(float64(s.changes))),
		fmt.Sprintf("p50 %.1f ms, p99 %.1f ms of %d", p50.Seconds()*1000, p99.Seconds()*1000, len(s.took)), "–", "–",
		"p50 ≤ 60 ms, p99 ≤ 250 ms", verdictOf(p50 <= 60*time.Millisecond && p99 <= 250*time.Millisecond),
	}, nil
}

// inTurn returns a function that returns the next n messages, fewer at the end.
func inTurn(messages []simulate.Message) func(n int) []simulate.Message {
	return func(n int) (some []simulate.Message) {
		n = min(n, len(messages))
		some, messages = messages[:n], messages[n:]
		return some
	}
}

// Line 18: what changes cost.
const costRuns = 3

// spent is processor time by program.
type spent struct{ bagtrail, redis, broker time.Duration }

// costLine measures line 18: the processor time of a message with changes, by that without.
func costLine(ctx context.Context, b *bench) ([]row, error) {
	stored, streamed := storedAndStreamed(2 + b.size(18))
	var without, with series // µs a message, of bagtrail and Redis
	var bare, all series     // the broker included
	for run := range min(b.runs, costRuns) {
		for i := range 2 {
			changes := i == run%2 // which is first changes
			used, err := b.cost(ctx, stored, streamed, changes)
			if err != nil {
				return nil, err
			}
			micros := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(len(streamed)) }
			ours, whole := &without, &bare
			if changes {
				ours, whole = &with, &all
			}
			*ours = append(*ours, micros(used.bagtrail+used.redis))
			*whole = append(*whole, micros(used.bagtrail+used.redis+used.broker))
			b.say("line 18, run %d, changes %v: bagtrail %.1f, Redis %.1f, broker %.1f µs a message",
				run+1, changes, micros(used.bagtrail), micros(used.redis), micros(used.broker))
		}
	}
	of := func(what string, with, without series, target string, met func(float64) verdict) row {
		p := pair{ours: with, reference: without}
		return row{"18", what, fmt.Sprintf("%.1f µs", with.median()), fmt.Sprintf("%.1f µs", without.median()), p.ratio(), target, met(p.ratios().median())}
	}
	rows := []row{
		of(fmt.Sprintf("processor time a message with changes, by that without, at %d messages/s", streamRate), with, without,
			"≤ 4 ×", func(ratio float64) verdict { return verdictOf(ratio <= 4) }),
	}
	if b.broker.pid != 0 { // otherwise the time of the broker is not known
		rows = append(rows, of("  with the broker", all, bare, "reported", func(float64) verdict { return reported }))
	}
	return rows, b.redis.empty(ctx)
}

// cost returns what the processes of bagtrail and the servers spend on the streamed messages, until
// all are decided on and, with changes, all marks are told.
func (b *bench) cost(ctx context.Context, stored, streamed []simulate.Message, changes bool) (spent, error) {
	var env []string
	if !changes {
		env = append(env, "BAGTRAIL_KAFKA_CHANGES_TOPIC=")
	}
	l, err := b.openLive(ctx, env, "ingest", "api")
	if err != nil {
		return spent{}, err
	}
	defer l.close()
	finish := func(messages int) error {
		if err := l.awaitDecided(ctx, float64(messages)); err != nil || !changes {
			return err
		}
		return l.awaitTold(ctx)
	}
	if _, err := l.fill(ctx, stored); err != nil {
		return spent{}, err
	}
	if err := finish(len(stored)); err != nil {
		return spent{}, err
	}
	before, err := l.spent()
	if err != nil {
		return spent{}, err
	}
	profiles := b.profileOf(l.ingest, fmt.Sprintf("cost-changes-%t", changes))
	err = l.stream(ctx, inTurn(streamed))
	if err := errors.Join(err, profiles()); err != nil {
		return spent{}, err
	}
	if err := finish(len(stored) + len(streamed)); err != nil {
		return spent{}, err
	}
	used, err := l.spent()
	return used.since(before), err
}

// since returns what was used after an earlier measurement.
func (s spent) since(before spent) spent {
	return spent{s.bagtrail - before.bagtrail, s.redis - before.redis, s.broker - before.broker}
}

// spent returns the processor time of the processes and the servers so far.
func (l *live) spent() (s spent, err error) {
	for _, p := range l.processes {
		seconds, err := p.metric("process_cpu_seconds_total")
		if err != nil {
			return s, err
		}
		s.bagtrail += time.Duration(seconds * float64(time.Second))
	}
	if l.redis.real {
		s.redis = l.redis.processorTime()
	}
	if l.kafka.pid != 0 {
		s.broker, err = processorTime(l.kafka.pid)
	}
	return s, err
}

// Line 19: many streams.
const (
	manyStreams    = 2000
	changesOfMany  = 200 // a second, in all
	airlinesOfMany = 100 // each stream follows one
	bytesOfAStream = 64 << 10
	p99OfMany      = 500 * time.Millisecond
)

// manyLine measures line 19: the memory of a stream, and its latency, if one process has many.
func manyLine(ctx context.Context, b *bench) ([]row, error) {
	l, err := b.openLive(ctx, []string{fmt.Sprint("BAGTRAIL_HTTP_STREAMS=", manyStreams)}, "ingest", "api")
	if err != nil {
		return nil, err
	}
	defer l.close()
	airline := func(i int) string { return string([]byte{'B' + byte(i%airlinesOfMany/10), 'A' + byte(i%10)}) }
	before, _, err := l.api.memory()
	if err != nil {
		return nil, err
	}
	s, err := l.listen(ctx, manyStreams, func(i int) string { return "airline=" + airline(i) })
	if err != nil {
		return nil, err
	}
	open, _, errMemory := l.api.memory()
	spent, err := l.spent()
	if err := errors.Join(err, errMemory, l.api.forgetPeak()); err != nil {
		return nil, err
	}
	began := time.Now()
	probes := (5 + b.size(55)) * changesOfMany
	profiles := b.profileOf(l.api, "many-api")
	err = s.probe(ctx, l.door, probes, changesOfMany, probes*manyStreams/airlinesOfMany, func(i int) string { return airline(i) + "600" })
	stacks, errStacks := l.api.metric("go_memstats_stack_inuse_bytes")
	heap, errHeap := l.api.metric("go_memstats_heap_inuse_bytes")
	_, peak, errMemory := l.api.memory()
	if err := errors.Join(err, errStacks, errHeap, errMemory, s.close(), profiles()); err != nil {
		return nil, err
	}
	b.say("line 19: %.1f KiB of stacks and %.1f KiB of heap a stream at the end", stacks/manyStreams/1024, heap/manyStreams/1024)
	used, err := l.spent()
	if err != nil {
		return nil, err
	}
	cores := (used.bagtrail + used.redis - spent.bagtrail - spent.redis).Seconds() / time.Since(began).Seconds()
	each := (peak - before) / manyStreams
	p50, p99 := percentile(s.took, 50), percentile(s.took, 99)
	return []row{
		{"19", fmt.Sprintf("memory of each of %s streams of an api process, most while %d changes a second are told", thousands(manyStreams), changesOfMany),
			fmt.Sprintf("%.1f KiB", float64(each)/1024), "–", "–", "≤ 64 KiB", verdictOf(each <= bytesOfAStream)},
		{"19", "  while nothing is told", fmt.Sprintf("%.1f KiB", float64(open-before)/manyStreams/1024), "–", "–", "reported", reported},
		{"19", fmt.Sprintf("  produced to told, each stream sees %d %% of the changes", 100/airlinesOfMany),
			fmt.Sprintf("p50 %.1f ms, p99 %.1f ms of %d, CPU %.2f cores", p50.Seconds()*1000, p99.Seconds()*1000, len(s.took), cores), "–", "–", "p99 ≤ 500 ms", verdictOf(p99 <= p99OfMany)},
	}, b.redis.empty(ctx)
}
