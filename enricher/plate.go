package enricher

import (
	"strconv"

	"bagtrail/internal/bag"
	"bagtrail/parser"
)

// plates returns the plates of a group, each once and in order, as views of one string.
func plates(g *parser.Group) []bag.Plate {
	digits := make([]byte, 0, 2*plateDigits)
	for number := range g.Plates() {
		digits = appendPlate(digits, number)
	}
	all := string(digits)
	list := make([]bag.Plate, len(all)/plateDigits)
	for i := range list {
		list[i] = bag.Plate(all[i*plateDigits : (i+1)*plateDigits])
	}
	return list
}

const plateDigits = 10

func appendPlate(dst []byte, number uint64) []byte {
	var digits [plateDigits]byte
	for i := plateDigits - 1; i >= 0; i-- {
		digits[i] = byte('0' + number%10)
		number /= 10
	}
	return append(dst, digits[:]...)
}

// number returns a valid plate as a number.
func number(p bag.Plate) uint64 {
	n, _ := strconv.ParseUint(string(p), 10, 64) // it is ten digits
	return n
}

// holds reports whether a group names the plate. irregularity is the status code of the .B that
// names it, "" if only an .N does. Of several .B the one with the first row in the event table
// counts, then the first one (rules §2).
func holds(g *parser.Group, plate uint64) (irregularity string, found bool) {
	best := 0
	for _, t := range g.Tags {
		if plate < t.First || plate >= t.First+uint64(t.Count) {
			continue
		}
		row := bag.IrregularityRow(t.Status)
		if !found || row < best {
			irregularity, best, found = t.Status, row, true
		}
	}
	return irregularity, found
}
