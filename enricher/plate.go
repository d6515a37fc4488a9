package enricher

import (
	"fmt"
	"slices"
	"strconv"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// plates returns the plates of a group, each once and in ascending order.
func plates(g *parser.Group) []bag.Plate {
	var list []bag.Plate
	for number := range g.Plates() {
		list = append(list, bag.Plate(fmt.Sprintf("%010d", number)))
	}
	return list
}

// number returns a valid plate as a number.
func number(p bag.Plate) uint64 {
	n, _ := strconv.ParseUint(string(p), 10, 64) // it is ten digits
	return n
}

// holds reports whether a group names the plate. irregularity is the status code of the .B that
// names it, "" if only an .N does. If several .B name it, the status code with the first row in the
// event table counts, then the first .B (rules §2).
func holds(g *parser.Group, plate uint64) (irregularity string, found bool) {
	best := 0
	for _, t := range g.Tags {
		if plate < t.First || plate >= t.First+uint64(t.Count) {
			continue
		}
		row := irregularityRow(t.Status)
		if !found || row < best {
			irregularity, best, found = t.Status, row, true
		}
	}
	return irregularity, found
}

// irregularityRow returns the place, from 0, of the row of a status code of .B in the event table.
// Codes of the configuration come after all others, and "", which stands for .N, comes last.
func irregularityRow(status string) int {
	switch row := slices.Index(parser.Statuses[:], status); {
	case row >= 0:
		return row
	case status != "":
		return len(parser.Statuses)
	}
	return len(parser.Statuses) + 1
}
