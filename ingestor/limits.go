package ingestor

import (
	"fmt"

	"bagtrail/internal/fault"
	"bagtrail/parser"
)

// Limits of what the index stores for one message (rules §1). A text of 64 KiB can name millions of
// bags in ranges of 999. The index stores the text with every bag, and every bag with every flight.
const (
	maxBags    = 999     // different plates
	maxEntries = 100_000 // bags with flights and PNRs
	maxText    = 4 << 20 // bytes of text, counted once for each bag
)

// overLimits returns the fault of a message that exceeds the limits, or nil.
func overLimits(m *parser.Message, text string) []Diagnostic {
	bags, entries := 0, 0
	for i := range m.Groups {
		g := &m.Groups[i]
		own := 0
		for _, t := range g.Tags {
			own += t.Count
		}
		bags += own
		entries += (own + 1) * (3 + len(g.Onward)) // .I, .F, .L and each .O; containers have flights too
	}
	most := min(maxBags, maxText/max(len(text), 1))
	if entries <= maxEntries && (bags <= most || plates(m) <= most) {
		return nil
	}
	return faultOf(fault.TooLarge, fmt.Sprintf(
		"at most %d bags, %d of them under flights and names, and %d MiB of text kept for them", maxBags, maxEntries, maxText>>20))
}

// plates returns how many different plates a message names. Ranges may overlap.
func plates(m *parser.Message) int {
	var all parser.Group
	for i := range m.Groups {
		all.Tags = append(all.Tags, m.Groups[i].Tags...)
	}
	count := 0
	for range all.Plates() {
		count++
	}
	return count
}
