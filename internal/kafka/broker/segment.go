package broker

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// extent is a range of offsets, from First up to but not including End.
type extent struct {
	First int64 `json:"first"`
	End   int64 `json:"end"`
}

func (e extent) String() string {
	if e.End == e.First+1 {
		return strconv.FormatInt(e.First, 10)
	}
	return fmt.Sprintf("%d to %d", e.First, e.End-1)
}

// subtract returns the parts of the extents that none of the others covers. Both lists must be
// ascending and without overlaps.
func subtract(from, others []extent) (rest []extent) {
	for _, e := range from {
		for _, o := range others {
			if o.End <= e.First || o.First >= e.End {
				continue
			}
			if o.First > e.First {
				rest = append(rest, extent{e.First, o.First})
			}
			e.First = o.End
			if e.First >= e.End {
				break
			}
		}
		if e.First < e.End {
			rest = append(rest, e)
		}
	}
	return rest
}

// span returns the offsets from the first of the extents up to the last; none if there are no extents.
func span(extents []extent) (all extent) {
	if len(extents) > 0 {
		all = extent{extents[0].First, extents[len(extents)-1].End}
	}
	return all
}

func describe(extents []extent) string {
	texts := make([]string, len(extents))
	for i, e := range extents {
		texts[i] = e.String()
	}
	return strings.Join(texts, ", ")
}

// run is a sequence of batches in a segment file that has no gap, neither in the file nor in the
// offsets.
type run struct {
	extent
	from, to int // bytes of the file
}

// segment describes a segment file, which holds record batches one after the other.
type segment struct {
	runs    []run
	damaged int // the first byte of the first batch that cannot be read, or -1
}

// scanSegment reads the bytes of a segment file whose first offset is base. With gaps set, offsets
// may be missing between batches, as in a compacted topic. Only the last segment may end within a
// batch, because the process was killed while it wrote.
func scanSegment(b []byte, base int64, gaps, last bool) segment {
	s := segment{damaged: -1}
	expected, resumed := base, false
	for at := 0; at < len(b); {
		e, size := batchAt(b[at:])
		if size > 0 && (e.First == expected || e.First > expected && (resumed || gaps)) {
			s.extend(e, at, size, e.First == expected && !resumed)
			expected, resumed, at = e.End, false, at+size
			continue
		}
		next := nextBatch(b, at, expected)
		if next < 0 && last && isTorn(b[at:]) {
			return s
		}
		if s.damaged < 0 {
			s.damaged = at
		}
		if next < 0 {
			return s
		}
		at, resumed = next, true
	}
	return s
}

// extend adds a batch to the last run, or begins a run with it.
func (s *segment) extend(e extent, at, size int, follows bool) {
	if n := len(s.runs); n > 0 && follows {
		s.runs[n-1].End, s.runs[n-1].to = e.End, at+size
		return
	}
	s.runs = append(s.runs, run{e, at, at + size})
}

// Positions of fields in the header of a record batch, and the length of the header.
const (
	batchLengthAt = 8
	batchEpochAt  = 12
	batchMagicAt  = 16
	batchCRCAt    = 17
	batchBodyAt   = 21 // the attributes; the checksum covers all bytes from here on
	batchDeltaAt  = 23
	batchHeader   = 61
)

// Attributes of a batch.
const (
	isTransactional = 0x10
	isControlBatch  = 0x20
)

// farthest is how far the offset of a batch behind a damaged place may be from the expected offset.
const farthest = 1 << 31

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batchAt returns the offsets of the batch at the beginning of b, and its size in bytes. The size
// is 0 if the batch is incomplete or damaged.
func batchAt(b []byte) (extent, int) {
	if len(b) < batchHeader || b[batchMagicAt] != 2 {
		return extent{}, 0
	}
	size := int64(binary.BigEndian.Uint32(b[batchLengthAt:])) + batchLengthAt + 4
	if size < batchHeader || size > int64(len(b)) {
		return extent{}, 0
	}
	first, delta := int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[batchDeltaAt:]))
	if first < 0 || delta < 0 || crc32.Checksum(b[batchBodyAt:size], castagnoli) != binary.BigEndian.Uint32(b[batchCRCAt:]) {
		return extent{}, 0
	}
	return extent{first, first + int64(delta) + 1}, int(size)
}

// nextBatch returns the byte at which the next batch begins after the unreadable one at the given
// byte, or -1. It first tries the end that the header of the unreadable batch gives.
func nextBatch(b []byte, at int, expected int64) int {
	isBatch := func(at int) bool {
		if len(b)-at < batchHeader {
			return false
		}
		first := int64(binary.BigEndian.Uint64(b[at:])) // compare the offset first, since a checksum takes long
		if first <= expected || first > expected+farthest {
			return false
		}
		_, size := batchAt(b[at:])
		return size > 0
	}
	if len(b)-at >= batchHeader {
		end := int64(at) + int64(binary.BigEndian.Uint32(b[at+batchLengthAt:])) + batchLengthAt + 4
		if end < int64(len(b)) && isBatch(int(end)) {
			return int(end)
		}
	}
	for next := at + 1; next+batchHeader <= len(b); next++ {
		if isBatch(next) {
			return next
		}
	}
	return -1
}

// isTorn reports whether b is the beginning of a batch that ends behind the end of the file.
func isTorn(b []byte) bool {
	return len(b) < batchHeader || int64(binary.BigEndian.Uint32(b[batchLengthAt:]))+batchLengthAt+4 > int64(len(b))
}

// indexOf returns the index file of a segment with these batches. It has an entry of 15 bytes for
// each batch, with the epoch of its leader and whether it belongs to a transaction.
func indexOf(batches []byte) (index []byte) {
	for len(batches) > 0 {
		_, size := batchAt(batches)
		if size == 0 {
			return index
		}
		var entry [15]byte
		binary.LittleEndian.PutUint32(entry[2:], binary.BigEndian.Uint32(batches[batchEpochAt:]))
		if attributes := binary.BigEndian.Uint16(batches[batchBodyAt:]); attributes&(isTransactional|isControlBatch) == isTransactional {
			entry[14] = 1
		}
		entry[0], entry[1] = 1, byte(crc32.Checksum(entry[2:], castagnoli))
		index = append(index, entry[:]...)
		batches = batches[size:]
	}
	return index
}

// extentsOf returns the offsets of the runs. Runs without a gap in their offsets become one extent.
func extentsOf(runs []run) (list []extent) {
	for _, r := range runs {
		if n := len(list); n > 0 && list[n-1].End == r.First {
			list[n-1].End = r.End
			continue
		}
		list = append(list, r.extent)
	}
	return list
}
