package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/bag"
	"bagtrail/internal/changes"
	"bagtrail/internal/changestore"
	"bagtrail/internal/kafka"
	"bagtrail/internal/redis"
	"bagtrail/internal/simulate"
)

// Line 20: catching up.
const (
	catchUpAirline = "LX"
	catchUpPlates  = 10_000 // of the airline
	catchUpPage    = "1000"
	catchUpBatch   = 1000 // entries that are written together
	catchUpTarget  = 8000
	fewOthers      = 9 // plates of other airlines for each of the airline
	manyOthers     = 99
)

// catchUpLine measures line 20: how fast a reader of one airline is told all changes since a cursor
// from before the first.
func catchUpLine(ctx context.Context, b *bench) ([]row, error) {
	plates, messages := airlineFeed(b.size(catchUpPlates))
	few, fewCost, err := b.catchUp(ctx, plates, messages, fewOthers)
	if err != nil {
		return nil, err
	}
	many, manyCost, err := b.catchUp(ctx, plates, messages, manyOthers)
	if err != nil {
		return nil, err
	}
	of := func(rate float64, cost time.Duration) string {
		return fmt.Sprintf("%s, CPU %d µs each", thousands(rate), cost.Microseconds())
	}
	return []row{
		{"20", fmt.Sprintf("catching up with %s plates of one airline of ten, changes/s", thousands(float64(len(plates)))),
			of(few, fewCost), "–", "–", "≥ 8,000", verdictOf(few >= catchUpTarget)},
		{"20", "  the others have eleven times as many, by that above", of(many, manyCost), thousands(few), fmt.Sprintf("%.2f", many/few),
			"≥ 8,000", verdictOf(many >= catchUpTarget)},
	}, b.redis.empty(ctx)
}

// airlineFeed returns plates with a flight of the airline, and the messages about them.
func airlineFeed(n int) (plates []bag.Plate, messages []simulate.Message) {
	options := simulate.Options{Seed: feedSeed, Start: feedStart, Bags: 10 * n, Faults: simulate.DefaultFaults()}
	chosen := make(map[string]bool, n)
	stream := simulate.Generate(options, func(t simulate.Bag) {
		if len(chosen) < n && slices.ContainsFunc(t.Legs, ofCatchUpAirline) {
			chosen[t.Plate] = true
		}
	})
	passed := 0
	for range stream {
		if passed++; len(chosen) == n {
			break
		}
	}
	again := simulate.Generate(options, nil) // a bag is known when its last message has come
	for m := range again {
		if chosen[m.Plate] {
			messages = append(messages, m)
		}
		if passed--; passed == 0 {
			break
		}
	}
	for plate := range chosen {
		plates = append(plates, bag.Plate(plate))
	}
	slices.Sort(plates)
	return plates, messages
}

func ofCatchUpAirline(leg simulate.Leg) bool {
	airline, _ := leg.Designator()
	return airline == catchUpAirline
}

// catchUp returns how many changes a second are told, and what each costs the api process and Redis. The index of changes is written by hand, as
// the owners of the partitions would write it: for each plate there are so many of other airlines.
func (b *bench) catchUp(ctx context.Context, plates []bag.Plate, messages []simulate.Message, others int) (rate float64, each time.Duration, err error) {
	l, err := b.openLive(ctx, nil, "api")
	if err != nil {
		return 0, 0, err
	}
	defer l.close()
	store, err := openIndex(l.redis.url())
	if err != nil {
		return 0, 0, err
	}
	defer store.Close()
	if err := process(ctx, newAcceptor(store), messages); err != nil {
		return 0, 0, err
	}
	index, err := openIndexOfChanges(ctx, l.redis)
	if err != nil {
		return 0, 0, err
	}
	defer index.client.Close()
	first, err := l.changes("")
	if err != nil {
		return 0, 0, err
	}
	if err := index.fill(ctx, plates, others); err != nil {
		return 0, 0, err
	}
	profiles := b.profileOf(l.api, fmt.Sprint("catch-up-", others))
	before, err := l.spent()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	told := 0
	for page := first; ; {
		if page, err = l.changes(page.Cursor); err != nil {
			return 0, 0, err
		}
		if told += page.told; !page.More {
			break
		}
	}
	rate = float64(told) / time.Since(began).Seconds()
	used, err := l.spent()
	if told != len(plates) {
		err = errors.Join(err, fmt.Errorf("%d changes are told, not %d", told, len(plates)))
	}
	each = (used.bagtrail + used.redis - before.bagtrail - before.redis) / time.Duration(len(plates))
	return rate, each, errors.Join(err, profiles())
}

// indexOfChanges is an index of changes that is written by hand.
type indexOfChanges struct {
	*changestore.Store
	client  *redis.Client
	epoch   changes.Epoch
	entries [partitions][]changes.Entry // to be written
	next    [partitions]int64           // the next sequence
}

// openIndexOfChanges begins an epoch in which nothing is told.
func openIndexOfChanges(ctx context.Context, r *redisServer) (*indexOfChanges, error) {
	client, err := redis.Open(redis.Config{URL: r.url(), Now: time.Now})
	if err != nil {
		return nil, err
	}
	x := &indexOfChanges{Store: changestore.New(client, 72*time.Hour, time.Now), client: client}
	x.epoch, err = x.Begin(ctx, changes.Epoch{}, changes.Epoch{Begun: time.Now().Unix(), Partitions: partitions})
	for p := 0; p < partitions && err == nil; p++ {
		_, err = x.Tell(ctx, x.epoch, p, changes.IndexWrite{After: changes.AfterAny, Told: -1})
	}
	return x, err
}

// fill writes the plates, and others between them.
func (x *indexOfChanges) fill(ctx context.Context, plates []bag.Plate, others int) error {
	for i, plate := range plates {
		if err := x.add(ctx, plate, catchUpAirline); err != nil {
			return err
		}
		for n := range others {
			other := bag.Plate(fmt.Sprintf("9%09d", i*others+n))
			if err := x.add(ctx, other, string([]byte{'X', 'A' + byte(n%fewOthers)})); err != nil {
				return err
			}
		}
	}
	for p := range partitions {
		if err := x.write(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (x *indexOfChanges) add(ctx context.Context, plate bag.Plate, airline string) error {
	p := kafka.PartitionOf([]byte(plate), partitions)
	x.entries[p] = append(x.entries[p], changes.Entry{Plate: plate, Sequence: x.next[p], Airlines: []string{airline}})
	if x.next[p]++; len(x.entries[p]) < catchUpBatch {
		return nil
	}
	return x.write(ctx, p)
}

func (x *indexOfChanges) write(ctx context.Context, p int) error {
	_, err := x.Tell(ctx, x.epoch, p, changes.IndexWrite{After: changes.AfterAny, Floor: 0, Told: x.next[p] - 1, Entries: x.entries[p]})
	x.entries[p] = x.entries[p][:0]
	return err
}

// pageOfChanges is what an answer holds.
type pageOfChanges struct {
	Cursor string
	More   bool
	told   int
}

// changes asks for the changes of the airline after a cursor, or for the cursor of now.
func (l *live) changes(cursor string) (page pageOfChanges, err error) {
	target := "/v1/changes?airline=" + catchUpAirline + "&limit=" + catchUpPage
	if cursor != "" {
		target += "&cursor=" + cursor
	}
	got, err := l.api.TryDo(http.MethodGet, target, nil)
	if err != nil {
		return page, err
	}
	end := strings.LastIndex(got.Body, `],"cursor":`)
	if got.Status != http.StatusOK || end < 0 {
		return page, fmt.Errorf("ask for changes: %d %.200s", got.Status, got.Body)
	}
	page.told = strings.Count(got.Body, `,"sequence":`) // once a change
	return page, json.Unmarshal([]byte("{"+got.Body[end+2:]), &page)
}
