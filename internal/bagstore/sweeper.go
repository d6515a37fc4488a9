package bagstore

import (
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
	"bagtrail/internal/redis"
)

// Story is what a sweeper must be told of the messages of a plate, since the store does not know what they mean.
type Story interface {
	// Lifetimes returns for each message until when it must be kept.
	Lifetimes(plate bag.Plate, messages []bag.Stored) []time.Time
	// Entry returns under what a message was filed for the plate.
	Entry(plate bag.Plate, message bag.Stored) bag.Entry
}

// Swept counts what a sweep has done.
type Swept struct {
	Keys     int // looked at
	Messages int // removed
	Extended int // messages that live longer than their own retention, because their bag does
	Members  int // removed from sorted sets
	Damaged  int // values and keys that are damaged, and moved aside
}

// Sweeper does what the expiry of keys cannot: it removes the messages of a bag that has ended from a plate that goes on,
// and plates from sorted sets that go on; and what a living bag needs it keeps from expiring. A sweep may be repeated,
// broken off, and run in several processes while others write.
//
// It must not run while a log is replayed, since a bag might be judged by its first half: see Store.HoldSweeps.
type Sweeper struct {
	store *Store
	story Story
	every time.Duration // between sweeps
	rate  int           // keys a second and master
	done  func(Swept, error)
}

// What sweepKey says: somebody sweeps, or has done so since sweeps were last due; or nobody may.
const (
	sweeping = "sweeping"
	held     = "held"
)

var errHeld = errors.New("sweeps are held")

// HoldSweeps keeps every process from sweeping until ctx ends, and ends a sweep that runs. Sweeps go on when the next one
// is due, a 180th part of the retention after that.
func (s *Store) HoldSweeps(ctx context.Context) error {
	hold := func() error {
		return s.redis.WriteClient().Set(ctx, string(s.keys)+sweepKey, held, s.sweepInterval()).Err()
	}
	if err := hold(); err != nil {
		return unavailable("hold sweeps", err)
	}
	go func() {
		ticker := time.NewTicker(s.sweepInterval() / 4)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = hold() // where Redis is away the next one holds, and nobody sweeps
			}
		}
	}()
	return nil
}

// sweepInterval is the time between sweeps: what is too old may stay that much longer.
func (s *Store) sweepInterval() time.Duration { return time.Duration(s.retention.grace) * time.Second }

// Sweeper returns a sweeper that looks at so many keys a second, of each master of a cluster; 0 is no limit. Each time it
// has swept, done is told what, and the error that ended the sweep early.
func (s *Store) Sweeper(story Story, keysPerSecond int, done func(Swept, error)) *Sweeper {
	return &Sweeper{
		store: s,
		story: story,
		every: s.sweepInterval(),
		rate:  keysPerSecond,
		done:  done,
	}
}

