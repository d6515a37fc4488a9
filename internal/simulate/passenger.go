package simulate

import (
	"fmt"
	"math/rand/v2"
)

// passenger is a passenger as messages describe one.
type passenger struct {
	surname, given, pnr string
	frequentFlyer       string // number and tier, or ""
	class               byte
	row, seat           int // the seat is numbered from 0
	sequence            int // security number
	kilos               int
}

var (
	onsets = []string{"BR", "K", "M", "SCH", "V", "L", "ST", "D", "R", "T", "H", "N", "F", "B", "S", "P", "GR", "W", "J", "Z", "CH", "G"}
	vowels = []string{"A", "E", "I", "O", "U", "AU", "EI", "IE", "AE", "OO"}
	codas  = []string{"N", "R", "L", "S", "TT", "CK", "RT", "NN", "M", "", "", "ND"}
	titles = []string{"MR", "MR", "MRS", "MS", "", "MISS"}
	tiers  = []string{"", "SEN", "GOLD", "FTL"}
	cabins = "YYYYYYYMCCJF"
)

// newPassenger draws the n-th passenger. PNRs are unique among a thousand million passengers.
func newPassenger(r *rand.Rand, n int) passenger {
	p := passenger{
		surname: name(r, 2+r.IntN(2)), given: name(r, 1+r.IntN(2)) + pick(r, titles), pnr: locator(n),
		class: cabins[r.IntN(len(cabins))], row: 1 + r.IntN(48), seat: r.IntN(6), sequence: 1 + r.IntN(380), kilos: 7 + r.IntN(25),
	}
	if r.IntN(2) == 0 {
		p.frequentFlyer = fmt.Sprintf("LX%d", 100_000_000+r.IntN(900_000_000))
		if tier := pick(r, tiers); tier != "" {
			p.frequentFlyer += "/" + tier
		}
	}
	return p
}

// name draws a name of that many syllables.
func name(r *rand.Rand, syllables int) string {
	b := make([]byte, 0, 16)
	for range syllables {
		b = append(append(append(b, pick(r, onsets)...), pick(r, vowels)...), pick(r, codas)...)
	}
	if len(b) < 3 {
		b = append(b, "EN"...)
	}
	return string(b)
}

// locator returns the n-th PNR: six letters and digits that look random.
func locator(n int) string {
	const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	scattered := (uint32(n)*0x2545f491 + 0x1b873593) & (1<<30 - 1) // the factor is odd, so that all results differ
	var b [6]byte
	for i := range b {
		b[i] = alphabet[scattered>>(25-5*i)&31]
	}
	return string(b[:])
}

func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }
