package web

import "errors"

const (
	// smallAnswer is how long an answer may be that is made and written whatever else is under way, in bytes.
	smallAnswer = 64 << 10
	// partRoom is the memory for a part of a large answer, in bytes: the part is full at smallAnswer, and what comes last is short.
	partRoom = smallAnswer + 4<<10
)

// ErrCrowded says that large answers under way have taken all the memory that there is for them.
var ErrCrowded = errors.New("large answers under way have taken all the memory that there is for them")

// Part is called every now and then while an answer is appended to the buffer. It takes over what stands there if that is much, and
// returns the buffer for what follows; OK puts both together. Its error is ErrCrowded, which makes the call Unavailable: a
// caller who reads slowly, or not at all, holds his answer until the write limit.
func (c *Call) Part(dst []byte) ([]byte, error) {
	if len(dst) < smallAnswer {
		return dst, nil
	}
	if err := c.count(dst); err != nil {
		return nil, err
	}
	c.parts = append(c.parts, dst)
	return make([]byte, 0, partRoom), nil
}

// count counts the memory of a large answer, until it has been written.
func (c *Call) count(dst []byte) error {
	n := int64(cap(dst))
	c.needed += n
	if !c.answers.Try(n) {
		return ErrCrowded
	}
	c.counted += n
	return nil
}

// crowded reports whether a question whose answer was large before would be refused now: then it is before it takes any work.
func (s *Site) crowded(c *Call) bool {
	if c.operation.Body {
		return false // the answer depends on more than the target
	}
	c.needed = s.lengths.Get(c.Key.Name, c.Request.RequestURI)
	if c.needed == 0 || s.answers.Has(c.needed) {
		c.needed = 0
		return false
	}
	return true
}

// noteLength notes how much memory the answer to a question takes; of one that was refused, at least.
func (s *Site) noteLength(c *Call, a Answer) {
	if c.Key == nil || c.operation.Body {
		return
	}
	if errors.Is(a.Cause, ErrCrowded) {
		c.needed = max(c.needed, s.lengths.Get(c.Key.Name, c.Request.RequestURI))
	}
	s.lengths.Set(c.needed, c.Key.Name, c.Request.RequestURI)
}

// length is how many bytes an answer has.
func (a *Answer) length() (n int) {
	for _, part := range a.parts {
		n += len(part)
	}
	return n + len(a.Body)
}
