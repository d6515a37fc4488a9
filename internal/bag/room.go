package bag

import "sync"

// Room is memory for messages that are read again to answer one question. It can be cleared, and then used for another
// one, which spares the collector what is most of its work.
type Room struct {
	blocks   [][]Message
	at       int  // the block that is being filled; those before it are full
	borrowed bool // it will be used again, and so has large blocks
}

const (
	blockMessages = 64
	keptBlocks    = 8 // of those that Clear leaves: 0.3 MB
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

// Clear makes the room empty. What Add returned must not be used any more.
func (r *Room) Clear() {
	if len(r.blocks) > keptBlocks {
		clear(r.blocks[keptBlocks:]) // else what they hold would not be collected
		r.blocks = r.blocks[:keptBlocks]
	}
	for i := range r.blocks[:min(r.at+1, len(r.blocks))] {
		clear(r.blocks[i])
		r.blocks[i] = r.blocks[i][:0]
	}
	r.at = 0
}
