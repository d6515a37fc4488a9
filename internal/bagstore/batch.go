package bagstore

import (
	"context"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/redis"
)

// A batch is sent when it has this many commands, or bytes: enough that a round trip costs little, and so little that
// what others ask of Redis is not kept waiting.
const (
	batchCommands = 1000
	batchBytes    = 256 << 10
)

// batch gathers writing commands for one pipeline. All their texts lie in one piece of memory, and all their arguments
// in another, so that a command costs one allocation, that of its reply.
type batch struct {
	text     []byte
	commands []command
	values   int   // bytes of the values that the commands send
	value    span  // of the message that was added last: all its commands send the same
	holder   int32 // whose value that is, counted from 1; 0 without one
	words    []string
	args     []any
	pipeline []goredis.Cmder
	replies  []*goredis.IntCmd
}

// command is one command of a batch.
type command struct {
	key, field, value span
	until             int64 // second of expiry
	owner             int32 // index of what a setField was made for
	verb              verb
}

// span is where a word lies in the text of a batch.
type span struct{ start, end int32 }

func (s span) of(text string) string { return text[s.start:s.end] }

type verb uint8

const (
	setField    verb = iota // HSET key field value
	dropField               // HDEL key field
	addMember               // ZADD key GT until value
	dropMembers             // ZREMRANGEBYSCORE key -inf until
	firstExpiry             // EXPIREAT key until NX
	laterExpiry             // EXPIREAT key until GT
)

func (b *batch) full() bool {
	return len(b.commands) >= batchCommands || len(b.text)+b.values >= batchBytes
}

func (b *batch) reset() {
	b.text, b.commands, b.values, b.holder = b.text[:0], b.commands[:0], 0, 0
	clear(b.words)
	clear(b.args)
	clear(b.pipeline)
	clear(b.replies)
}

// end returns the span from start to the end of the text.
func (b *batch) end(start int) span { return span{int32(start), int32(len(b.text))} }

func (b *batch) word(w []byte) span {
	start := len(b.text)
	b.text = append(b.text, w...)
	return b.end(start)
}

// set adds a field to the hash under a key: a message, of which a batch holds the value once.
func (b *batch) set(key span, owner int, identity codec.Identity, value []byte) {
	if b.holder != int32(owner)+1 {
		b.value, b.holder = b.word(value), int32(owner)+1
	}
	b.values += len(value)
	b.add(command{verb: setField, key: key, field: b.word(identity[:]), value: b.value, owner: int32(owner)})
}

func (b *batch) add(c command) { b.commands = append(b.commands, c) }

// expire makes a key that is there expire at a second, or later. It takes two commands, since GT takes a key without an
// expiry for an endless one.
func (b *batch) expire(key span, until int64) {
	b.add(command{verb: firstExpiry, key: key, until: until})
	b.add(command{verb: laterExpiry, key: key, until: until})
}

// send sends the commands, whose words lie in text, in one round trip, and returns the first error of any of them. The
// replies are in order.
func (b *batch) send(ctx context.Context, client *redis.Client, text string) error {
	if len(b.commands) == 0 {
		return nil
	}
	b.build(ctx, text)
	return client.Write(ctx, func(p goredis.Pipeliner) { _ = p.BatchProcess(ctx, b.pipeline...) })
}

// build makes the commands of the client. Their arguments are pointers into memory that must not move any more.
func (b *batch) build(ctx context.Context, text string) {
	n := len(b.commands)
	b.words = slices.Grow(b.words[:0], 3*n)
	b.args = slices.Grow(b.args[:0], 5*n)
	b.pipeline, b.replies = b.pipeline[:0], b.replies[:0]
	for i := range b.commands {
		c := &b.commands[i]
		w := len(b.words)
		b.words = append(b.words, c.key.of(text), c.field.of(text), c.value.of(text))
		key, field, value := &b.words[w], &b.words[w+1], &b.words[w+2]
		first := len(b.args)
		switch c.verb {
		case setField:
			b.args = append(b.args, "hset", key, field, value)
		case dropField:
			b.args = append(b.args, "hdel", key, field)
		case addMember:
			b.args = append(b.args, "zadd", key, "gt", &c.until, value)
		case dropMembers:
			b.args = append(b.args, "zremrangebyscore", key, "-inf", &c.until)
		case firstExpiry:
			b.args = append(b.args, "expireat", key, &c.until, "nx")
		case laterExpiry:
			b.args = append(b.args, "expireat", key, &c.until, "gt")
		}
		reply := goredis.NewIntCmd(ctx, b.args[first:len(b.args):len(b.args)]...)
		b.pipeline, b.replies = append(b.pipeline, reply), append(b.replies, reply)
	}
}
