package apikey

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"sync/atomic"
	"time"

	"bagtrail/internal/watch"
)

// DevelopmentKey is the key that serve makes where no key file is configured. Everybody knows it.
const DevelopmentKey = "bagtrail-development"

// Store holds the keys in force. It is safe for concurrent use.
type Store struct {
	file *watch.File // nil: the keys never change
	set  atomic.Pointer[set]
}

// set is the keys of one version of the file. It never changes.
type set map[[sha256.Size]byte]*Key

// Open reads the key file. The error joins every fault of it.
func Open(path string) (*Store, error) {
	file, text, err := watch.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	s := &Store{file: file}
	if err := s.take(text); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

// Development returns a store that holds DevelopmentKey alone, with every right.
func Development() *Store {
	everything := Scope{All: true}
	s := &Store{}
	s.put([]*Key{{
		Name: "development", Customer: "DEVELOPMENT", Airlines: everything, Airports: everything, Operations: everything,
		digest: sha256.Sum256([]byte(DevelopmentKey)),
	}})
	return s
}

// Lookup returns the key with that text. One that is missing, unknown, expired or revoked is not found, and each costs
// the same time.
func (s *Store) Lookup(text string, now time.Time) (*Key, bool) {
	digest := sha256.Sum256([]byte(text))
	key := (*s.set.Load())[digest]
	var stored [sha256.Size]byte // the digest of no text
	if key != nil {
		stored = key.digest
	}
	if subtle.ConstantTimeCompare(stored[:], digest[:]) == 0 || text == "" || key.State(now) != "active" {
		return nil, false
	}
	return key, true
}

// Active returns the number of keys that can be used.
func (s *Store) Active(now time.Time) int {
	n := 0
	for _, key := range *s.set.Load() {
		if key.State(now) == "active" {
			n++
		}
	}
	return n
}

// Watch takes over changes of the key file until ctx ends, looking at every tick (see watch.Interval). A file with any
// fault leaves the keys as they are. Each change is told to report once: nil, or what is wrong with the file.
func (s *Store) Watch(ctx context.Context, ticks <-chan time.Time, report func(error)) {
	if s.file == nil {
		<-ctx.Done()
		return
	}
	s.file.Run(ctx, ticks, s.take, report)
}

func (s *Store) take(text []byte) error {
	keys, err := Parse(text)
	if err != nil {
		return err
	}
	s.put(keys)
	return nil
}

// put brings keys into force. A key that was there before keeps its bucket, whatever else has changed about it.
func (s *Store) put(keys []*Key) {
	next := make(set, len(keys))
	var before set
	if old := s.set.Load(); old != nil {
		before = *old
	}
	for _, key := range keys {
		key.bucket = &bucket{}
		if old := before[key.digest]; old != nil {
			key.bucket = old.bucket
		}
		next[key.digest] = key
	}
	s.set.Store(&next)
}
