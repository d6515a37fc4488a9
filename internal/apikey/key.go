// Package apikey knows who may ask what: the keys of the key file, what each of them covers (rules §4, key scope) and
// how fast it may ask. A key is stored as its digest; the key itself is seen once, when it is made.
//
// A request looks its key up once and keeps it: a *Key never changes, so no request is judged by half a file.
// The package decides nothing about answers, and never logs.
package apikey

import (
	"crypto/sha256"
	"slices"
	"time"

	"bagtrail/enricher/airline"
)

// Scope is a list of codes that a key covers. The zero Scope covers nothing.
type Scope struct {
	All   bool     // it covers every code, also those that are not known
	Codes []string // else these
}

// ScopeOf makes a Scope of a list as the key file has it: nil and one with "*" are everything, an empty one is nothing.
func ScopeOf(codes []string) Scope {
	if codes == nil || slices.Contains(codes, "*") {
		return Scope{All: true}
	}
	return Scope{Codes: codes}
}

// Has reports whether the scope covers code. "", a code that is not known, is covered by everything only.
func (s Scope) Has(code string) bool { return s.All || code != "" && slices.Contains(s.Codes, code) }

// Key is one entry of the key file. Only its bucket changes once it is read.
type Key struct {
	Name       string // shown in logs
	Customer   string // "" where the key has none
	Airlines   Scope
	Airports   Scope
	Operations Scope
	Conceal    bool      // bags out of scope are answered as if there were none
	Expires    time.Time // from then on the key is unknown; zero: never
	Revoked    bool
	Rate       float64 // requests a second in the long run; 0: without limit
	Burst      int     // requests at once, at least 1 where there is a rate

	airlines *airline.Library // nil where no two codes are one airline
	digest   [sha256.Size]byte
	bucket   *bucket
}

// State says in one word whether the key can be used: active, expired or revoked.
func (k *Key) State(now time.Time) string {
	switch {
	case k.Revoked:
		return "revoked"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	}
	return "active"
}
