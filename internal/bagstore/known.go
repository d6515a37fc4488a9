package bagstore

import (
	"hash/maphash"
	"sync/atomic"
)

// knownWrites remembers index entries and expiries that Redis has confirmed to this process, so
// that the messages of a bag do not send the same ones again and again. It grows with use up to a
// limit. Entries that it forgets are sent again, which changes nothing. It is safe for concurrent
// use.
//
// It forgets everything with every new connection, which may lead to another server. It does not
// notice FLUSHALL: an operator who empties Redis under a running process must replay the log, as
// after any loss.
type knownWrites struct {
	seed     maphash.Seed
	limit    int           // slots
	connects func() uint64 // see redis.Client.Connects
	forgets  atomic.Uint64 // calls of forget
	table    atomic.Pointer[markTable]
}

// markTable holds, in each slot, the mark of the last write whose hash selects the slot. The number
// of slots is a power of two.
type markTable struct {
	slots []atomic.Uint64
	free  atomic.Int64 // how many slots may be taken before a larger table replaces this one
}

const (
	fewestMarks = 1 << 14
	maxMarks    = 1 << 20 // 8 MiB, the entries of about a quarter of an hour of the world's bags
)

func newMarkTable(slots int) *markTable {
	t := &markTable{slots: make([]atomic.Uint64, slots)}
	t.free.Store(int64(slots) / 2)
	return t
}

func newKnownWrites(limit int, connects func() uint64) *knownWrites {
	k := &knownWrites{seed: maphash.MakeSeed(), limit: limit, connects: connects}
	k.table.Store(newMarkTable(fewestMarks))
	return k
}

// forget drops everything: Redis may have lost what it confirmed.
func (k *knownWrites) forget() { k.forgets.Add(1) }

// epoch returns a number that grows with every call of forget and with every new connection.
func (k *knownWrites) epoch() uint64 { return k.forgets.Load() + k.connects() }

// round is one round of writing. It decides which writes to send, and marks them as known once
// Redis has confirmed them. If the epoch ends meanwhile, its marks have no effect.
type round struct {
	known   *knownWrites
	table   *markTable
	epoch   uint64
	pending map[uint64]*atomic.Uint64 // the marks of writes since the last confirm, and their slots
	sendAll bool                      // send known writes too, but each only once between two calls of confirm
}

func (k *knownWrites) begin() *round {
	return &round{known: k, table: k.table.Load(), epoch: k.epoch(), pending: make(map[uint64]*atomic.Uint64)}
}

// valid reports whether nothing has been forgotten since the round began.
func (r *round) valid() bool { return r.known.epoch() == r.epoch }

// mustSend reports whether a member of a set with its expiry must be sent; member is "" for the
// expiry of the key itself. If so, the caller sends it before it calls confirm.
//
// A mark is a 64-bit hash of the arguments and the epoch under a random seed. An unknown write has
// the mark of a known one with a probability of 2^-63. The slot does not depend on the expiry.
func (r *round) mustSend(key string, member string, until int64) bool {
	hash := maphash.String(r.known.seed, key) ^ maphash.String(r.known.seed, member)*0x9e3779b97f4a7c15
	slot := &r.table.slots[hash%uint64(len(r.table.slots))]
	mark := (hash ^ uint64(until)*0x9e3779b97f4a7c15 ^ r.epoch*0xc2b2ae3d27d4eb4f) | 1<<63 // an empty slot is 0
	if _, sent := r.pending[mark]; sent || !r.sendAll && slot.Load() == mark {
		return false
	}
	r.pending[mark] = slot
	return true
}

// confirm records that Redis has confirmed everything that was sent since the last call.
func (r *round) confirm() {
	taken := int64(0)
	for mark, slot := range r.pending {
		if slot.Swap(mark) == 0 {
			taken++
		}
	}
	clear(r.pending)
	// An empty table of twice the size replaces a full one. The marks are dropped, since a mark
	// does not say which slot it has in the new table. So their writes are sent again.
	size := 2 * len(r.table.slots)
	if r.table.free.Add(-taken) < 0 && size <= r.known.limit && r.known.table.Load() == r.table {
		r.known.table.CompareAndSwap(r.table, newMarkTable(size))
	}
}
