package bagstore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWhatIsPackedIsTheSameWhenUnpacked(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() span {
		if random.IntN(4) == 0 {
			return span{}
		}
		start := random.Int32N(1 << (1 + random.IntN(22)))
		return span{start, start + random.Int32N(1<<(1+random.IntN(20)))}
	}
	var commands []command
	for n := range 300 {
		commands = commands[:0]
		for range n {
			c := command{verb: verb(random.IntN(int(laterExpiry) + 1)), key: word(), field: word(), value: word()}
			if random.IntN(3) > 0 {
				c.until = random.Int64() >> random.IntN(64)
			}
			if random.IntN(9) == 0 {
				c.until = -c.until
			}
			commands = append(commands, c)
		}
		if got := unpack(nil, pack(commands)); !slices.Equal(got, commands) {
			t.Fatalf("%d commands: %v, want %v", n, got, commands)
		}
	}
}
