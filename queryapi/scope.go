package queryapi

import (
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Out of scope is not there (rules §4): no bag, and nothing that an answer would show of one.

// inScope keeps the bags that the key covers.
func inScope(bags []*bag.Bag, key *apikey.Key) []*bag.Bag {
	var kept []*bag.Bag
	for _, b := range bags {
		if key.Bag(b) {
			kept = append(kept, b)
		}
	}
	return kept
}

// nothing answers that nothing was found. A key that does not cover everything learns only that it may not ask, whether or not
// there is such a bag.
func nothing(c *web.Call, id fault.ID) web.Answer {
	if c.Key.Limited() {
		return c.NotAuthorised()
	}
	return c.Refuse(id)
}

// rushTag returns the plate under which b was re-flighted last, or "".
func rushTag(b *bag.Bag, key *apikey.Key) bag.Plate {
	if b.RushTag == nil || !key.Bag(b.RushTag) {
		return ""
	}
	return b.RushTag.Plate
}

// reflighted returns which bag an event of the rush bag b re-flights. Of an original that the key does not cover only that plate is
// shown which the messages of b name themselves.
func reflighted(b *bag.Bag, e *bag.Event, key *apikey.Key) *bag.Reflighted {
	r := b.ReflightedBy(e)
	if r == nil || r.Bag == nil || key.Bag(r.Bag) {
		return r
	}
	if len(b.Originals) == 0 {
		return nil
	}
	return &bag.Reflighted{Plate: r.Plate}
}

// showsRaw reports whether the key may read the text of a message. A message with several groups tells of other bags, of which
// the scope is not known here, so only a key that covers everything may read it. The document of a delayed-bag report is no
// baggage message, and nobody reads it.
func (q Queries) showsRaw(m *bag.Message, key *apikey.Key) bool {
	if m.Kind == bag.Report {
		return false
	}
	if !key.Limited() {
		return true
	}
	var read parser.Message
	read.Parse(m.Raw, q.Airports)
	return len(read.Groups) == 1
}
