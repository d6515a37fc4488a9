package kafkadoor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Positions is how far each partition has been read: the offset of the next record.
type Positions map[int]int64

// String returns the positions in the form that ParseStart reads: "0:1200,1:1187".
func (p Positions) String() string {
	var parts []string
	for _, partition := range slices.Sorted(maps.Keys(p)) {
		parts = append(parts, strconv.Itoa(partition)+":"+strconv.FormatInt(p[partition], 10))
	}
	return strings.Join(parts, ",")
}

// Start is where to begin to read a topic. The zero Start is its beginning.
type Start struct {
	Time      time.Time // where not zero: at the first record from then on
	Positions Positions // where not nil: there; partitions that it does not name from their beginning
}

// ParseStart reads "earliest", a time (RFC 3339) or a date (YYYY-MM-DD, from midnight UTC), or positions.
func ParseStart(s string) (Start, error) {
	if s == "" || s == "earliest" {
		return Start{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			return Start{Time: t}, nil
		}
	}
	positions := make(Positions)
	for part := range strings.SplitSeq(s, ",") {
		number, offset, _ := strings.Cut(part, ":")
		p, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
		o, err2 := strconv.ParseUint(strings.TrimSpace(offset), 10, 63)
		_, twice := positions[int(p)]
		if err != nil || err2 != nil || twice {
			return Start{}, fmt.Errorf(`start %q is neither "earliest", a time, nor offsets as 0:1200,1:1187`, s)
		}
		positions[int(p)] = int64(o)
	}
	return Start{Positions: positions}, nil
}
