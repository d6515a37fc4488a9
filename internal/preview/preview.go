// Package preview computes the events that a message makes if it is the first of its bags. Other
// messages of a bag may change them (docs/rules.md §2, §3).
package preview

import (
	"context"
	"slices"

	"bagtrail/enricher"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/strictjson"
)

// Event is one event of a bag.
type Event struct {
	Plate       bag.Plate
	Code        string
	Description string
	Document    []byte // {"bagtag": "…", "event": {…}}, the event as a history shows it
}

// Maker makes previews.
type Maker struct {
	Enricher *enricher.Enricher
	Rules    bag.Rules
	Places   bagjson.Places
}

// Events returns the events of a message in the order of its plates: one for each group that names
// the plate. A message that positions a container has none, since it names no bag.
func (m Maker) Events(ctx context.Context, f bag.Filing) ([]Event, error) {
	var all []Event
	stored := []bag.Stored{{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}}
	for _, entry := range f.Entries {
		bags, err := m.Rules.FoldEvents(ctx, entry.Plate, m.Enricher.Messages(entry.Plate, stored), nil)
		if err != nil {
			return nil, err
		}
		var groups []int32
		for i := range bags {
			for j := range bags[i].Events {
				e := &bags[i].Events[j]
				if !slices.Contains(groups, e.Message.Group) {
					groups = append(groups, e.Message.Group)
					all = append(all, m.event(&bags[i], e))
				}
			}
		}
	}
	return all, nil
}

func (m Maker) event(b *bag.Bag, e *bag.Event) Event {
	known := bagjson.EventContext{Unknown: b.Unknown}
	if e.Code == bag.EventReflighted && e.Message.Original != "" {
		known.Reflighted = &bag.Reflighted{Plate: e.Message.Original}
	}
	doc := strictjson.AppendText([]byte{'{'}, "bagtag", string(b.Plate))
	doc = append(doc, `,"event":`...)
	doc = bagjson.AppendEvent(doc, e, m.Places, known)
	return Event{Plate: b.Plate, Code: e.Code, Description: e.Description, Document: append(doc, '}')}
}
