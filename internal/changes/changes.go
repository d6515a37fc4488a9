// Package changes detects that bags have changed, and numbers and publishes the changes.
//
// The door that files a message marks the plates that it concerns: a mark is a record of the topic
// of marks. Each partition of that topic has one owner among all processes. The owner folds the
// bags of the marked plates, writes to the index of changes which plates changed and in which
// order, and publishes each change to the topic of changes. To tell a change means both.
//
// Marks and index say only which plates changed. A reader of the index folds their bags when it
// returns a change, with the rights of its key. So a repeated or late mark never brings an old
// state, and an owner may repeat all of its work.
package changes

import (
	"strconv"
	"time"

	"bagtrail/internal/bag"
)

// Epoch is one numbering of the changes. A new epoch begins if the topic of marks has lost its end
// or has another number of partitions, so sequences of different epochs cannot be compared. The
// zero Epoch means that there is none.
type Epoch struct {
	Begun      int64 // when it began, in seconds since 1970 UTC
	Partitions int   // of the topic of marks
}

// Position orders the changes of a plate. A reader keeps, for each plate, the state with the
// highest position, and drops all others.
type Position struct {
	Epoch    int64 // Epoch.Begun
	Sequence int64 // the offset of the mark, in the partition of the plate
}

// ID names the change of a plate at a position.
func (p Position) ID(plate bag.Plate) string {
	return string(plate) + "-" + strconv.FormatInt(p.Epoch, 10) + "-" + strconv.FormatInt(p.Sequence, 10)
}

// Entry says that the bags of a plate changed.
type Entry struct {
	Plate    bag.Plate
	Sequence int64
	Airlines []string // of every flight that a message of the plate names
	Airports []string // of these flights, and of the events
}

// Progress is the progress of the owner of a partition.
type Progress struct {
	Told     int64     // the sequence up to which every change is told; -1 if there is no progress
	Floor    int64     // the lowest sequence that the index still has; -1 if there is no progress
	Clock    time.Time // the latest time by which bags were folded; zero if there is none
	Departed time.Time // the time up to which departures are marked; zero if there is none
}

// None reports whether a partition has no progress yet, or Redis has lost it.
func (p Progress) None() bool { return p.Floor < 0 }
