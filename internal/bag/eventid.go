package bag

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// EventID returns the id of the event that a message makes for a plate (rules §3): 32 hexadecimal
// digits, the first half of a SHA-256 hash. The hash is of plate, group and text, and of the read
// time of a BPM or, without a read time, of received time and Position. It does not include the
// event code, which may depend on other messages.
func EventID(plate Plate, m *Message) string {
	moment, position := m.Received, m.Position
	if m.isTimed() { // its copies were read then too, but received at other times
		moment, position = m.Read, Position{}
	}
	text := append(make([]byte, 0, 512), plate...)
	text = binary.BigEndian.AppendUint64(text, uint64(moment.UnixMilli()))
	if position.Known {
		text = binary.BigEndian.AppendUint32(text, uint32(position.Partition))
		text = binary.BigEndian.AppendUint64(text, uint64(position.Offset))
	}
	text = binary.BigEndian.AppendUint64(text, uint64(m.Group))
	sum := sha256.Sum256(append(text, m.Text...))
	return hex.EncodeToString(sum[:16])
}

// isTimed reports whether m is a BPM with a read time.
func (m *Message) isTimed() bool { return m.Kind.IsProcessing() && !m.Read.IsZero() }
