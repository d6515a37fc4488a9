package collector

import "testing"

func TestReaching(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live  uint64
		least int
		want  int
	}{
		{0, 100, widest},
		{1 * mib, 100, widest},
		{20 * mib, 100, widest},
		{24 * mib, 100, 160},
		{28 * mib, 100, 120},
		{31 * mib, 100, 100},
		{32 * mib, 100, 100},
		{32 * mib, 40, 100},
		{40 * mib, 40, 60},
		{50 * mib, 40, 40},
		{64 * mib, 100, 100},
		{500 * mib, 40, 40},
		{1 * mib, 900, 900},
	} {
		if got := reaching(64*mib, c.live, c.least); got != c.want {
			t.Errorf("%d MiB live: %d percent, want %d", c.live/mib, got, c.want)
		}
	}
}
