package changes

import (
	"slices"
	"testing"
)

func TestPlatesAreFoldedTogetherAsFarAsTheyAreLight(t *testing.T) {
	for _, tc := range []struct {
		lengths []int
		want    int
	}{
		{[]int{}, 0}, {[]int{1}, 1}, {[]int{10_000, 1}, 1}, {[]int{1, 10_000}, 1}, {[]int{101, 101}, 1},
		{slices.Repeat([]int{15}, 200), 68}, {slices.Repeat([]int{1}, 200), 200},
	} {
		if got := light(tc.lengths); got != tc.want {
			t.Errorf("of %d plates, %d are folded together, want %d", len(tc.lengths), got, tc.want)
		}
	}
}
