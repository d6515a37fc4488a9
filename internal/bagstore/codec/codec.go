// Package codec encodes the values of the store. A value is one message with its kind, its received
// time and its position in the log of record. Encoding takes about a microsecond. Decode returns
// exactly the message that Append encoded, for every text. For any other bytes it returns
// ErrDamaged or a text; it never panics.
//
// A new dictionary is a new encoding. Deploy its decoder to every process before any process
// encodes with it.
package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"

	"bagtrail/internal/bag"
)

// ErrDamaged is returned for bytes that this codec cannot have written.
var ErrDamaged = errors.New("damaged or unknown value")

// The bits of the head byte, see Codec.
const (
	plain       = 0x00 // encodings of the text
	dictionary1 = 0x01
	compressed  = 0x02
	packing     = 0x07 // mask of the encoding
	positioned  = 0x08
	lineEnd     = 4 // shift of the two bits of the line end
	tagged      = 0x40
	report      = 0x80
)

// lineEnds are the line ends of texts. A text may have line ends of several kinds: each one that
// differs from the first takes more bytes.
var lineEnds = [...]string{"\n", "\r\n", "\r"}

const (
	worthS2 = 512     // length in bytes from which a text is also compressed with S2
	largest = 4 << 20 // the largest length in bytes that an S2 value may claim for its text; a request has 1 MiB
)

// Identity names a message inside its hash: 8 bytes of SHA-256 over received time, kind, position
// and text.
type Identity [8]byte

// Codec encodes messages as values. It is immutable, and safe for concurrent use.
//
// A value is
//
//	1 byte    the head byte: encoding of the text in bits 0-2, 0x08: there is a position, line end of
//	          the phrases in bits 4-5, 0x40: the first NUL stands for the plate, 0x80: report
//	1-10      received, milliseconds since 1970-01-01 UTC as a 64-bit two's complement number,
//	          varint (6 bytes today)
//	2-15      the position, if there is one: partition, then offset, each a varint like received
//	the rest  the text: plain, in phrases of a dictionary, or S2-compressed, whichever is shortest
//
// Old values have no position, and remain readable.
type Codec struct {
	phrases [len(lineEnds)]*phrases
}

// New returns a codec. It panics if the embedded dictionary is faulty.
func New() *Codec {
	c := &Codec{}
	for i, end := range lineEnds {
		c.phrases[i] = loadPhrases(end)
	}
	return c
}

// NewIdentity returns the identity of a message.
func NewIdentity(s bag.Stored) Identity { return identify(s, s.Raw) }

// identify returns the identity of a message. It takes the text separately, and ignores s.Raw.
func identify[T string | []byte](s bag.Stored, text T) Identity {
	head := make([]byte, 9, 512)
	binary.BigEndian.PutUint64(head, uint64(s.Received.UnixMilli()))
	head[8] = flags(s)
	if s.Position.Known {
		head = binary.BigEndian.AppendUint32(head, uint32(s.Position.Partition))
		head = binary.BigEndian.AppendUint64(head, uint64(s.Position.Offset))
	}
	sum := sha256.Sum256(append(head, text...))
	return Identity(sum[:8])
}

// Append appends the value of a message to dst. plate is the plate under which the message is
// stored, or "". The value does not contain this plate, so Decode needs it too.
func (c *Codec) Append(dst []byte, s bag.Stored, plate string) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(append(dst, 0), uint64(s.Received.UnixMilli()))
	if s.Position.Known {
		dst = binary.AppendUvarint(dst, uint64(uint32(s.Position.Partition)))
		dst = binary.AppendUvarint(dst, uint64(s.Position.Offset))
	}
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
	dst[start] = flags(s) | how
	return dst
}

// pack appends a text as phrases, and returns the bits of the head byte for it.
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

// Read is Decode for the value of a field. It also returns ErrDamaged if the field is not the
// identity of the message: then some bytes have changed, although they can still be decoded.
func (c *Codec) Read(dst []byte, field, value, plate string) ([]byte, bag.Stored, error) {
	start := len(dst)
	dst, s, err := c.Decode(dst, value, plate)
	if err == nil {
		if id := identify(s, dst[start:]); string(id[:]) != field {
			err = ErrDamaged
		}
	}
	if err != nil {
		return dst[:start], bag.Stored{}, err
	}
	return dst, s, nil
}

// Decode appends the text of a value to dst, and returns dst and the message without its text.
func (c *Codec) Decode(dst []byte, value, plate string) ([]byte, bag.Stored, error) {
	head, s, text, err := split(value)
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
	if at < 0 {
		return text, ErrDamaged
	}
	return slices.Replace(text, start+at, start+at+1, []byte(plate)...), nil
}

// Received returns the received time of a value. It does not decode the text.
func Received(value string) (time.Time, error) {
	_, s, _, err := split(value)
	return s.Received, err
}

// lineEndOf returns the index in lineEnds of the first line end of a text.
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

// split returns the head byte, a message without text, and the packed text of a value.
func split(value string) (head byte, s bag.Stored, text string, err error) {
	if value == "" || int(value[0]>>lineEnd&3) >= len(lineEnds) {
		return 0, bag.Stored{}, "", ErrDamaged
	}
	head = value[0]
	received, text, ok := number(value[1:])
	s.Received = time.UnixMilli(int64(received)).UTC()
	if head&positioned != 0 && ok {
		var partition, offset uint64
		if partition, text, ok = number(text); ok {
			offset, text, ok = number(text)
		}
		s.Position = bag.Position{Known: true, Partition: int32(partition), Offset: int64(offset)}
		ok = ok && partition <= math.MaxUint32
	}
	if !ok {
		return 0, bag.Stored{}, "", ErrDamaged
	}
	s.Report = head&report != 0
	return head, s, text, nil
}

// number decodes a varint, and returns the text after it.
func number(text string) (n uint64, rest string, ok bool) {
	n, length := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
	if length <= 0 {
		return 0, "", false
	}
	return n, text[length:], true
}

// flags returns the bits of the head byte that do not concern the text.
func flags(s bag.Stored) (f byte) {
	if s.Report {
		f = report
	}
	if s.Position.Known {
		f |= positioned
	}
	return f
}
