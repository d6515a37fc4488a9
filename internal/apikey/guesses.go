package apikey

import (
	"hash/maphash"
	"net/netip"
	"time"
)

const (
	guessesAtOnce  = 20
	guessesASecond = guessesAtOnce / 60.
	guessBuckets   = 1 << 14
)

// Guesses limits how many unknown keys an address may send: 20 at once, and 20 a minute in the
// long run. IPv6 addresses with the same first 64 bits count as one. The number of buckets is
// fixed, so that a flood takes no memory. Addresses with the same hash share a bucket and its
// limit.
type Guesses struct {
	seed    maphash.Seed
	buckets [guessBuckets]bucket
}

// NewGuesses returns a limit with full buckets.
func NewGuesses() *Guesses { return &Guesses{seed: maphash.MakeSeed()} }

// Take counts an unknown key against the address that presented it. It returns 0, or, if the
// address has presented too many, the whole seconds until it may present the next one.
func (g *Guesses) Take(from netip.Addr, now time.Time) (wait int) {
	if from = from.Unmap(); from.Is6() {
		network, _ := from.Prefix(64) // an IPv6 address always has one
		from = network.Addr()
	}
	return g.buckets[maphash.Comparable(g.seed, from)%guessBuckets].take(now, guessesASecond, guessesAtOnce).RetryAfter
}
