package trail

import "bagtrail/internal/bag"

// The limits of the caches: the weight of one generation. A cache holds at most two generations.
const (
	cachedMessages     = 6_000 // messages of plates
	cachedPositionings = 2_000 // container positionings
)

// plateState holds the messages of a plate at one version, and the bags that they make. Nobody
// changes it after it was made.
type plateState struct {
	version    uint64
	messages   []*bag.Message
	containers []bag.Container // the containers whose positionings can concern the bags
	transient  bool            // it is not cached

	bags       []bag.Bag // nil until they are made
	positioned uint64    // version of the positionings from which bags were made

	listed *listedPlate // the entry of a list; if it is set, there are neither messages nor bags
}

// containerState holds the positionings of a container at one version. Nobody changes it after it
// was made.
type containerState struct {
	version  uint64
	messages []*bag.Message
}
