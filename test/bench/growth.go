package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/simulate"
)

// growthLine is line 9: whether a message and an answer cost more when there are many bags, beyond what the same growth
// costs the bare commands.
func growthLine(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	sizes := []int{10_000, 100_000}
	switch {
	case b.full:
		sizes = append(sizes, 1_000_000)
	case b.quick:
		sizes = []int{5000, 20_000}
	}
	ours, bare := make(map[int]rounds), make(map[int]rounds) // by size
	order := slices.Concat(sizes[:2], sizes[:2], sizes)      // the small ones three times, since what a processor does in a second changes by the minute
	for _, size := range order {
		for _, kind := range []struct {
			name string
			open func(context.Context, *redisServer) (*grower, error)
			into map[int]rounds
		}{{"ours", growOurs, ours}, {"reference", growBare, bare}} {
			g, err := kind.open(ctx, r)
			if err != nil {
				return nil, err
			}
			figures, err := g.grow(ctx, size, b.processorTime)
			g.close()
			if err != nil {
				return nil, err
			}
			b.say("line 9, %d bags, %s: %.2f µs a message, %.1f µs an answer", size, kind.name, figures.message, figures.answer)
			kind.into[size] = append(kind.into[size], figures)
		}
	}
	var rows []row
	few := sizes[0]
	for _, many := range sizes[1:] {
		for _, what := range []struct {
			name string
			of   func(grown) float64
		}{{"a message", func(g grown) float64 { return g.message }}, {"an answer", func(g grown) float64 { return g.answer }}} {
			from, to := ours[few].median(what.of), ours[many].median(what.of)
			bareFrom, bareTo := bare[few].median(what.of), bare[many].median(what.of)
			grows, bareGrows := to/from, bareTo/bareFrom
			rows = append(rows, row{"9", fmt.Sprintf("growth from %s to %s bags: %s", thousands(float64(few)), thousands(float64(many)), what.name),
				fmt.Sprintf("%.2f × (%.1f → %.1f µs)", grows, from, to),
				fmt.Sprintf("%.2f × (%.1f → %.1f µs)", bareGrows, bareFrom, bareTo),
				fmt.Sprintf("%.2f", grows/bareGrows), "≤ 1.15 ×", verdictOf(grows/bareGrows <= 1.15)})
		}
	}
	return rows, r.empty(ctx)
}

// grown is the cost of a message and of an answer at one size of the index, in µs.
type grown struct{ message, answer float64 }

// rounds are repeated measurements, minutes apart.
type rounds []grown

func (r rounds) median(of func(grown) float64) float64 {
	var all series
	for _, g := range r {
		all = append(all, of(g))
	}
	return all.median()
}

// grower is a way to store messages and to answer for a plate.
type grower struct {
	store  func(context.Context, []simulate.Message) error
	answer func(context.Context, string) error
	close  func()
}

func growOurs(ctx context.Context, r *redisServer) (*grower, error) {
	store, err := openStore(ctx, r)
	if err != nil {
		return nil, err
	}
	acceptor := newAcceptor(store)
	trails := newTrails(store.Reader())
	return &grower{
		store: func(ctx context.Context, messages []simulate.Message) error { return process(ctx, acceptor, messages) },
		answer: func(ctx context.Context, plate string) error {
			_, err := trails.History(ctx, bag.Plate(plate))
			return err
		},
		close: func() { store.Close() },
	}, nil
}

func growBare(ctx context.Context, r *redisServer) (*grower, error) {
	if err := r.empty(ctx); err != nil {
		return nil, err
	}
	client := redis.NewClient(clientOptions(r.addr))
	stored := 0
	return &grower{
		store: func(ctx context.Context, messages []simulate.Message) error {
			pipe := client.Pipeline()
			for _, m := range messages {
				stored++
				bareCommands(ctx, pipe, m.Text, fmt.Sprint(stored), m.Received)
			}
			_, err := pipe.Exec(ctx)
			return err
		},
		answer: func(ctx context.Context, plate string) error { return client.HGetAll(ctx, "b:"+plate).Err() },
		close:  func() { client.Close() },
	}, nil
}

const (
	growthBatch   = 500
	growthSlice   = 10 // batches
	growthSlices  = 5  // the median of them counts
	growthSpread  = 5  // the slices lie in the last fifth of the batches
	growthAnswers = 1500
	growthAskers  = 8
)

// answers answers for each plate, for several at a time, so that no processor idles.
func (g *grower) answers(ctx context.Context, plates []string) error {
	errs := make([]error, growthAskers)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() {
			for at := i; at < len(plates) && errs[i] == nil; at += len(errs) {
				errs[i] = g.answer(ctx, plates[at])
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}

// grow stores messages until there are so many bags, and returns what the last messages cost, and answers then. Bags are
// checked in every ten seconds, so that the mix of messages is the same from some three thousand bags on. The slices lie
// apart, since Redis now and then doubles the table of its keys, which takes it the time of tens of thousands of messages.
// What is measured is processor time, ours and that of Redis.
func (g *grower) grow(ctx context.Context, bags int, spent func() time.Duration) (grown, error) {
	var plates []string
	feed := simulate.Generate(simulate.Options{Seed: feedSeed, Start: feedStart, Bags: 2*bags + 10_000, Faults: simulate.DefaultFaults(), Interval: 10 * time.Second},
		func(b simulate.Bag) {
			if len(b.Events) >= 9 && len(b.Events) <= 20 {
				plates = append(plates, b.Plate)
			}
		})
	var costs []time.Duration // of the batches
	batch := make([]simulate.Message, 0, growthBatch)
	left := bags * 31 / 2
	for m := range feed {
		if batch = append(batch, m); len(batch) < growthBatch {
			continue
		}
		began := spent()
		if err := g.store(ctx, batch); err != nil {
			return grown{}, err
		}
		costs = append(costs, spent()-began)
		batch = batch[:0]
		if left -= growthBatch; left <= 0 {
			break
		}
	}
	var message, answer series
	costs = costs[len(costs)-max(len(costs)/growthSpread, growthSlice*growthSlices):]
	for part := range slices.Chunk(costs, len(costs)/growthSlices) {
		if len(part) < growthSlice {
			break
		}
		sum := time.Duration(0)
		for _, cost := range part[len(part)-growthSlice:] {
			sum += cost
		}
		message = append(message, float64(sum.Nanoseconds())/1000/float64(growthSlice*growthBatch))
	}
	each := min(growthAnswers, len(plates)/(1+growthSlices)) // no bag is asked for twice: no answer comes from the cache
	rand.New(rand.NewPCG(feedSeed, 0)).Shuffle(len(plates), func(i, j int) { plates[i], plates[j] = plates[j], plates[i] })
	// What made the messages is no part of an answer, nor is the list of all plates: the heap is as large with many bags as with
	// few. A larger one is collected less often, and so grows into memory that the machine has yet to provide, page by page.
	plates = slices.Clone(plates[:(1+growthSlices)*each])
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for n := range 1 + growthSlices {
		began := spent()
		if err := g.answers(ctx, plates[n*each:(n+1)*each]); err != nil {
			return grown{}, err
		}
		if n > 0 { // the first answers meet new connections and an empty heap
			answer = append(answer, float64((spent()-began).Nanoseconds())/1000/float64(each))
		}
	}
	return grown{message.median(), answer.median()}, nil
}
