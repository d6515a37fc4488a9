// Package bagstore keeps the index in Redis: every accepted message under each plate that it names, or each container
// that it positions, and the plates by flight, container, PNR and re-flighted bag. It is the only importer of go-redis. It
// stores messages, not events: what they mean is folded when they are read, so every write commutes with every other, may
// be repeated, and needs no transaction.
//
// The guarantees: what File has reported as filed is in Redis whole; a read is whole or an error, but for values that are
// damaged, which stall nobody: they are left out and moved aside, and filing their messages again brings them back; nothing
// is kept longer than retention allows. All that goes wrong on the way to Redis and back is ErrUnavailable.
package bagstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"bagtrail/internal/bagstore/codec"
)

// Config says where the index is kept, and for how long.
type Config struct {
	URL       string           // of Redis, see ParseURL; "" for one inside this process
	Retention time.Duration    // how long a bag is kept after its last event; at least a second
	Now       func() time.Time // the clock; it decides what has expired

	// Damaged is told, perhaps from several goroutines, the digest of the name of a key under which something damaged was
	// found, when that has been moved aside, or why it was not. It may be nil.
	Damaged func(digest string, err error)
}

// Store is a connection to the index. It is safe for concurrent use.
type Store struct {
	keys      keys
	retention retention
	now       func() time.Time
	codec     *codec.Codec
	settled   *settled
	recent    recent
	damages   damages
	damaged   func(digest string, err error)
	reading   redis.UniversalClient
	writing   redis.UniversalClient
	embedded  *embedded // nil where Redis is a server
}

// Open returns a store. It does not connect: the first use does, and Check and Ready say whether it can be done.
// An error is a fault in c, all faults together; it never holds a password.
func Open(c Config) (*Store, error) {
	if c.Retention < time.Second {
		return nil, fmt.Errorf("bagstore: retention of %v is less than a second", c.Retention)
	}
	s := &Store{
		retention: newRetention(c.Retention),
		now:       c.Now,
		codec:     codec.New(),
		settled:   newSettled(mostMarks),
		damages:   damages{waiting: make(map[damage]struct{}), ended: make(chan struct{})},
		damaged:   c.Damaged,
	}
	if s.damaged == nil {
		s.damaged = func(string, error) {}
	}
	if c.URL == "" {
		e, err := startEmbedded(c.Now, time.Duration(s.retention.granule)*time.Second)
		if err != nil {
			return nil, fmt.Errorf("bagstore: %w", err)
		}
		s.embedded = e
		s.connect(Address{Hosts: []string{"in-process"}})
		return s, nil
	}
	address, err := ParseURL(c.URL)
	if err != nil {
		return nil, fmt.Errorf("bagstore: %w", err)
	}
	s.keys = keys(address.Prefix)
	s.connect(address)
	return s, nil
}

// Client returns the client for writing, for a store beside this one, and the prefix of the installation's keys. It is closed with s.
func (s *Store) Client() (redis.UniversalClient, string) { return s.writing, string(s.keys) }

// Embedded reports whether the index lives in this process, and so ends with it.
func (s *Store) Embedded() bool { return s.embedded != nil }

// Ready returns nil where Redis answers now, on every master of a cluster; else, and within a second, ErrUnavailable.
func (s *Store) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit(1))
	defer cancel()
	err := s.eachMaster(ctx, s.reading, func(ctx context.Context, client redis.UniversalClient) error {
		return client.Ping(ctx).Err()
	})
	return unavailable("ping", err)
}

// Close ends all connections, and an in-process Redis with everything that it holds.
func (s *Store) Close() error {
	s.damages.end()
	err := errors.Join(s.reading.Close(), s.writing.Close())
	s.damages.working.Wait()
	if s.embedded != nil {
		s.embedded.close()
	}
	if err != nil {
		return fmt.Errorf("bagstore: close: %w", err)
	}
	return nil
}

// eachMaster calls f for the server, or for every master of a cluster at once.
func (s *Store) eachMaster(ctx context.Context, client redis.UniversalClient, f func(context.Context, redis.UniversalClient) error) error {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { return f(ctx, master) })
	}
	return f(ctx, client)
}
