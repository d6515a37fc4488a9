package apikey

import (
	"crypto/sha256"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/watch"
)

// DevelopmentKey is the only key if no key file is configured and HTTP listens on loopback. It is
// not a secret.
const DevelopmentKey = "bagtrail-development"

// Store holds the current keys. It is safe for concurrent use. Its method Watch reloads the key file
// when it changes; a file with a fault does not change the keys.
type Store struct {
	*watch.Value[keySet]
}

// keySet holds the keys of one version of the file. It never changes.
type keySet struct {
	byDigest map[[sha256.Size]byte]*Key
	byName   map[string]*Key
}

// Open reads the key file. airlines lets a key cover an airline by its IATA and its ICAO code. The
// error joins the faults of the file.
func Open(path string, airlines *airline.Library) (*Store, error) {
	keys, err := watch.NewValue(path, func(text []byte, before *keySet) (*keySet, error) {
		keys, err := Parse(text)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			key.library = airlines
		}
		return newKeySet(keys, before), nil
	})
	if err != nil {
		return nil, err
	}
	return &Store{keys}, nil
}

// Development returns a store that holds only DevelopmentKey, with every right.
func Development() *Store {
	everything := Scope{All: true}
	return &Store{watch.Constant(newKeySet([]*Key{{
		Name: "development", Customer: "DEVELOPMENT", Airlines: everything, Airports: everything, Operations: everything,
		digest: sha256.Sum256([]byte(DevelopmentKey)),
	}}, nil))}
}

// Lookup returns the key with that text. It returns false if the key is unknown, expired or revoked.
// A key is found by the digest of its text, so the time that this takes says nothing about the texts
// of other keys.
func (s *Store) Lookup(text string, now time.Time) (*Key, bool) {
	key := s.Load().byDigest[sha256.Sum256([]byte(text))]
	if key == nil || key.State(now) != "active" {
		return nil, false
	}
	return key, true
}

// MaxKeyFileLag bounds the time between the reads of a new key file by two processes: each process
// reads the file by itself.
const MaxKeyFileLag = 2 * time.Minute

// ByName finds keys by their names; *Store implements it.
type ByName interface {
	// Named returns the key with that name, or nil if there is none, and whether it is active at that
	// time: neither expired nor revoked.
	Named(name string, now time.Time) (key *Key, active bool)
}

// Named implements ByName.
func (s *Store) Named(name string, now time.Time) (key *Key, active bool) {
	key = s.Load().byName[name]
	return key, key != nil && key.State(now) == "active"
}

// newKeySet returns the set of keys. A key whose digest is in before keeps its bucket, even if its
// entry has changed.
func newKeySet(keys []*Key, before *keySet) *keySet {
	next := &keySet{make(map[[sha256.Size]byte]*Key, len(keys)), make(map[string]*Key, len(keys))}
	for _, key := range keys {
		key.bucket = &bucket{}
		if before != nil {
			if old := before.byDigest[key.digest]; old != nil {
				key.bucket = old.bucket
			}
		}
		next.byDigest[key.digest], next.byName[key.Name] = key, key
	}
	return next
}
