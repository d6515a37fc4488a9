package collector

import "testing"

func TestPace(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live, floor uint64
		want        int
	}{
		{0, 64 * mib, widest},
		{1 * mib, 64 * mib, widest},
		{16 * mib, 64 * mib, 300},
		{20 * mib, 64 * mib, 220},
		{28 * mib, 64 * mib, 120},
		{31 * mib, 64 * mib, usual},
		{32 * mib, 64 * mib, usual},
		{64 * mib, 64 * mib, usual},
		{500 * mib, 64 * mib, usual},
	} {
		if got := pace(c.live, c.floor); got != c.want {
			t.Errorf("%d MiB live, %d wanted: %d percent, want %d", c.live/mib, c.floor/mib, got, c.want)
		}
	}
}
