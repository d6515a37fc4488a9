package bagstore

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/pause"
	"bagtrail/internal/redis"
)

// Interpreter tells a Sweeper what stored messages mean, since the store does not interpret them.
type Interpreter interface {
	// Lifetimes returns, for each message of a plate, the time until which it must be kept.
	Lifetimes(plate bag.Plate, messages []bag.Stored) []time.Time
	// Entry returns the index entry that a message has for the plate.
	Entry(plate bag.Plate, message bag.Stored) bag.Entry
}

// SweepCounts are the counts of a sweep.
type SweepCounts struct {
	Keys     int // keys that were read
	Messages int // messages that were removed
	Extended int // messages that are kept beyond their own retention, because a bag to which they belong is kept longer
	Members  int // members that were removed from sorted sets
	Damaged  int // damaged values and keys that were reported
}

// Sweeper does what the expiry of keys cannot do. It removes the messages of an ended bag from a
// plate that another bag uses now. It removes expired members from sorted sets that have others.
// And it extends the expiries of the keys that a living bag needs. A sweep may be repeated,
// aborted, and run in several processes while others write.
//
// No sweep may run while a log is replayed, since it would judge a bag by a part of its messages:
// see Store.HoldSweeps.
type Sweeper struct {
	store       *Store
	interpreter Interpreter
	rate        int // keys a second, of each master
	done        func(SweepCounts, error)
}

// The values of sweepKey.
const (
	sweeping = "sweeping" // a sweep runs, or the next one is not due yet
	held     = "held"     // no sweep may run
)

// ErrHeld says that a sweep has ended because sweeps are held.
var ErrHeld = errors.New("sweeps are held")

// HoldSweeps keeps every process from sweeping until ctx ends, and aborts a sweep that runs. The
// next sweep is due one interval, a 180th of the retention, after ctx ends.
func (s *Store) HoldSweeps(ctx context.Context) error {
	hold := func() error {
		return s.redis.WriteClient().Set(ctx, s.keys.sweep(), held, s.sweepInterval()).Err()
	}
	if err := hold(); err != nil {
		return unavailable("hold sweeps", err)
	}
	go pause.Every(ctx, s.sweepInterval()/4, func() { // after an error the next call holds again; without Redis nobody can sweep
		if redis.Full(hold()) { // a full Redis refuses SET, but not EXPIRE
			_ = s.redis.WriteClient().Expire(ctx, s.keys.sweep(), s.sweepInterval()).Err()
		}
	})
	return nil
}

// sweepInterval returns the time between sweeps. Expired data may stay that much longer.
func (s *Store) sweepInterval() time.Duration { return time.Duration(s.retention.grace) * time.Second }

// Sweeper returns a sweeper that reads at most keysPerSecond keys a second of each master. After each
// sweep it calls done with the counts of the sweep, and with its error: ErrHeld, or one that wraps
// redis.ErrUnavailable.
func (s *Store) Sweeper(interpreter Interpreter, keysPerSecond int, done func(SweepCounts, error)) *Sweeper {
	return &Sweeper{store: s, interpreter: interpreter, rate: keysPerSecond, done: done}
}

// Run sweeps once in each interval, a 180th of the retention, until ctx ends. The first sweep
// starts after an interval in which no process has swept. In each interval only one process sweeps.
// If its sweep fails, that process tries again within the interval. A full Redis cannot record that
// a process sweeps: then each process sweeps, which frees memory.
func (w *Sweeper) Run(ctx context.Context) {
	interval := w.store.sweepInterval()
	var full time.Time // when this process last began a sweep that a full Redis could not record
	begin := func() (due, ok bool) {
		due, err := w.store.redis.WriteClient().SetNX(ctx, w.store.keys.sweep(), sweeping, interval).Result()
		if redis.Full(err) {
			if due, err = time.Since(full) >= interval, nil; due {
				full = time.Now()
			}
		}
		if err != nil && ctx.Err() == nil {
			w.done(SweepCounts{}, unavailable("sweep", err))
		}
		return due, err == nil && ctx.Err() == nil
	}
	begin()             // wait for an interval without a sweep
	unfinished := false // the last sweep of this process has failed
	pause.Every(ctx, max(interval/24, time.Second), func() {
		if due, ok := begin(); !ok || !due && !unfinished {
			return
		}
		counts, err := w.Sweep(ctx)
		unfinished = err != nil && !errors.Is(err, ErrHeld) && !redis.Full(err)
		if ctx.Err() == nil {
			w.done(counts, err)
		}
	})
}

// mayContinue returns an error if sweeps are held.
func (w *Sweeper) mayContinue(ctx context.Context) error {
	switch value, err := w.store.redis.WriteClient().Get(ctx, w.store.keys.sweep()).Result(); {
	case errors.Is(err, goredis.Nil): // the next sweep is due already
		return nil
	case value == held:
		return ErrHeld
	default:
		return err
	}
}

// Sweep goes through all keys once. It ends with ErrHeld if sweeps are held meanwhile. If Redis is
// full, Sweep removes what has ended, and then returns the error.
func (w *Sweeper) Sweep(ctx context.Context) (SweepCounts, error) {
	var mu sync.Mutex
	var total SweepCounts
	err := w.store.redis.EachMaster(ctx, func(ctx context.Context, master goredis.UniversalClient) error {
		return w.scan(ctx, master, func(s SweepCounts) {
			mu.Lock()
			defer mu.Unlock()
			total.Keys += s.Keys
			total.Messages += s.Messages
			total.Extended += s.Extended
			total.Members += s.Members
			total.Damaged += s.Damaged
		})
	})
	if errors.Is(err, ErrHeld) {
		return total, ErrHeld
	}
	return total, unavailable("sweep", err)
}

