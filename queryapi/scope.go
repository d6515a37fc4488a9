package queryapi

import (
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
