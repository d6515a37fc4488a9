// Package bagstore keeps the index in Redis: every accepted message under each plate that it names
// or each container that it positions, the plates by flight, by flight and surname, by container,
// by PNR and by re-flighted bag, and the flights by airport and day. It stores messages, not
// events. Their meaning is derived when they are read, so writes commute, may be repeated, and need
// no transactions.
//
// After File returns a nil error, its messages are in Redis with all their entries. A read is
// complete or fails, except for damaged values: a read leaves them out, the store moves them aside,
// and filing their messages again restores them. Nothing is kept longer than the retention allows.
// Errors of Redis wrap redis.ErrUnavailable.
package bagstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bagtrail/internal/bagstore/codec"
	"bagtrail/internal/redis"
)

// Config is the configuration of a Store.
type Config struct {
	Retention time.Duration    // how long a bag is kept after its last event; at least a second
	Now       func() time.Time // the clock; it decides what has expired

	// Damaged is called with a nil error after damage was moved aside, or with the error if it
	// could not be moved. Several goroutines may call it. digest stands for the name of the key,
	// which must not be logged. Damaged may be nil.
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

// CheckPrefix returns an error if an installation without a prefix would mistake keys with this
// prefix for its own.
func CheckPrefix(prefix string) error {
	if len(prefix) > 1 && strings.Contains(sweptKinds, prefix[:1]) && prefix[1] == ':' {
		return fmt.Errorf("with the prefix %q an installation without a prefix would take the keys for its own: choose one that does not begin with one letter and a colon", prefix)
	}
	return nil
}

// Open returns a store that uses a client. Close the store before the client.
func Open(client *redis.Client, c Config) (*Store, error) {
	if c.Retention < time.Second {
		return nil, fmt.Errorf("bagstore: retention of %v is less than a second", c.Retention)
	}
	if err := CheckPrefix(client.Prefix()); err != nil {
		return nil, fmt.Errorf("bagstore: %w", err)
	}
	s := &Store{
		redis:     client,
		keys:      keys(client.Prefix()),
		retention: newRetention(c.Retention),
		now:       c.Now,
		codec:     codec.New(),
		known:     newKnownWrites(maxMarks, client.Connects),
		damages:   damageQueue{queue: make(chan damage, maxDamages)},
		damaged:   c.Damaged,
	}
	s.damages.ctx, s.damages.end = context.WithCancel(context.Background())
	if s.damaged == nil {
		s.damaged = func(string, error) {}
	}
	s.damages.worker.Go(s.moveAll)
	return s, nil
}

// Close stops moving damage aside, and waits for the move in progress. It does not close the
// client.
func (s *Store) Close() {
	s.damages.end()
	s.damages.worker.Wait()
}

// unavailable is redis.Unavailable for an operation of the store.
func unavailable(operation string, err error) error {
	return redis.Unavailable("bagstore: "+operation, err)
}
