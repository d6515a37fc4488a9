package bagstore

import (
	"strings"
	"testing"

	"bagtrail/internal/bag"
)

// hashed returns the part of a key from which a cluster takes its slot: what stands between the first
// opening brace and the next closing one, or the whole key.
func hashed(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
		return tag
	}
	return key
}

func TestWhatIsMovedAsideStaysInItsSlot(t *testing.T) {
	for _, k := range []keys{"", "zrh[*]:", "{zrh}:"} {
		for _, device := range []string{"AKE1LX", "A{1}", "A{1", "{", "{{1}"} {
			key := k.stowage(bag.Container{Flight: bag.Flight{Airline: "LX", Number: "1"}, Device: device})
			if aside := k.aside(key); hashed(aside) != hashed(key) {
				t.Errorf("%s is moved to %s", key, aside)
			}
		}
	}
}
