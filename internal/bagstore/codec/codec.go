// Package codec writes and reads the values of the store: one message each, with its kind and the time at which it was
// received, in as few bytes as can be had for less than a microsecond. It knows nothing of Redis and nothing of what
// messages mean. What Append writes Decode reads, byte for byte, whatever the text; Decode of any other bytes is
// ErrDamaged or a text, never a panic. A Codec never changes and is safe for concurrent use.
//
// A value is
//
//	1 byte    packing in bits 0-3, line end of the phrases in bits 4-5, 0x40: the first NUL is the plate, 0x80: report
//	1-10      received, milliseconds since 1970-01-01 UTC as a 64-bit two's complement number, varint (6 bytes today)
//	the rest  the text: plain, in the phrases of a dictionary, or S2-compressed, whichever is shortest
//
// A new dictionary is a new packing: first every process must be able to read it, then one may write it.
package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"

	"bagtrail/internal/bag"
)

// ErrDamaged is returned for bytes that are no value of this codec, or of a newer one.
var ErrDamaged = errors.New("damaged or unknown value")

const (
	plain       = 0x00
	dictionary1 = 0x01
	compressed  = 0x02
	packing     = 0x0f
	lineEnd     = 4 // bits to the left
	tagged      = 0x40
	report      = 0x80
)

// lineEnds are those that a text may have; texts of one that has several are stored as well, at a byte more for each.
var lineEnds = [...]string{"\n", "\r\n", "\r"}

const (
	worthS2 = 512     // bytes of a text from which S2 is tried as well
	largest = 4 << 20 // bytes that an S2 value may claim to hold; a message has 64 KiB, a request document 1 MiB
)

// Identity names a message inside its hash: 8 bytes of SHA-256 over received time, kind and text.
type Identity [8]byte

// Codec turns messages into values and back.
type Codec struct {
	phrases [len(lineEnds)]*phrases
}

// New returns a codec. It panics where the dictionary that is compiled in is none.
func New() *Codec {
	c := &Codec{}
	for i, end := range lineEnds {
		c.phrases[i] = loadPhrases(end)
	}
	return c
}

// NewIdentity returns the identity of a message.
func NewIdentity(s bag.Stored) Identity {
	head := make([]byte, 9, 512)
	binary.BigEndian.PutUint64(head, uint64(s.Received.UnixMilli()))
	head[8] = flags(s.Kind)
	sum := sha256.Sum256(append(head, s.Raw...))
	return Identity(sum[:8])
}

// Append appends the value of a message to dst. plate is the plate under which it is stored, which is then left out of
// the text; it must be given to Decode again. It may be "".
func (c *Codec) Append(dst []byte, s bag.Stored, plate string) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(append(dst, 0), uint64(s.Received.UnixMilli()))
	text := len(dst)
	dst, how := c.pack(dst, s.Raw, plate)
	if len(s.Raw) >= worthS2 {
		if packed := s2.Encode(nil, []byte(s.Raw)); len(packed) < len(dst)-text {
			dst, how = append(dst[:text], packed...), compressed
		}
	}
	if len(s.Raw) < len(dst)-text {
		dst, how = append(dst[:text], s.Raw...), plain
	}
	dst[start] = flags(s.Kind) | how
	return dst
}

// pack appends a text in phrases, and returns what the head byte says of it.
func (c *Codec) pack(dst []byte, raw, plate string) (packed []byte, how byte) {
	end := lineEndOf(raw)
	how = dictionary1 | byte(end)<<lineEnd
	var room [1024]byte
	text := room[:0]
	if at := strings.Index(raw, plate); at >= 0 && plate != "" && strings.IndexByte(raw[:at], 0) < 0 {
		how |= tagged
		text, raw = append(append(text, raw[:at]...), 0), raw[at+len(plate):]
	}
	return c.phrases[end].append(dst, append(text, raw...)), how
}

// Decode appends the text of a value to dst, and returns it with kind and received time in a message without text.
func (c *Codec) Decode(dst []byte, value, plate string) ([]byte, bag.Stored, error) {
	head, received, text, err := split(value)
	if err != nil {
		return dst, bag.Stored{}, err
	}
	start := len(dst)
	switch head & packing {
	case plain:
		dst = append(dst, text...)
	case dictionary1:
		if dst, err = c.phrases[head>>lineEnd&3].decode(dst, text); err == nil && head&tagged != 0 {
			dst, err = insert(dst, start, plate)
		}
	case compressed:
		dst, err = inflate(dst, text)
	default:
		err = ErrDamaged
	}
	if err != nil {
		return dst[:start], bag.Stored{}, err
	}
	s := bag.Stored{Received: received}
	if head&report != 0 {
		s.Kind = bag.Report
	}
	return dst, s, nil
}

func inflate(dst []byte, text string) ([]byte, error) {
	packed := []byte(text)
	if n, err := s2.DecodedLen(packed); err != nil || n > largest {
		return dst, ErrDamaged
	}
	unpacked, err := s2.Decode(nil, packed)
	if err != nil {
		return dst, ErrDamaged
	}
	return append(dst, unpacked...), nil
}

// insert replaces the first NUL of text[start:] by the plate.
func insert(text []byte, start int, plate string) ([]byte, error) {
	at := bytes.IndexByte(text[start:], 0)
	if at < 0 || plate == "" {
		return text, ErrDamaged
	}
	at += start
	text = append(text, plate[1:]...)
	copy(text[at+len(plate):], text[at+1:])
	copy(text[at:], plate)
	return text, nil
}

// Received returns the received time of a value without reading its text.
func Received(value string) (time.Time, error) {
	_, received, _, err := split(value)
	return received, err
}

// lineEndOf returns the index of the line end that a text has.
func lineEndOf(text string) int {
	first := strings.IndexAny(text, "\r\n")
	switch {
	case first < 0 || text[first] == '\n':
		return 0
	case strings.HasPrefix(text[first:], "\r\n"):
		return 1
	}
	return 2
}

// split returns the head byte, the received time and the packed text of a value.
func split(value string) (head byte, received time.Time, text string, err error) {
	if value == "" || int(value[0]>>lineEnd&3) >= len(lineEnds) {
		return 0, time.Time{}, "", ErrDamaged
	}
	var ms uint64
	for i, shift := 1, 0; i < len(value) && shift < 64; i, shift = i+1, shift+7 {
		ms |= uint64(value[i]&0x7f) << shift
		if value[i] < 0x80 {
			return value[0], time.UnixMilli(int64(ms)).UTC(), value[i+1:], nil
		}
	}
	return 0, time.Time{}, "", ErrDamaged
}

func flags(k bag.Kind) byte {
	if k == bag.Report {
		return report
	}
	return 0
}