// Run sweeps every 180th part of the retention, beginning when that time has gone by without a sweep, until ctx ends.
// Of several processes one sweeps.
func (w *Sweeper) Run(ctx context.Context) {
	ticker := time.NewTicker(max(w.every/24, time.Second))
	defer ticker.Stop()
	for first := true; ; first = false {
		key := string(w.store.keys) + sweepKey
		due, err := w.store.redis.WriteClient().SetNX(ctx, key, sweeping, w.every).Result()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.done(Swept{}, unavailable("sweep", err))
		case due && !first:
			w.done(w.sweep(ctx, w.mayGoOn))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// mayGoOn returns an error once sweeps are held.
func (w *Sweeper) mayGoOn(ctx context.Context) error {
	switch says, err := w.store.redis.WriteClient().Get(ctx, string(w.store.keys)+sweepKey).Result(); {
	case errors.Is(err, goredis.Nil): // the next is due already
		return nil
	case says == held:
		return errHeld
	default:
		return err
	}
}

// Sweep goes through all keys once, even where sweeps are held.
func (w *Sweeper) Sweep(ctx context.Context) (Swept, error) {
	return w.sweep(ctx, func(context.Context) error { return nil })
}

// sweep goes through all keys once, and asks before each page whether it may.
func (w *Sweeper) sweep(ctx context.Context, may func(context.Context) error) (Swept, error) {
	var mu sync.Mutex
	var total Swept
	err := w.store.redis.EachMaster(ctx, func(ctx context.Context, master goredis.UniversalClient) error {
		return w.scan(ctx, master, may, func(s Swept) {
			mu.Lock()
			defer mu.Unlock()
			total.Keys += s.Keys
			total.Messages += s.Messages
			total.Extended += s.Extended
			total.Members += s.Members
			total.Damaged += s.Damaged
		})
	})
	return total, unavailable("sweep", err)
}

// page is the number of keys that are looked at in one round trip.
const page = 100

// scan goes through the keys of one master.
func (w *Sweeper) scan(ctx context.Context, master goredis.UniversalClient, may func(context.Context) error, count func(Swept)) error {
	pattern := glob.Replace(string(w.store.keys)) + "[bfpruc]:*"
	for cursor := uint64(0); ; {
		keys, next, err := master.Scan(ctx, cursor, pattern, page).Result()
		if err != nil {
			return err
		}
		for some := range slices.Chunk(keys, page) {
			if err := may(ctx); err != nil {
				return err
			}
			s, err := w.some(ctx, some)
			if count(s); err != nil {
				return err
			}
			if err := w.rest(ctx, len(some)); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// glob makes a text match itself only.
var glob = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// rest waits as long as so many keys may take.
func (w *Sweeper) rest(ctx context.Context, keys int) error {
	if w.rate <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Second * time.Duration(keys) / time.Duration(w.rate))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// some sweeps some keys.
func (w *Sweeper) some(ctx context.Context, keys []string) (Swept, error) {
	now := w.store.now()
	p := sweep{Sweeper: w, now: now, round: w.store.known.begin()}
	p.round.sendAll = true
	read := w.store.redis.WriteClient().Pipeline()
	var plates []string
	var trails []*goredis.MapStringStringCmd
	for _, key := range keys {
		p.Keys++
		switch kind, _ := w.store.keys.split(key); kind {
		case plateKind:
			plates, trails = append(plates, key), append(trails, read.HGetAll(ctx, key))
		case stowageKind:
			p.heal(key)
		case flightKind, passengerKind, rushKind, contentsKind:
			p.batch.add(command{verb: dropMembers, key: p.batch.word([]byte(key)), until: now.Unix()})
			p.heal(key)
		}
	}
	if len(trails) > 0 {
		if _, err := read.Exec(ctx); err != nil && !redis.WrongType(err) {
			return p.Swept, err
		}
	}
	for i, key := range plates {
		fields, err := trails[i].Result()
		switch {
		case redis.WrongType(err):
			p.meet(damage{key: key, what: badType})
			continue
		case err != nil:
			return p.Swept, err
		}
		p.plate(key, fields)
		if err := p.send(ctx, p.batch.full()); err != nil {
			return p.Swept, err
		}
	}
	return p.Swept, p.send(ctx, true)
}

// sweep is the sweep of some keys.
type sweep struct {
	*Sweeper
	Swept
	now   time.Time
	batch batch
	round *round
}

// heal gives a key an expiry that has none, since a process ended between two commands.
func (p *sweep) heal(key string) {
	p.batch.add(command{verb: firstExpiry, key: p.batch.word([]byte(key)), until: p.store.retention.until(p.now, p.now)})
}

// plate drops the messages of a plate whose time is over, and keeps what the others need.
func (p *sweep) plate(key string, fields map[string]string) {
	p.heal(key)
	_, name := p.store.keys.split(key)
	plate, keep := bag.Plate(name), p.store.retention
	identities, messages := p.due(key, plate, fields)
	if len(messages) == 0 {
		return
	}
	last := int64(0)
	for i, end := range p.story.Lifetimes(plate, messages) {
		if !end.After(p.now) {
			p.batch.add(command{verb: dropField, key: p.batch.word([]byte(key)), field: p.batch.word([]byte(identities[i]))})
			continue
		}
		until := keep.round(end.Unix())
		last = max(last, until)
		if until > keep.round(messages[i].Received.Unix()+keep.keep) {
			p.Extended++
			p.extend(p.story.Entry(plate, messages[i]), until)
		}
	}
	if last > 0 {
		p.batch.expire(p.batch.word([]byte(key)), last)
	}
}

// meet counts damage, which is then moved aside.
func (p *sweep) meet(d damage) {
	p.Damaged++
	p.store.meet(d)
}

// due returns the messages of a plate where the time of one of them is over, or nearly; else nothing.
func (p *sweep) due(key string, plate bag.Plate, fields map[string]string) (identities []string, messages []bag.Stored) {
	soon := p.now.Unix() + max(3*p.store.retention.grace, p.store.retention.keep/20) - p.store.retention.keep
	oldest := int64(math.MaxInt64)
	for identity, value := range fields {
		received, err := codec.Received(value)
		if err != nil {
			p.meet(damage{key, badValue, identity, value})
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
			p.meet(damage{key, badValue, identity, value})
			continue
		}
		message.Raw = string(text)
		identities, messages = append(identities, identity), append(messages, message)
	}
	return identities, messages
}

// extend keeps what a message was filed under until a second, and the positionings of its containers.
func (p *sweep) extend(e bag.Entry, until int64) {
	p.store.keys.index(&p.batch, p.round, &e, until)
	for _, c := range e.Stowage {
		if p.round.mustSend(stowageKind, c.Flight, c.Device, "", until) {
			start := len(p.batch.text)
			p.batch.text = p.store.keys.stowage(p.batch.text, c)
			p.batch.expire(p.batch.end(start), until)
		}
	}
}

// send sends what has been gathered, where asked to, and counts what it has removed.
func (p *sweep) send(ctx context.Context, now bool) error {
	if !now {
		return nil
	}
	if err := p.store.send(ctx, &p.batch, string(p.batch.text)); err != nil {
		return err
	}
	for i, c := range p.batch.commands {
		switch n := int(p.batch.replies[i].Val()); c.verb {
		case dropField:
			p.Messages += n
		case dropMembers:
			p.Members += n
		}
	}
	p.batch.reset()
	p.round.confirm()
	return nil
}
