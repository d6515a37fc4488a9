package trail

import (
	"sync"

	"bagtrail/internal/bag"
)

// cachedMessages is how many messages a cache holds at most, times two.
const cachedMessages = 12_000

// folded is what was made of the messages of a plate at one version. It is never changed once put.
type folded struct {
	version  uint64
	messages []*bag.Message
	flights  []bag.Flight // on which container positionings can concern the bags

	bags       []bag.Bag // nil where they are not made yet
	positioned uint64    // version of the positionings of which bags were made
}

func newFolded(version uint64, messages []*bag.Message) *folded {
	f := &folded{version: version, messages: messages}
	seen := make(map[bag.Flight]struct{})
	for _, m := range messages {
		before := len(seen)
		bag.StowageFlights(seen, m)
		if len(seen) > before {
			f.flights = append(f.flights, m.Outbound.Flight)
		}
	}
	return f
}

// cache remembers what was made of the plates that were asked for lately. What it returns is always what
// would be made anew, since a version stands for a set of messages. It is safe for concurrent use.
//
// It has two generations: what is asked for moves to the young one; when that is full the old one goes.
type cache struct {
	mu    sync.Mutex
	limit int // messages in a generation
	count int // messages in the young generation
	young map[bag.Plate]*folded
	old   map[bag.Plate]*folded
}

func newCache(messages int) *cache {
	return &cache{limit: messages, young: make(map[bag.Plate]*folded)}
}

// get returns what is remembered of a plate at a version, or nil.
func (c *cache) get(plate bag.Plate, version uint64) *folded {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, young := c.young[plate]
	if !young {
		f = c.old[plate]
	}
	if f == nil || f.version != version || version == 0 {
		return nil
	}
	if !young {
		c.add(plate, f)
	}
	return f
}

// put remembers what was made of a plate. A plate with more messages than a tenth of a generation is not kept.
func (c *cache) put(plate bag.Plate, f *folded) {
	if f.version == 0 || len(f.messages) > c.limit/10 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(plate, f)
}

func (c *cache) add(plate bag.Plate, f *folded) {
	if before := c.young[plate]; before != nil {
		c.count -= len(before.messages)
	}
	if c.count+len(f.messages) > c.limit {
		c.old, c.young, c.count = c.young, make(map[bag.Plate]*folded, len(c.young)), 0
	}
	c.young[plate] = f
	c.count += len(f.messages)
}
