package apikey

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/watch"
)

// DevelopmentKey is the key that serve makes where no key file is configured. Everybody knows it.
const DevelopmentKey = "bagtrail-development"

// Store holds the keys in force. It is safe for concurrent use.
type Store struct {
	keys *watch.Value[set]
}

// set is the keys of one version of the file. It never changes.
type set map[[sha256.Size]byte]*Key

// Open reads the key file. A key covers its airlines by whichever of their codes. The error joins every fault of the file.
func Open(path string, airlines *airline.Library) (*Store, error) {
	keys, err := watch.NewValue(path, func(text []byte, before *set) (*set, error) {
		keys, err := Parse(text)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			key.airlines = airlines
		}
		return newSet(keys, before), nil
	})
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	return &Store{keys}, nil
}

// Development returns a store that holds DevelopmentKey alone, with every right.
func Development() *Store {
	everything := Scope{All: true}
	return &Store{watch.Constant(newSet([]*Key{{
		Name: "development", Customer: "DEVELOPMENT", Airlines: everything, Airports: everything, Operations: everything,
		digest: sha256.Sum256([]byte(DevelopmentKey)),
	}}, nil))}
}

// Lookup returns the key with that text. One that is missing, unknown, expired or revoked is not found, and each costs
// the same time.
func (s *Store) Lookup(text string, now time.Time) (*Key, bool) {
	digest := sha256.Sum256([]byte(text))
	key := (*s.keys.Load())[digest]
	var stored [sha256.Size]byte // the digest of no text
	if key != nil {
		stored = key.digest
	}
	if subtle.ConstantTimeCompare(stored[:], digest[:]) == 0 || text == "" || key.State(now) != "active" {
		return nil, false
	}
	return key, true
}

// Named returns the key of that name, for those who do not have its text. One that is missing, expired or revoked is not found.
func (s *Store) Named(name string, now time.Time) (*Key, bool) {
	for _, key := range *s.keys.Load() {
		if key.Name == name {
			return key, key.State(now) == "active"
		}
	}
	return nil, false
}

// Watch takes over changes of the key file until ctx ends, as watch.Value does. A file with any fault leaves the keys as
// they are.
func (s *Store) Watch(ctx context.Context, ticks <-chan time.Time, report func(error)) {
	s.keys.Watch(ctx, ticks, report)
}

// newSet brings keys into force. A key that was there before keeps its bucket, whatever else has changed about it.
func newSet(keys []*Key, before *set) *set {
	next := make(set, len(keys))
	for _, key := range keys {
		key.bucket = &bucket{}
		if before != nil {
			if old := (*before)[key.digest]; old != nil {
				key.bucket = old.bucket
			}
		}
		next[key.digest] = key
	}
	return &next
}
