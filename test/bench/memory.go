package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/bag"
	"bagtrail/internal/simulate"
)

// memoryLine is line 8: what an event costs in Redis with everything that is kept of it, against its raw text alone as
// a string key. An event is an accepted message here; positionings, which are events of many bags, count once.
func memoryLine(ctx context.Context, b *bench) ([]row, error) {
	r, err := b.needRedis(ctx)
	if err != nil {
		return nil, err
	}
	if !r.real {
		return []row{{"8", "Redis memory an event", "", "", "", "≤ 320 B, ≤ 0.65 ×", reported}}, nil
	}
	messages, _ := feed(b.size(50_000))
	events := 0.0
	for _, m := range messages {
		if m.Code == "" {
			events++
		}
	}
	measure := func(fill func() error) (float64, error) {
		if err := r.empty(ctx); err != nil {
			return 0, err
		}
		before, err := r.memory(ctx)
		if err != nil {
			return 0, err
		}
		if err := fill(); err != nil {
			return 0, err
		}
		after, err := r.memory(ctx)
		return (after - before) / events, err
	}
	p, err := b.alternate(
		func() (float64, error) { return measure(func() error { return fileAll(ctx, r, messages) }) },
		func() (float64, error) { return measure(func() error { return keepTexts(ctx, r, messages) }) })
	if err != nil {
		return nil, err
	}
	ours, ratio := p.ours.median(), p.ratios().median()
	return []row{{
		"8", fmt.Sprintf("Redis memory an event (%s events)", thousands(events)),
		fmt.Sprintf("%.0f B", ours), fmt.Sprintf("%.0f B", p.reference.median()), p.ratio(), "≤ 320 B, ≤ 0.65 ×",
		verdictOf(ours <= 320 && ratio <= 0.65),
	}}, r.empty(ctx)
}

// fileAll files messages as the service does.
func fileAll(ctx context.Context, r *redisServer, messages []simulate.Message) error {
	store, err := openStore(ctx, r)
	if err != nil {
		return err
	}
	defer store.Close()
	return process(ctx, newAcceptor(store), messages)
}

// newAcceptor returns an Acceptor that only files.
func newAcceptor(store *index) *ingestor.Acceptor {
	return ingestor.NewAcceptor(ingestor.Config{Judge: newJudge(), Index: store.Writer()})
}

func newJudge() *ingestor.Judge {
	airports := airport.New()
	return ingestor.NewJudge(airports, enricher.New(airports))
}

// process files messages, five hundred at a time.
func process(ctx context.Context, acceptor *ingestor.Acceptor, messages []simulate.Message) error {
	envelopes := make([]ingestor.Envelope, 0, 500)
	for i, m := range messages {
		envelopes = append(envelopes, ingestor.Envelope{
			Raw: m.Text, Received: m.Received, Key: m.Plate, Logged: true,
			Position: bag.Position{Known: true, Partition: int32(i % 12), Offset: int64(i / 12)},
		})
		if len(envelopes) < cap(envelopes) && i < len(messages)-1 {
			continue
		}
		for left := envelopes; len(left) > 0; {
			outcomes, err := acceptor.AcceptBatch(ctx, left)
			if err != nil {
				return err
			}
			left = left[len(outcomes):]
		}
		envelopes = envelopes[:0]
	}
	return nil
}

// keepTexts is the reference: the raw text of each accepted message under a key of its own.
func keepTexts(ctx context.Context, r *redisServer, messages []simulate.Message) error {
	client := redis.NewClient(clientOptions(r.addr))
	defer client.Close()
	pipe := client.Pipeline()
	for i, m := range messages {
		if m.Code == "" {
			pipe.Set(ctx, "m:"+strconv.Itoa(i), m.Text, 0)
		}
		if pipe.Len() >= 500 || i == len(messages)-1 {
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
