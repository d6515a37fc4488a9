package bag

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// EventID returns the id of the event that a message makes for a plate (rules §3). It is a hash of
// plate, group and text, and of the read time of a BPM or, without a read time, of received time
// and position. The event code is not part of it, since it may depend on other messages.
func EventID(plate Plate, m *Message) string {
	moment, position := m.Received, m.Position
	if m.isTimed() {
		moment, position = m.Read, Position{}
	}
	var memory [512]byte
	text := append(memory[:0], plate...)
	text = binary.BigEndian.AppendUint64(text, uint64(moment.UnixMilli()))
	if position.Known {
		text = binary.BigEndian.AppendUint32(text, uint32(position.Partition))
		text = binary.BigEndian.AppendUint64(text, uint64(position.Offset))
	}
	text = binary.BigEndian.AppendUint64(text, uint64(m.Group))
	sum := sha256.Sum256(m.Text.Append(text))
	var id [32]byte
	hex.Encode(id[:], sum[:16])
	return string(id[:])
}

// isTimed reports whether m is a BPM with a read time. Its copies have the same read time.
func (m *Message) isTimed() bool { return m.Kind.IsProcessing() && !m.Read.IsZero() }
