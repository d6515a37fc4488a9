package parser

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unsafe"
)

// blockLength is how many bytes of a text one marks is about.
const blockLength = 64

// marks says where in 64 bytes of a text something stands: bit 0 is the first byte.
type marks struct {
	ends    uint64 // of lines: CR, and LF that is not behind CR
	slashes uint64
}

// mark returns the marks of text in memory, and behind them those of a block without any. It also tells the least
// of all bytes that are neither CR nor LF, if it is a blank or less, and whether there is a CR.
func mark(memory []marks, text string) (all []marks, least byte, hasCR bool) {
	blocks := blocksOf(len(text))
	all = slices.Grow(memory[:0], blocks+1)[:blocks+1]
	all[blocks] = marks{}
	var carriages uint64
	if len(text) >= blockLength {
		least, carriages = markBlocks(&all[0], unsafe.StringData(text), len(text))
	} else if text != "" {
		padded := ordinary
		copy(padded[:], text)
		least, carriages = markBlocks(&all[0], &padded[0], blockLength)
	}
	return all, least, carriages != 0
}

func blocksOf(length int) int { return int(uint(length+blockLength-1) / blockLength) }

// ordinary are 64 bytes without marks, of which none is less than any other.
var ordinary = [blockLength]byte([]byte(strings.Repeat("\xff", blockLength)))

// markPortably finds the marks of text, the least of its bytes that are neither CR nor LF, if it is a blank or less, and
// the CR of all blocks together. It takes eight bytes at a step.
func markPortably(to []marks, text string) (least byte, carriages uint64) {
	least = 0xff
	behindCR := uint64(0) // bit 0: the block stands behind CR
	for b := range to {
		block := ordinary
		copy(block[:], text[b*blockLength:])
		var feeds, returns, slashes uint64
		for i := 0; i < blockLength; i += 8 {
			word := binary.LittleEndian.Uint64(block[i:])
			f, r := equal(word, '\n'), equal(word, '\r')
			feeds |= together(f) << i
			returns |= together(r) << i
			slashes |= together(equal(word, '/')) << i
			if other := upTo(word, ' ') &^ (f | r); other != 0 {
				for ; other != 0; other &= other - 1 {
					least = min(least, block[i+lowest(other)/8])
				}
			}
		}
		to[b] = marks{returns | feeds&^(returns<<1|behindCR), slashes}
		carriages |= returns
		behindCR = returns >> (blockLength - 1)
	}
	return least, carriages
}

// lowest returns the number of the lowest bit that is set: 64 where none is.
func lowest(bitmap uint64) int { return bits.TrailingZeros64(bitmap) }

// slashesFrom returns which of the 64 bytes from that offset on are slashes.
func slashesFrom(all []marks, from int) uint64 {
	block, shift := uint(from)/blockLength, uint(from)%blockLength
	return all[block].slashes>>shift | all[block+1].slashes<<1<<(blockLength-1-shift)
}

// lineEnds returns in memory where the lines of a text end; behind the last line end, if there is anything, the
// length of the text. It writes four ends at once, of which the next ones overwrite some: how many a block has cannot
// be foreseen.
func lineEnds(memory []int, all []marks, text string) []int {
	ends := memory[:cap(memory)]
	n := 0
	for i := range all[:len(all)-1] {
		if len(ends) < n+blockLength+4 {
			ends = append(ends, make([]int, len(ends)+2*blockLength)...)
		}
		bitmap, base := all[i].ends, i*blockLength
		count := bits.OnesCount64(bitmap)
		to := ends[n : n+blockLength+4]
		for four := (*[4]int)(to); ; four = (*[4]int)(to) {
			for e := range four {
				four[e] = base + lowest(bitmap)
				bitmap &= bitmap - 1
			}
			if bitmap == 0 {
				break
			}
			to = to[4:]
		}
		n += count
	}
	if text == "" || lineEnd(text[len(text)-1]) {
		return ends[:n]
	}
	return append(ends[:n], len(text))
}
