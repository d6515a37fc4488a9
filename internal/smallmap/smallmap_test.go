package smallmap_test

import (
	"math/rand/v2"
	"testing"

	"bagtrail/internal/smallmap"
)

func TestMapHoldsWhatAGoMapHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, keys := range []int{1, smallmap.MaxLinear - 1, smallmap.MaxLinear, smallmap.MaxLinear + 1, 10 * smallmap.MaxLinear} {
		var m smallmap.Map[int, string]
		var added smallmap.Set[int]
		want := map[int]string{}
		for range 5 * keys {
			key, value := random.IntN(keys), string(rune('A'+random.IntN(26)))
			m.Set(key, value)
			if _, have := want[key]; added.Add(key) == have {
				t.Fatalf("added %d, which was there: %v", key, have)
			}
			want[key] = value
			asked := random.IntN(keys + 1)
			got, have := m.Get(asked)
			if value, there := want[asked]; have != there || got != value || m.Has(asked) != there {
				t.Fatalf("%d: %q %v, want %q %v", asked, got, have, value, there)
			}
		}
	}
}
