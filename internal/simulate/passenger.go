package simulate

import "math/rand/v2"

// passenger is whoever travels, and what messages say of that.
type passenger struct {
	surname, given, pnr, flyer string // flyer: number and tier of a frequent traveller, or ""
	class                      byte
	row, seat                  int
	sequence                   int
	kilos                      int
}

var (
	heads  = []string{"BR", "K", "M", "SCH", "V", "L", "ST", "D", "R", "T", "H", "N", "F", "B", "S", "P", "GR", "W", "J", "Z", "CH", "G"}
	bodies = []string{"A", "E", "I", "O", "U", "AU", "EI", "IE", "AE", "OO"}
	tails  = []string{"N", "R", "L", "S", "TT", "CK", "RT", "NN", "M", "", "", "ND"}
	titles = []string{"MR", "MR", "MRS", "MS", "", "MISS"}
	tiers  = []string{"", "SEN", "GOLD", "FTL"}
	cabins = "YYYYYYYMCCJF"
)

// newPassenger draws the n-th passenger. No two have the same PNR within a thousand million.
func newPassenger(r *rand.Rand, n int) passenger {
	p := passenger{
		surname: name(r, 2+r.IntN(2)), given: name(r, 1+r.IntN(2)) + pick(r, titles), pnr: locator(n),
		class: cabins[r.IntN(len(cabins))], row: 1 + r.IntN(48), seat: r.IntN(6), sequence: 1 + r.IntN(380), kilos: 7 + r.IntN(25),
	}
	if r.IntN(2) == 0 {
		digits := 100_000_000 + r.IntN(900_000_000)
		p.flyer = string(appendNumber([]byte("LX"), digits, 9))
		if tier := pick(r, tiers); tier != "" {
			p.flyer += "/" + tier
		}
	}
	return p
}

// name makes a name of some syllables.
func name(r *rand.Rand, syllables int) string {
	b := make([]byte, 0, 16)
	for range syllables {
		b = append(append(append(b, pick(r, heads)...), pick(r, bodies)...), pick(r, tails)...)
	}
	if len(b) < 3 {
		b = append(b, "EN"...)
	}
	return string(b)
}

// locator writes the n-th PNR: six letters and digits that look like chance.
func locator(n int) string {
	const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	scattered := (uint32(n)*0x2545f491 + 0x1b873593) & (1<<30 - 1) // odd factor: no two alike
	var b [6]byte
	for i := range b {
		b[i] = alphabet[scattered>>(25-5*i)&31]
	}
	return string(b[:])
}

func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }

// appendNumber appends n with at least so many digits.
func appendNumber(b []byte, n, digits int) []byte {
	var d [20]byte
	at := len(d)
	for n > 0 || digits > 0 {
		at--
		d[at] = byte('0' + n%10)
		n /= 10
		digits--
	}
	return append(b, d[at:]...)
}