// pageKeys is the number of keys that are read in one round trip.
const pageKeys = 100

// scan goes through the keys of one master.
func (w *Sweeper) scan(ctx context.Context, master goredis.UniversalClient, count func(SweepCounts)) (full error) {
	pattern := globEscaper.Replace(string(w.store.keys)) + "[" + sweptKinds + "]:*"
	for cursor := uint64(0); ; {
		keys, next, err := master.Scan(ctx, cursor, pattern, pageKeys).Result()
		if err != nil {
			return err
		}
		for some := range slices.Chunk(keys, pageKeys) {
			if err := w.mayContinue(ctx); err != nil {
				return err
			}
			s, err := w.sweepPage(ctx, some)
			count(s)
			if redis.Full(err) {
				full = err
			} else if err != nil {
				return err
			}
			if err := pause.For(ctx, time.Second*time.Duration(len(some))/time.Duration(w.rate)); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return full
		}
	}
}

// globEscaper escapes a text, so that it is a pattern that matches only this text.
var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// page is the sweep of one page of keys.
type page struct {
	*Sweeper
	counts SweepCounts
	now    time.Time
	batch  *batch
	full   error // the error of a full Redis, or nil
}

// begin begins a batch, which sends known writes too.
func (p *page) begin() {
	p.batch = p.store.newBatch()
	p.batch.round.sendAll = true
}

// send sends the batch, and begins another. If Redis is full, it records that and returns nil.
func (p *page) send(ctx context.Context) error {
	err := p.batch.send(ctx)
	if redis.Full(err) {
		p.full, err = err, nil
	}
	p.begin()
	return err
}

func (w *Sweeper) sweepPage(ctx context.Context, keys []string) (SweepCounts, error) {
	now := w.store.now()
	p := &page{Sweeper: w, now: now}
	p.begin()
	read := w.store.redis.WriteClient().Pipeline()
	var plates []string
	var trails []*goredis.MapStringStringCmd
	for _, key := range keys {
		p.counts.Keys++
		switch kind, _ := w.store.keys.split(key); kind {
		case plateKind:
			plates, trails = append(plates, key), append(trails, read.HGetAll(ctx, key))
		case stowageKind, nameKind:
			p.ensureExpiry(key)
		case flightKind, airportKind, passengerKind, rushKind, contentsKind:
			p.batch.add(&p.counts.Members, "zremrangebyscore", key, "-inf", now.Unix())
			p.ensureExpiry(key)
		}
	}
	if len(trails) > 0 {
		if _, err := read.Exec(ctx); err != nil && !redis.WrongType(err) {
			return p.counts, err
		}
	}
	for i, key := range plates {
		fields, err := trails[i].Result()
		switch {
		case redis.WrongType(err):
			p.report(damage{key: key, kind: badType})
			continue
		case err != nil:
			return p.counts, err
		}
		p.sweepPlate(key, fields)
		if p.batch.full() {
			if err := p.send(ctx); err != nil {
				return p.counts, err
			}
		}
	}
	err := p.send(ctx)
	return p.counts, cmp.Or(err, p.full)
}

// ensureExpiry gives a key an expiry if it has none. A process that ends between two commands may
// leave such a key.
func (p *page) ensureExpiry(key string) {
	p.batch.ensureExpiry(key, p.store.retention.until(p.now, p.now))
}

// sweepPlate removes the messages of a plate that have ended, and extends the expiries for the
// others.
func (p *page) sweepPlate(key string, fields map[string]string) {
	p.ensureExpiry(key)
	_, name := p.store.keys.split(key)
	plate, keep := bag.Plate(name), p.store.retention
	identities, messages := p.dueMessages(key, plate, fields)
	if len(messages) == 0 {
		return
	}
	last := int64(0)
	for i, end := range p.interpreter.Lifetimes(plate, messages) {
		if !end.After(p.now) {
			p.batch.add(&p.counts.Messages, "hdel", key, identities[i])
			continue
		}
		until := keep.round(end.Unix())
		last = max(last, until)
		if until > keep.round(messages[i].Received.Unix()+keep.keep) {
			p.counts.Extended++
			p.extend(p.interpreter.Entry(plate, messages[i]), until)
		}
	}
	if last > 0 {
		p.batch.expire(key, last)
	}
}

// report counts damage, and puts it into the queue of the store.
func (p *page) report(d damage) {
	p.counts.Damaged++
	p.store.report(d)
}

// dueMessages returns all messages of a plate if the retention of one of them has ended or will end
// soon. Otherwise it returns none.
func (p *page) dueMessages(key string, plate bag.Plate, fields map[string]string) (identities []string, messages []bag.Stored) {
	soon := p.now.Unix() + max(3*p.store.retention.grace, p.store.retention.keep/20) - p.store.retention.keep
	oldest := int64(math.MaxInt64)
	for identity, value := range fields {
		received, err := codec.Received(value)
		if err != nil {
			p.report(damage{key, badValue, identity, value})
			delete(fields, identity)
			continue
		}
		oldest = min(oldest, received.Unix())
	}
	if oldest > soon {
		return nil, nil
	}
	for identity, value := range fields {
		text, message, err := p.store.codec.Read(nil, identity, value, string(plate))
		if err != nil {
			p.report(damage{key, badValue, identity, value})
			continue
		}
		message.Raw = string(text)
		identities, messages = append(identities, identity), append(messages, message)
	}
	return identities, messages
}

// extend extends the expiries of the index entries of a message, and of the positionings of its
// containers, to the second until.
func (p *page) extend(e bag.Entry, until int64) {
	p.batch.index(nil, &e, until)
	for _, c := range e.Stowage {
		p.batch.expireOnce(p.store.keys.stowage(c), until)
	}
}
