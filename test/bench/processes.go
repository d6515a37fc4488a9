package main

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"bagtrail/ingestor/kafkadoor"
	"bagtrail/internal/pause"
)

// A held process runs for a quarter of every period, on one processor. It is stopped and continued by signals, as a scheduler
// with a quota would do, which needs no rights. The turns of several processes do not overlap, so that they do not compete.
const (
	heldPeriod = 50 * time.Millisecond
	heldShare  = 4
)

// processesLine is line 13: two ingest processes, each held to a quarter of a core, against one.
func processesLine(ctx context.Context, b *bench) ([]row, error) {
	r, k, topics, messages, err := b.fullTopic(ctx, 30_000)
	if err != nil {
		return nil, err
	}
	window := time.Duration(b.size(10)) * time.Second
	p, err := b.apart().alternate(
		func() (float64, error) { return b.heldIngest(ctx, r, k, topics, messages, 2, window) },
		func() (float64, error) { return b.heldIngest(ctx, r, k, topics, messages, 1, window) })
	if err != nil {
		return nil, err
	}
	return []row{p.rates("13", "two ingest processes on a quarter of a core each, against one, messages/s", p.ratio(), 1.8)}, r.empty(ctx)
}

// heldIngest lets so many processes, each held to its share, ingest a raw topic of so many messages, and returns how many messages
// they decided on a second together. Each run has topics of changes of its own: with those of the run before, whose index
// was in the Redis that is emptied, owners would find their index lost, and spend the share on trying again.
func (b *bench) heldIngest(ctx context.Context, r *redisServer, k *kafkaServer, topics kafkadoor.Topics, messages, processes int, window time.Duration) (float64, error) {
	if err := r.empty(ctx); err != nil {
		return 0, err
	}
	group := k.name("held")
	all := make([]*bagtrail, processes)
	turns := time.Now()
	for i := range all {
		var err error
		if all[i], err = b.launch("ingest", r, k, topics, group, "GOMAXPROCS=1",
			"BAGTRAIL_KAFKA_DIRTY_TOPIC="+group+".marks", "BAGTRAIL_KAFKA_CHANGES_TOPIC="+group+".changes"); err != nil {
			return 0, err
		}
		defer all[i].end()
		defer all[i].hold(ctx, turns.Add(heldPeriod/time.Duration(processes)*time.Duration(i)))()
	}
	begin, err := awaitAll(ctx, all)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := pause.For(ctx, window); err != nil {
		return 0, err
	}
	end, err := decided(all)
	if err == nil && end >= float64(messages) {
		err = fmt.Errorf("all %d messages are decided on before %v are over", messages, window)
	}
	return (end - begin) / time.Since(began).Seconds(), err
}

// hold stops the process for most of every period, until it is let go. A period began at turn.
func (p *bagtrail) hold(ctx context.Context, turn time.Time) (letGo func()) {
	ctx, cancel := context.WithCancel(ctx)
	var holding sync.WaitGroup
	holding.Go(func() {
		defer p.Signal(syscall.SIGCONT)
		for ctx.Err() == nil {
			p.Signal(syscall.SIGSTOP)
			begin := time.Now().Add(heldPeriod - time.Since(turn)%heldPeriod)
			sleepUntil(begin)
			p.Signal(syscall.SIGCONT)
			sleepUntil(begin.Add(heldPeriod / heldShare))
		}
	})
	return func() { cancel(); holding.Wait() }
}

// awaitAll waits until every process takes part, and returns how many messages all have decided on by then.
func awaitAll(ctx context.Context, all []*bagtrail) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for {
		idle := 0
		for _, p := range all {
			if n, err := p.metric("bagtrail_messages_total"); err != nil || n == 0 {
				idle++
			}
		}
		if idle == 0 {
			return decided(all)
		}
		if pause.For(ctx, 20*time.Millisecond) != nil {
			return 0, fmt.Errorf("%d of %d processes take no part: %w", idle, len(all), ctx.Err())
		}
	}
}

func decided(all []*bagtrail) (sum float64, err error) {
	for _, p := range all {
		n, err := p.metric("bagtrail_messages_total")
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
