package queryapi

import (
	"slices"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// Who may see what is decided in three places (rules §4): apikey.Sight says what is in scope, bag.Viewer what follows for one bag, and
// this file what follows for an answer.

// sightOf returns what the key sees; nil is everything.
func sightOf(key *apikey.Key, places apikey.Places) bag.Sight {
	if !key.Limited() {
		return nil
	}
	return key.Sight(places)
}

func (q Queries) sight(key *apikey.Key) bag.Sight { return sightOf(key, q.Airports) }

// views returns what is seen of bags, without those of which nothing is.
func views(bags []*bag.Bag, viewer *bag.Viewer) []*bag.Bag {
	if viewer == nil {
		return bags
	}
	var seen []*bag.Bag
	for _, b := range bags {
		if view := viewer.View(b); view != nil {
			seen = append(seen, view)
		}
	}
	return seen
}

// sifted returns the bags that are wanted.
func sifted(bags []*bag.Bag, wanted func(*bag.Bag) bool) []*bag.Bag {
	var kept []*bag.Bag
	for _, b := range bags {
		if wanted(b) {
			kept = append(kept, b)
		}
	}
	return kept
}

// hidden answers if there are bags, and the key sees none of them. A key that conceals is answered as if there were none.
func hidden(c *web.Call, nothing fault.ID) web.Answer {
	if c.Key.Conceal {
		return c.Refuse(nothing)
	}
	return c.NotAuthorised()
}

// rushTag returns the plate under which b was re-flighted last, or "".
func rushTag(b *bag.Bag, viewer *bag.Viewer) bag.Plate {
	if b.RushTag == nil || !viewer.Founding(b) || !viewer.Founding(b.RushTag) {
		return ""
	}
	return b.RushTag.Plate
}

// reflighted returns what a REFLIGHTED event of b shows of the bag that is re-flighted. Of a bag that must not be shown only that plate is
// known which the message of the event names itself.
func reflighted(b *bag.Bag, e *bag.Event, viewer *bag.Viewer) *bag.Reflighted {
	r := b.ReflightedBy(e)
	if r == nil || viewer == nil {
		return r
	}
	if viewer.Founding(b) && r.Bag != nil && viewer.Founding(r.Bag) {
		seen := *r
		if !slices.ContainsFunc(viewer.View(r.Bag).Legs, func(l bag.Leg) bool { return l.Flight == r.Flight }) {
			seen.Flight = bag.Flight{}
		}
		return &seen
	}
	if e.Message.Original == "" {
		return nil
	}
	return &bag.Reflighted{Plate: e.Message.Original}
}

// showsRaw reports whether the key may read the text of a message that it sees. The document of a delayed-bag report is no baggage message, and
// nobody reads it.
func (q Queries) showsRaw(m *bag.Message, key *apikey.Key) bool {
	if m.IsReport() {
		return false
	}
	if !key.Limited() {
		return true
	}
	var read parser.Message
	read.Parse(m.Raw, q.Airports)
	return key.Sight(q.Airports).Text(&read)
}
