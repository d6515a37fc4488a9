// Package apikey reads and edits the key file. It decides what a key covers (rules §4, what a key
// covers) and whether its rate limit lets a request pass. It also limits how many unknown keys an
// address may send. The file stores only the digest of a key; the key itself is shown once, when it
// is made.
//
// A request looks up its key once and keeps it; a stream, and a call that waits for changes, look
// it up again. Apart from the tokens of its rate limit, a *Key does not change, so that a reload of
// the file does not change the scope in the middle of a request. The package does not decide on
// answers, and never logs.
package apikey

import (
	"crypto/sha256"
	"slices"
	"time"

	"bagtrail/enricher/airline"
	"bagtrail/internal/smallmap"
)

// Scope is a list of codes, or of the names of rights, that a key covers. The zero Scope covers nothing.
type Scope struct {
	All   bool     // it covers every code, and "" too
	Codes []string // the codes that it covers otherwise
}

// ScopeOf returns the Scope for a list of the key file. nil and a list with "*" cover everything,
// an empty list covers nothing.
func ScopeOf(codes []string) Scope {
	if codes == nil || slices.Contains(codes, "*") {
		return Scope{All: true}
	}
	return Scope{Codes: smallmap.Distinct(slices.Clone(codes))}
}

// Has reports whether the scope covers code. "" stands for an unknown code; only a scope with All
// covers it.
func (s Scope) Has(code string) bool { return s.All || code != "" && slices.Contains(s.Codes, code) }

// Key is an API key, usually an entry of the key file.
type Key struct {
	Name       string // shown in logs
	Customer   string // owner of webhooks; a key with "" is refused histories, and the bags, flights, changes and webhooks of /v1
	Airlines   Scope  // call Key.Airline, which takes IATA and ICAO codes; Airlines.Has compares codes as they are
	Airports   Scope
	Operations Scope     // names of rights, see operation.Right
	Conceal    bool      // bags out of scope are answered as if they did not exist
	Expires    time.Time // from then on the key is not accepted; zero: never
	Revoked    bool
	Rate       float64 // requests a second in the long run, in each process; 0: no limit
	Burst      int     // requests at once, at least 1 if there is a rate

	library *airline.Library // IATA and ICAO codes of airlines; nil compares codes as they are
	digest  [sha256.Size]byte
	bucket  *bucket // of the rate limit; nil: no limit
}

// Digest returns the SHA-256 digest of the text of the key.
func (k *Key) Digest() [sha256.Size]byte { return k.digest }

// State returns "active", "expired" or "revoked".
func (k *Key) State(now time.Time) string {
	switch {
	case k.Revoked:
		return "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	}
	return "active"
}
