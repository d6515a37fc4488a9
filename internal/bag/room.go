package bag

import "sync"

// Room is memory for messages that are read again to answer one question. It can be cleared, and then used for another
// one, which spares the collector what is most of its work.
type Room struct {
	blocks [][]Message
	at     int // the block that is being filled; those before it are full
}

const (
	blockMessages = 64
	keptBlocks    = 8 // of those that Clear leaves: 0.3 MB
)

var rooms = sync.Pool{New: func() any { return new(Room) }}

// BorrowRoom returns an empty room, for Return to take back.
func BorrowRoom() *Room { return rooms.Get().(*Room) }

// Return clears a room and gives it to others.
func (r *Room) Return() {
	r.Clear()
	rooms.Put(r)
}

// NewRoom returns a room whose first messages stand together.
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
	r.blocks = append(r.blocks, make([]Message, 1, blockMessages))
	return &r.blocks[r.at][0]
}

// Clear makes the room empty. What Add returned must not be used any more.
func (r *Room) Clear() {
	r.blocks = r.blocks[:min(len(r.blocks), keptBlocks)]
	for i := range r.blocks[:min(r.at+1, len(r.blocks))] {
		clear(r.blocks[i])
		r.blocks[i] = r.blocks[i][:0]
	}
	r.at = 0
}
