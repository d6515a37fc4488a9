package trail

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"bagtrail/internal/bag"
)

// hints remember where bags are said to be, and which bags a passenger has: of the bags that were filed or asked for lately,
// in little memory that never grows. What they say may be old, or wrong. It never decides what an answer says: it is asked
// for together with what does, so that a round trip is saved where it is right; where it is wrong, one may be lost.
type hints struct {
	seed     maphash.Seed
	places   table[place]   // by plate
	bookings table[booking] // by PNR, in capitals
}

// place is a container in few bytes. Texts are followed by NUL.
type place struct {
	day     bag.Day
	airline [3]byte
	number  [5]byte
	device  [10]byte
}

// booking is a plate.
type booking [10]byte

func newHints() *hints {
	return &hints{seed: maphash.MakeSeed(), places: newTable[place](), bookings: newTable[booking]()}
}

// note remembers what a message says of a plate.
func (h *hints) note(e *bag.Entry) {
	h.notePlaces(e.Plate, e.Stowage)
	for _, pnr := range e.PNRs {
		h.noteBookings(pnr, e.Plate)
	}
}

func (h *hints) notePlaces(plate bag.Plate, containers []bag.Container) {
	for _, c := range containers {
		p := place{day: c.Flight.Day}
		if fit(p.airline[:], c.Flight.Airline) && fit(p.number[:], c.Flight.Number) && fit(p.device[:], c.Device) {
			h.places.add(maphash.String(h.seed, string(plate)), p)
		}
	}
}

func (h *hints) noteBookings(pnr string, plates ...bag.Plate) {
	for _, plate := range plates {
		var b booking
		if fit(b[:], string(plate)) {
			h.bookings.add(maphash.String(h.seed, pnr), b)
		}
	}
}

// placesOf returns the containers in which a bag may be.
func (h *hints) placesOf(plate bag.Plate) []bag.Container {
	var room [ways]place
	var containers []bag.Container
	for _, p := range h.places.find(maphash.String(h.seed, string(plate)), room[:0]) {
		flight := bag.Flight{Airline: text(p.airline[:]), Number: text(p.number[:]), Day: p.day}
		containers = append(containers, bag.Container{Flight: flight, Device: text(p.device[:])})
	}
	return containers
}

// bookingsOf returns the plates that a passenger may have.
func (h *hints) bookingsOf(pnr string) []bag.Plate {
	var room [ways]booking
	var plates []bag.Plate
	for _, b := range h.bookings.find(maphash.String(h.seed, pnr), room[:0]) {
		plates = append(plates, bag.Plate(text(b[:])))
	}
	return plates
}

// fit writes a text into dst, and reports whether it fits.
func fit(dst []byte, s string) bool { return len(s) <= len(dst) && copy(dst, s) == len(s) }

// text returns what fit has written.
func text(b []byte) string {
	if end := slices.Index(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// A table has this many buckets of so many values: 65,536 values.
const (
	buckets = 1 << 13
	ways    = 8
	stripes = 64 // that are locked apart
)

// table holds values by hash, several of which may have the same. What is added drives out what has not been added for the
// longest time. It is safe for concurrent use.
type table[V comparable] struct {
	locks   *[stripes]sync.Mutex
	buckets [][ways]tagged[V]
}

type tagged[V comparable] struct {
	tag   uint32 // of the hash; 0 where there is no value
	value V
}

func newTable[V comparable]() table[V] {
	return table[V]{new([stripes]sync.Mutex), make([][ways]tagged[V], buckets)}
}

func (t *table[V]) bucket(hash uint64) (b *[ways]tagged[V], lock *sync.Mutex, tag uint32) {
	return &t.buckets[hash%buckets], &t.locks[hash%stripes], uint32(hash>>32) | 1
}

// add adds a value, or makes it the youngest.
func (t *table[V]) add(hash uint64, value V) {
	b, lock, tag := t.bucket(hash)
	lock.Lock()
	defer lock.Unlock()
	before := tagged[V]{tag, value}
	for i := range b {
		b[i], before = before, b[i]
		if before.tag == tag && before.value == value {
			return
		}
	}
}

// find appends the values with a hash, the youngest first.
func (t *table[V]) find(hash uint64, values []V) []V {
	b, lock, tag := t.bucket(hash)
	lock.Lock()
	defer lock.Unlock()
	for i := range b {
		if b[i].tag == tag {
			values = append(values, b[i].value)
		}
	}
	return values
}

// Filer files messages in an index.
type Filer interface {
	File(ctx context.Context, filings []bag.Filing) (fresh []bool, err error)
}

// Learning returns a Filer that files with another one, and lets r know of what was filed, so that it is found in fewer
// round trips.
func (r *Reader) Learning(from Filer) Filer { return learning{from, r.hints} }

type learning struct {
	Filer
	hints *hints
}

func (l learning) File(ctx context.Context, filings []bag.Filing) ([]bool, error) {
	fresh, err := l.Filer.File(ctx, filings)
	if err == nil {
		for i := range filings {
			for j := range filings[i].Entries {
				l.hints.note(&filings[i].Entries[j])
			}
		}
	}
	return fresh, err
}
