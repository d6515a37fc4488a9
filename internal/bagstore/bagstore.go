// Package bagstore keeps the index in Redis: every accepted message under each plate that it names, or each container
// that it positions, and the plates by flight, container, PNR and re-flighted bag. It stores messages, not events: what
// they mean is folded when they are read, so every write commutes with every other, may be repeated, and needs no
// transaction.
//
// The guarantees: what File has reported as filed is in Redis whole; a read is whole or an error, but for values that are
// damaged, which stall nobody: they are left out and moved aside, and filing their messages again brings them back; nothing
// is kept longer than retention allows. All that goes wrong on the way to Redis and back is redis.ErrUnavailable.
package bagstore

import (
	"fmt"
	"time"

	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/redis"
)

// Config says for how long the index is kept.
type Config struct {
	Retention time.Duration    // how long a bag is kept after its last event; at least a second
	Now       func() time.Time // the clock; it decides what has expired

	// Damaged is told, perhaps from several goroutines, the digest of the name of a key under which something damaged was
	// found, when that has been moved aside, or why it was not. It may be nil.
	Damaged func(digest string, err error)
}

// Store is the index. It is safe for concurrent use.
type Store struct {
	redis     *redis.Client
	keys      keys
	retention retention
	now       func() time.Time
	codec     *codec.Codec
	known     *knownWrites
	damages   damageQueue
	damaged   func(digest string, err error)
}

// Open returns a store of what client leads to. The caller closes the store before the client.
func Open(client *redis.Client, c Config) (*Store, error) {
	if c.Retention < time.Second {
		return nil, fmt.Errorf("bagstore: retention of %v is less than a second", c.Retention)
	}
	s := &Store{
		redis:     client,
		keys:      keys(client.Prefix()),
		retention: newRetention(c.Retention),
		now:       c.Now,
		codec:     codec.New(),
		known:     newKnownWrites(mostMarks, client.Connects),
		damages:   damageQueue{waiting: make(map[damage]struct{}), closed: make(chan struct{})},
		damaged:   c.Damaged,
	}
	if s.damaged == nil {
		s.damaged = func(string, error) {}
	}
	return s, nil
}

// Close ends the moving aside of damage, and waits for a move that is under way. It leaves the client open.
func (s *Store) Close() { s.damages.close() }

// unavailable returns nil for nil, otherwise a redis.ErrUnavailable.
func unavailable(operation string, err error) error {
	if err == nil {
		return nil
	}
	return redis.Unavailable("bagstore: "+operation, err)
}
