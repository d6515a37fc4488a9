package web

import "errors"

const (
	// smallAnswer is the size in bytes up to which an answer does not count against AnswerBytes.
	smallAnswer = 64 << 10
	// partRoom is the capacity in bytes of the buffer for a part of a large answer. A part ends
	// when it reaches smallAnswer; the rest is room for its last element.
	partRoom = smallAnswer + 4<<10
)

// errCrowded means that large answers use all the memory of AnswerBytes, or that those of the key
// use all of its share.
var errCrowded = errors.New("the memory for large answers is used up")

// Part is called after each element that an operation appends to its answer. If dst has at least 64
// KiB, Part keeps it and returns a new buffer for the next elements; OK joins the parts. If the
// memory for large answers is used up, Part drops what it gets from then on, and OK answers
// Unavailable. The memory is bounded because a caller that reads slowly, or not at all, keeps its
// answer in memory until the write limit.
func (c *Call) Part(dst []byte) []byte {
	if len(dst) < smallAnswer {
		return dst
	}
	if c.partErr == nil && !c.count(dst) {
		c.partErr = errCrowded
	}
	if c.partErr != nil {
		return dst[:0]
	}
	c.parts = append(c.parts, dst)
	return make([]byte, 0, partRoom)
}

// PartErr returns an error once Part has dropped a part. An operation for which the next elements take
// long need not make them.
func (c *Call) PartErr() error { return c.partErr }

// count takes the memory of a large answer, or of a part of one, from the budget. reply returns it to
// the budget after the answer was written. It returns false if too little is left.
func (c *Call) count(dst []byte) bool {
	n := int64(cap(dst))
	c.needed += n
	if n <= c.reserved {
		c.reserved -= n
		return true
	}
	return c.take(n)
}

// take takes n bytes for the call from the share of its key in the memory for large answers. It returns
// false if too little is left.
func (c *Call) take(n int64) bool {
	if !c.site.answers.Try(c.Key.Name, n) {
		return false
	}
	c.counted += n
	return true
}

// giveBack returns all that the call has taken.
func (c *Call) giveBack() {
	if c.counted > 0 {
		c.site.answers.Return(c.Key.Name, c.counted)
		c.counted, c.reserved = 0, 0
	}
}

// lengthKey is the key of an answer in Site.lengths: the name of the API key, and the request target.
type lengthKey struct{ key, target string }

func (c *Call) lengthKey() lengthKey { return lengthKey{c.Key.Name, c.Request.RequestURI} }

// maxLengths is the memory in bytes that a generation of Site.lengths takes.
const maxLengths = 256 << 10

// reserveAnswer takes the memory for the answer to a request, if it was large the last time: as much as it
// took then, and at most all that the key may take. It returns false if too little is left. Such a
// request is refused before it causes any work. Without a reservation two callers of one large answer
// could each take half of what it needs, and nobody would get it.
func (s *Site) reserveAnswer(c *Call) bool {
	if c.operation.HasBody() {
		return true // the answer also depends on the body
	}
	needed, large := s.lengths.Get(c.lengthKey())
	if !large {
		return true
	}
	needed = min(needed, s.answers.Most())
	if !c.take(needed) {
		return false
	}
	c.reserved = needed
	return true
}

// noteLength stores how much memory the answer to a request takes. Of an answer that was refused
// since memory was short, only a lower bound is known: twice as much is stored, so that after a few
// tries one of many callers reserves enough. It does not replace a larger number.
func (s *Site) noteLength(c *Call, a Answer) {
	if c.Key == nil || c.operation.HasBody() {
		return
	}
	key := c.lengthKey()
	if errors.Is(a.Cause, errCrowded) {
		before, _ := s.lengths.Get(key)
		c.needed = max(2*c.needed, before)
	}
	if c.needed > 0 {
		s.lengths.Put(key, c.needed, len(key.target)+100)
	} else {
		s.lengths.Remove(key)
	}
}

// length returns the number of bytes of an answer.
func (a *Answer) length() (n int) {
	for _, part := range a.parts {
		n += len(part)
	}
	return n + len(a.Body)
}
