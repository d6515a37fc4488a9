package bag

import (
	"sync"
	"unsafe"
)

// Room is memory for messages that are read again to answer one question, and for their texts. It can be cleared, and then
// used for another one, which spares the collector what is most of its work.
type Room struct {
	blocks   [][]Message
	at       int    // the block that is being filled; those before it are full
	borrowed bool   // it will be used again, and so has large blocks
	texts    []byte // the piece that is being filled
	piece    int    // which one that is
	stored   []Stored
}

const (
	blockMessages = 64
	keptBlocks    = 8        // of those that Clear leaves: 0.3 MB
	keptStored    = 128      // stored messages that it leaves at most
	pieceOfTexts  = 32 << 10 // bytes
	leastOfTexts  = 4 << 10  // bytes that Texts returns at least; the texts of most bags take less
)

var rooms = sync.Pool{New: func() any { return &Room{borrowed: true} }}

// BorrowRoom returns an empty room, for Return to take back.
func BorrowRoom() *Room { return rooms.Get().(*Room) }

// Return clears a room and gives it to others.
func (r *Room) Return() {
	r.Clear()
	rooms.Put(r)
}

// NewRoom returns a room whose first messages stand together. It is for messages that may be kept: it takes little more
// memory than they do.
func NewRoom(messages int) *Room {
	return &Room{blocks: [][]Message{make([]Message, 0, messages)}}
}

// Add returns an empty message.
func (r *Room) Add() *Message {
	for ; r.at < len(r.blocks); r.at++ {
		if b := &r.blocks[r.at]; len(*b) < cap(*b) {
			*b = (*b)[:len(*b)+1]
			return &(*b)[len(*b)-1]
		}
	}
	size := blockMessages
	if !r.borrowed && r.at > 0 {
		size = min(size, cap(r.blocks[r.at-1])+1)
	}
	r.blocks = append(r.blocks, make([]Message, 1, size))
	return &r.blocks[r.at][0]
}

// Stored returns memory for so many stored messages, which is used again for the next ones.
func (r *Room) Stored(messages int) []Stored {
	if cap(r.stored) < messages {
		r.stored = make([]Stored, max(messages, 32))
	}
	return r.stored[:messages]
}

// Texts returns memory to append texts to, for Keep to take.
func (r *Room) Texts() []byte {
	if cap(r.texts)-len(r.texts) < leastOfTexts {
		r.texts = make([]byte, 0, pieceOfTexts)
		r.piece++
	}
	return r.texts[len(r.texts):]
}

// Keep returns what was appended to what Texts has returned last.
func (r *Room) Keep(texts []byte) string {
	if unsafe.SliceData(texts) == unsafe.SliceData(r.texts[len(r.texts):]) {
		r.texts = r.texts[:len(r.texts)+len(texts)]
	} else { // append has put them elsewhere, since the piece is full
		r.texts = r.texts[:cap(r.texts)]
	}
	return unsafe.String(unsafe.SliceData(texts), len(texts))
}

// Mark is how full a room is.
type Mark struct{ block, messages, piece, texts int }

// Mark returns how full the room is.
func (r *Room) Mark() Mark {
	m := Mark{block: r.at, piece: r.piece, texts: len(r.texts)}
	if r.at < len(r.blocks) {
		m.messages = len(r.blocks[r.at])
	}
	return m
}

// Release makes the room as full as it was. What Add and Keep have returned since must not be used any more: texts in memory
// that is used again become NULs, so that what is kept by mistake shows.
func (r *Room) Release(to Mark) {
	for ; r.at > to.block; r.at-- {
		r.empty(r.at, 0)
	}
	r.empty(to.block, to.messages)
	if r.piece != to.piece {
		to.texts = 0 // the whole piece was begun since
	}
	clear(r.texts[to.texts:])
	r.texts = r.texts[:to.texts]
}

// Clear makes the room empty. What it returned must not be used any more.
func (r *Room) Clear() {
	if len(r.blocks) > keptBlocks {
		clear(r.blocks[keptBlocks:]) // else what they hold would not be collected
		r.blocks, r.at = r.blocks[:keptBlocks], min(r.at, keptBlocks)
	}
	r.Release(Mark{})
	if len(r.stored) > keptStored {
		r.stored = nil
	}
	clear(r.stored)
}

// empty empties a block, but for its first messages.
func (r *Room) empty(block, but int) {
	if block < len(r.blocks) {
		clear(r.blocks[block][but:])
		r.blocks[block] = r.blocks[block][:but]
	}
}
