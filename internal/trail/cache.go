package trail

import (
	"sync"

	"bagtrail/internal/bag"
)

// cachedMessages is how many messages of plates that were asked for are remembered at most, times two.
const cachedMessages = 6_000

// cachedPositionings is how many container positionings are remembered at most, times two.
const cachedPositionings = 2_000

// askedLately is how many plates count as asked for lately at most, times two: about as many as can be remembered.
const askedLately = 400

// folded is what was made of the messages of a plate at one version. It is never changed once made.
type folded struct {
	version    uint64
	messages   []*bag.Message
	containers []bag.Container // whose positionings can concern the bags
	transient  bool            // it is not to be remembered

	bags       []bag.Bag // nil where they are not made yet
	positioned uint64    // version of the positionings of which bags were made

	listed *onFlight // what a list shows of them, where nothing else is to be known: then messages and bags are not here
}

func newFolded(version uint64, messages []*bag.Message) *folded {
	return &folded{version: version, messages: messages, containers: bag.Containers(messages)}
}

// stowed is the positionings of a container at one version. It is never changed once made.
type stowed struct {
	version  uint64
	messages []*bag.Message
}

// cache remembers what was made for those who asked lately. What it holds carries the versions of what it was made from,
// which whoever takes it out must compare. It is safe for concurrent use.
//
// It has two generations: what is asked for moves to the young one; when that is full the old one goes.
type cache[K comparable, V any] struct {
	mu    sync.Mutex
	limit int // of the weights in a generation
	count int // of the weights in the young generation
	young map[K]weighed[K, V]
	old   map[K]weighed[K, V]
}

type weighed[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, young: make(map[K]weighed[K, V])}
}

// get returns what is remembered under a key, which it does not keep.
func (c *cache[K, V]) get(key K) (value V, have bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, young := c.young[key]; young {
		return w.value, true
	}
	w, have := c.old[key]
	if have {
		c.add(w)
	}
	return w.value, have
}

// put remembers a value, unless it would take more than half of a generation. It weighs one at least: also what was not found
// takes memory. The key must not lie in memory that is used again.
func (c *cache[K, V]) put(key K, value V, weight int) {
	if weight = max(weight, 1); weight > c.limit/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(weighed[K, V]{key, value, weight})
}

func (c *cache[K, V]) add(w weighed[K, V]) {
	c.count += w.weight - c.young[w.key].weight
	if c.count > c.limit {
		c.old, c.young, c.count = c.young, make(map[K]weighed[K, V], len(c.young)), w.weight
	}
	c.young[w.key] = w
}
