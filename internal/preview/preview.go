// Package preview computes the events that a message makes if it is the first of its bags. Other
// messages of a bag may change them (docs/rules.md §2, §3).
package preview

import (
	"context"
	"slices"

	"bagtrail/enricher"
	"bagtrail/enricher/airport"
	"bagtrail/internal/bag"
	"bagtrail/internal/bagjson"
	"bagtrail/internal/strictjson"
)

// Event is one event of a bag.
type Event struct {
	bag.Event
	Plate   bag.Plate
	unknown bool // the message is no BSM
}

// Maker makes previews.
type Maker struct {
	enricher *enricher.Enricher
	airports *airport.Library
}

// New returns a Maker.
func New(e *enricher.Enricher, airports *airport.Library) Maker { return Maker{e, airports} }

// Events returns the events of a message in the order of its plates: one for each group that names
// the plate. A message that positions a container has none, since it names no bag.
func (m Maker) Events(ctx context.Context, f bag.Filing) ([]Event, error) {
	var all []Event
	rules := bag.Rules{Places: m.airports}
	stored := []bag.Stored{{Report: f.Report, Raw: f.Raw, Received: f.Received, Position: f.Position}}
	for _, entry := range f.Entries {
		bags, err := rules.Fold(ctx, entry.Plate, m.enricher.Messages(entry.Plate, stored), nil)
		if err != nil {
			return nil, err
		}
		var groups []int32
		for i := range bags {
			for j := range bags[i].Events {
				e := &bags[i].Events[j]
				if !slices.Contains(groups, e.Message.Group) {
					groups = append(groups, e.Message.Group)
					all = append(all, Event{*e, entry.Plate, bags[i].Unknown})
				}
			}
		}
	}
	return all, nil
}

// Append appends the JSON object {"bagtag": "…", "event": {…}}, with the event as a history shows it.
func (m Maker) Append(dst []byte, e *Event) []byte {
	known := bagjson.EventContext{Unknown: e.unknown}
	if e.Code == bag.EventReflighted && e.Message.Original != "" {
		known.Reflighted = &bag.Reflighted{Plate: e.Message.Original}
	}
	dst = strictjson.AppendText(append(dst, '{'), "bagtag", string(e.Plate))
	dst = append(dst, `,"event":`...)
	return append(bagjson.AppendEvent(dst, &e.Event, m.airports, known), '}')
}
