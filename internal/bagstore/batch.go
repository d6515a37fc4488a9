package bagstore

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bag"
	"bagtrail/internal/redis"
)

// A batch is sent when it has this many commands, or bytes: enough to make round trips cheap, and
// few enough that other clients of Redis need not wait.
const (
	batchCommands = 1000
	batchBytes    = 256 << 10
	argumentBytes = 8 // the overhead of the Redis protocol for an argument
)

// batch collects the writing commands of a round, and sends them in one round trip at a time.
type batch struct {
	store    *Store
	round    *round
	commands []command
	bytes    int            // size of their arguments in the Redis protocol
	adding   map[string]int // by key of a set: the index of the command that adds members to it
}

// newBatch returns an empty batch in a round of its own.
func (s *Store) newBatch() *batch { return &batch{store: s, round: s.known.begin()} }

// command is one writing command. Its reply is how many fields or members it changed.
type command struct {
	args    []any  // the name of the command, the key, and the other arguments
	changed []*int // the reply is added to each of them
	reply   *goredis.IntCmd
}

// add adds a command. If changed is not nil, the reply is added to it. The arguments are strings or
// int64s.
func (b *batch) add(changed *int, args ...any) {
	b.commands = append(b.commands, command{})
	b.extend(len(b.commands)-1, changed, args)
}

// extend adds arguments to a command, and its reply to changed.
func (b *batch) extend(at int, changed *int, args []any) {
	for _, arg := range args {
		text, _ := arg.(string)
		b.bytes += len(text) + argumentBytes
	}
	c := &b.commands[at]
	c.args = append(c.args, args...)
	if n := len(c.changed); changed != nil && (n == 0 || c.changed[n-1] != changed) {
		c.changed = append(c.changed, changed)
	}
}

// addTo adds a member to a set. All members that a batch adds to a set go in one command: a message
// may add 999 bags to each of 98 flights.
func (b *batch) addTo(changed *int, set []any, member ...any) {
	key, _ := set[1].(string)
	at, have := b.adding[key]
	if have {
		b.extend(at, changed, member)
		return
	}
	if b.adding == nil {
		b.adding = make(map[string]int)
	}
	b.adding[key] = len(b.commands)
	b.add(changed, append(set, member...)...)
}

// addMember adds a member to a sorted set, unless Redis is known to have it. The member expires at
// the second until, or later.
func (b *batch) addMember(changed *int, key, member string, until int64) {
	if b.round.mustSend(key, member, until) {
		b.addTo(changed, []any{"zadd", key, "gt"}, until, member)
		b.expireOnce(key, until)
	}
}

// ensureExpiry makes a key without an expiry expire at a second.
func (b *batch) ensureExpiry(key string, until int64) {
	b.add(nil, "expireat", key, until, "nx")
}

// expire makes a key expire at a second, or later. It takes two commands, since GT treats a key
// without an expiry as one that never expires.
func (b *batch) expire(key string, until int64) {
	b.ensureExpiry(key, until)
	b.add(nil, "expireat", key, until, "gt")
}

func (b *batch) full() bool { return len(b.commands) >= batchCommands || b.bytes >= batchBytes }

// send sends the commands in one round trip, confirms them in the round, and empties the batch. If
// keys have a wrong type, send moves them aside, since nothing could ever be written there, and
// sends the commands again.
func (b *batch) send(ctx context.Context) error {
	err := b.trip(ctx)
	if redis.WrongType(err) {
		moved := make(map[string]bool)
		for i := range b.commands {
			key, _ := b.commands[i].args[1].(string)
			if !redis.WrongType(b.commands[i].reply.Err()) || moved[key] {
				continue
			}
			moved[key] = true
			if err := b.store.moveAside(ctx, damage{key: key, kind: badType}); err != nil {
				return err
			}
		}
		err = b.trip(ctx)
	}
	if err != nil {
		return err
	}
	b.round.confirm()
	b.commands, b.bytes, b.adding = nil, 0, nil
	return nil
}

// trip sends the commands in one round trip, adds their replies to their counters, and returns the
// first error of a command. A command that fails adds nothing.
func (b *batch) trip(ctx context.Context) error {
	err := b.store.redis.Write(ctx, func(p goredis.Pipeliner) {
		for i := range b.commands {
			c := &b.commands[i]
			c.reply = goredis.NewIntCmd(ctx, c.args...)
			_ = p.Process(ctx, c.reply)
		}
	})
	for i := range b.commands {
		for _, changed := range b.commands[i].changed {
			*changed += int(b.commands[i].reply.Val())
		}
	}
	return err
}

// index adds the entries under which a plate and its flights are found. They expire at the second
// until, or later. Entries that Redis is known to have are left out. If changed is not nil, the
// number of entries that were missing in Redis is added to it.
func (b *batch) index(changed *int, e *bag.Entry, until int64) {
	k := b.store.keys
	add := func(key string) { b.addMember(changed, key, string(e.Plate), until) }
	for _, f := range e.Flights {
		add(k.flight(f))
	}
	b.indexEnds(changed, e.Ends, until)
	for _, surname := range e.Surnames {
		number := nameNumber(surname, e.Plate)
		for _, f := range e.Flights {
			if key := k.names(f); b.round.mustSend(key, number, until) {
				b.addTo(changed, []any{"sadd", key}, number)
				b.expireOnce(key, until)
			}
		}
	}
	for _, c := range e.Stowage {
		add(k.contents(c))
	}
	for _, pnr := range e.PNRs {
		add(k.passenger(pnr))
		if e.Rush {
			add(k.rushPNR(pnr))
		}
	}
	for _, original := range e.Originals {
		add(k.rush(original))
	}
}

// indexEnds adds the entries under which the flights of an airport are found.
func (b *batch) indexEnds(changed *int, ends []bag.End, until int64) {
	for _, end := range ends {
		b.addMember(changed, b.store.keys.airport(end.AirportDay()), end.Flight.Airline+end.Flight.Number, until)
	}
}

// expireOnce makes a key expire at the second until, or later, unless Redis is known to have that
// expiry.
func (b *batch) expireOnce(key string, until int64) {
	if b.round.mustSend(key, "", until) {
		b.expire(key, until)
	}
}
