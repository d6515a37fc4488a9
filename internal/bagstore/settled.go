package bagstore

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"

	"bagtrail/internal/bag"
)

// settled remembers index entries and expiries that this process has seen Redis take, so that the messages of a bag
// do not send the same ones over and over. It grows with what it is told, up to a size, and forgets what it has no room
// for; what it has forgotten is sent again, which changes nothing. It is safe for concurrent use.
//
// It is told of every new connection, behind which there may be a server that has lost something. It is not told of
// FLUSHALL: who empties Redis under a running process must replay the log, as for any loss.
type settled struct {
	seed     maphash.Seed
	most     int           // slots
	connects func() uint64 // see redis.Client.Connects
	losses   atomic.Uint64 // calls of forget
	table    atomic.Pointer[marks]
}

// marks are the marks of the last entries that fell into each slot. There are a power of two.
type marks struct {
	slots []atomic.Uint64
	free  atomic.Int64 // slots that may still be taken before a larger table takes its place
}

const (
	fewestMarks = 1 << 14
	mostMarks   = 1 << 20 // 8 MiB, the entries of about a quarter of an hour of the world's bags
)

func newMarks(size int) *marks {
	m := &marks{slots: make([]atomic.Uint64, size)}
	m.free.Store(int64(size) / 2)
	return m
}

func newSettled(most int, connects func() uint64) *settled {
	s := &settled{seed: maphash.MakeSeed(), most: most, connects: connects}
	s.table.Store(newMarks(fewestMarks))
	return s
}

// forget drops everything: Redis may have lost what it took.
func (s *settled) forget() { s.losses.Add(1) }

// epoch returns a number that grows with every call of forget and with every new connection.
func (s *settled) epoch() uint64 { return s.losses.Load() + s.connects() }

// round is one round of writing: what it may leave out, and what will be known once it is done. What it has learned of
// an epoch that has ended is worth nothing.
type round struct {
	settled *settled
	table   *marks
	epoch   uint64
	asked   map[uint64]*atomic.Uint64 // marks, since the last keep, and where they will be kept
	text    []byte
	doubt   bool // nothing is left out but what this round asks for itself
}

func (s *settled) begin() *round {
	return &round{settled: s, table: s.table.Load(), epoch: s.epoch(), asked: make(map[uint64]*atomic.Uint64)}
}

// valid reports whether nothing has been forgotten since the round began.
func (r *round) valid() bool { return r.settled.epoch() == r.epoch }

// needs reports whether Redis must be asked for a member, "" for the key itself, in the index of a flight or a name until
// a second. It takes it that this is then done before the next keep.
//
// A mark is a 64-bit hash under a random seed of all that, and of the epoch: that a wrong one is taken for known has a
// chance of one in 2^63 for each look. An entry falls into the same slot whatever its expiry.
func (r *round) needs(kind byte, f bag.Flight, name string, member bag.Plate, until int64) bool {
	t := binary.LittleEndian.AppendUint32(append(r.text[:0], kind), uint32(f.Day))
	for _, part := range [...]string{f.Airline, f.Number, name, string(member)} {
		t = append(binary.LittleEndian.AppendUint32(t, uint32(len(part))), part...)
	}
	r.text = t
	entry := maphash.Bytes(r.settled.seed, t)
	slot := &r.table.slots[entry%uint64(len(r.table.slots))]
	mark := (entry ^ uint64(until)*0x9e3779b97f4a7c15 ^ r.epoch*0xc2b2ae3d27d4eb4f) | 1<<63 // an empty slot is 0
	if _, asked := r.asked[mark]; asked || !r.doubt && slot.Load() == mark {
		return false
	}
	r.asked[mark] = slot
	return true
}

// keep records that Redis has taken everything asked for since the last keep.
func (r *round) keep() {
	taken := int64(0)
	for mark, slot := range r.asked {
		if slot.Swap(mark) == 0 {
			taken++
		}
	}
	clear(r.asked)
	// A table that fills up makes place for an empty one of twice its size: marks do not tell their slots, and what they
	// stand for is soon sent again.
	size := 2 * len(r.table.slots)
	if r.table.free.Add(-taken) < 0 && size <= r.settled.most && r.settled.table.Load() == r.table {
		r.settled.table.CompareAndSwap(r.table, newMarks(size))
	}
}
