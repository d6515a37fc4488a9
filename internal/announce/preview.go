package announce

import (
	"context"
	"slices"

	"bagtrail/internal/bag"
	"bagtrail/internal/trail/memory"
)

// bagsAPreview is how many bags of a message have their events made together. It bounds the memory.
const bagsAPreview = 20

// Preview returns the events that a message makes if it is the first of its bags; a.Index is not
// used. A message that positions a container has none: its events are those of the bags in the
// container, which it does not name.
func (a Announcer) Preview(ctx context.Context, filing bag.Filing) (all []Event, err error) {
	index := memory.New()
	if _, err := index.File(ctx, []bag.Filing{filing}); err != nil {
		return nil, err
	}
	a.Index = index
	for entries := range slices.Chunk(filing.Entries, bagsAPreview) {
		filing.Entries = entries
		events, err := a.Events(ctx, []bag.Filing{filing})
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}
