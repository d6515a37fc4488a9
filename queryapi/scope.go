package queryapi

import (
	"context"
	"slices"

	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/fault"
	"bagtrail/internal/smallmap"
	"bagtrail/internal/web"
	"bagtrail/parser"
)

// The scope of a key (rules §4): apikey.Key decides whether it may ask for a flight, an airport or a
// message; apikey.Sight decides which legs and stations are in scope; bag.Viewer makes the view of one
// bag. The functions here help the operations to leave out what is out of scope.

func (q Queries) sight(key *apikey.Key) bag.Sight { return key.SightIfLimited(q.Airports) }

// views returns the viewer's views of bags, in the order of lists. It leaves out bags that the
// viewer does not see at all.
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
	slices.SortFunc(seen, bag.CompareViews)
	return seen
}

// filter returns the bags for which wanted returns true.
func filter(bags []*bag.Bag, wanted func(*bag.Bag) bool) []*bag.Bag {
	return slices.DeleteFunc(slices.Clone(bags), func(b *bag.Bag) bool { return !wanted(b) })
}

// refuseHidden returns the answer if there are bags and the key sees none of them. A key with
// conceal gets the answer for no bags.
func refuseHidden(c *web.Call, nothing fault.ID) web.Answer {
	if c.Key.Conceal {
		return c.Refuse(nothing)
	}
	return c.NotAuthorised()
}

// showsRaw returns a function that reports whether the key may read the text of a message whose event
// it sees. The document of a delayed-bag report is never shown: it is not a baggage message. The
// function parses a text once, since thousands of events may come from one text. Once ctx has ended,
// it parses none and returns false.
func (q Queries) showsRaw(ctx context.Context, key *apikey.Key) func(*bag.Message) bool {
	sight := key.Sight(q.Airports)
	var shown smallmap.Map[string, bool] // by text
	return func(m *bag.Message) bool {
		if m.IsReport() {
			return false
		}
		if !key.Limited() {
			return true
		}
		show, have := shown.Get(m.Raw)
		if !have && ctx.Err() == nil {
			var read parser.Message
			read.Parse(m.Raw, q.Airports)
			show = sight.Text(&read)
			shown.Set(m.Raw, show)
		}
		return show
	}
}
