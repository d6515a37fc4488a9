package apikey

import (
	"hash/maphash"
	"net/netip"
	"time"
)

const (
	guessesAtOnce   = 20
	guessesASecond  = guessesAtOnce / 60.
	guessersTracked = 1 << 14
)

// Guesses limits how many unknown keys an address may present: 20 at once, and 20 a minute in the long run. It takes the same
// memory however many addresses there are: addresses share buckets, few at usual times, so that in a flood from very many of them
// all have to wait. An IPv6 address counts by its first 64 bits.
type Guesses struct {
	seed    maphash.Seed
	buckets [guessersTracked]bucket
}

// NewGuesses returns a limit that nobody has used up.
func NewGuesses() *Guesses { return &Guesses{seed: maphash.MakeSeed()} }

// Take notes that an address has presented an unknown key. It returns in how many seconds it may present the next one, where it
// may not now, and else 0.
func (g *Guesses) Take(from netip.Addr, now time.Time) (wait int) {
	if from.Is6() {
		network, _ := from.Prefix(64) // which every IPv6 address has
		from = network.Addr()
	}
	return g.buckets[maphash.Comparable(g.seed, from)%guessersTracked].take(now, guessesASecond, guessesAtOnce).RetryAfter
}
