package bagjson

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestTimesAreWrittenAsTheirFormatSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	offsets := []int{0, 3600, -3600, 5*3600 + 1800, -(9*3600 + 1800), 14 * 3600, -12 * 3600, 1172, -1172, 45 * 60, -30}
	for range 100_000 {
		at := time.Unix(random.Int64N(300_000_000_000)-60_000_000_000, random.Int64N(1e9)).In(time.FixedZone("", offsets[random.IntN(len(offsets))]))
		if got, want := string(AppendMillis(nil, at)), at.Format("2006-01-02T15:04:05.000Z07:00"); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
