package changes

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// Cursor says which changes a reader has: in each partition, all up to a sequence. It is valid for
// one filter and the rights of one key, and in every process.
type Cursor struct {
	Epoch     int64   // Epoch.Begun
	Sequences []int64 // by partition; -1 is before the first
	Filter    uint32  // a digest of the filter
	Rights    uint32  // a digest of what the key may see
}

// The highest epoch and the highest sequence.
const (
	maxEpoch    = 1 << 40
	maxSequence = 1 << 52
)

// errCursor is the error for a text that is not a cursor.
var errCursor = errors.New("not a cursor")

// String returns the cursor in the form that ParseCursor reads: at most 400 characters for up to 47
// partitions with up to 4·10¹² marks each.
func (c Cursor) String() string {
	b := binary.AppendUvarint(nil, uint64(c.Epoch))
	b = binary.BigEndian.AppendUint32(b, c.Filter)
	b = binary.BigEndian.AppendUint32(b, c.Rights)
	for _, s := range c.Sequences {
		b = binary.AppendUvarint(b, uint64(s+1))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads a cursor that String has returned.
func ParseCursor(text string) (Cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return Cursor{}, errCursor
	}
	epoch, n := binary.Uvarint(b)
	if n <= 0 || len(b) < n+8 || epoch > maxEpoch {
		return Cursor{}, errCursor
	}
	c := Cursor{
		Epoch:  int64(epoch),
		Filter: binary.BigEndian.Uint32(b[n:]), Rights: binary.BigEndian.Uint32(b[n+4:]),
	}
	for b = b[n+8:]; len(b) > 0; {
		s, n := binary.Uvarint(b)
		if n <= 0 || s > maxSequence+1 {
			return Cursor{}, errCursor
		}
		c.Sequences = append(c.Sequences, int64(s)-1)
		b = b[n:]
	}
	return c, nil
}
