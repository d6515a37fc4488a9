package trail

import (
	"sync"

	"bagtrail/internal/bag"
)

// cachedMessages is how many messages of plates are cached at most, times two.
const cachedMessages = 6_000

// cachedPositionings is how many container positionings are cached at most, times two.
const cachedPositionings = 2_000

// recentPlates is how many plates count as asked for lately at most, times two: about as many as can
// be cached.
const recentPlates = 400

// plateState is the messages of a plate at one version, and the bags that they make. It is never
// changed once made.
type plateState struct {
	version    uint64
	messages   []*bag.Message
	containers []bag.Container // whose positionings can concern the bags
	transient  bool            // it is not cached

	bags       []bag.Bag // nil until they are made
	positioned uint64    // version of the positionings from which bags were made

	listed *listedPlate // what a list shows; then there are neither messages nor bags
}

func newPlateState(version uint64, messages []*bag.Message) *plateState {
	return &plateState{version: version, messages: messages, containers: bag.Containers(messages)}
}

// containerState is the positionings of a container at one version. It is never changed once made.
type containerState struct {
	version  uint64
	messages []*bag.Message
}

// cache is a cache of bounded weight. Its values carry the versions of what they were made from,
// which callers must compare. It is safe for concurrent use.
//
// It has two generations. A value that is asked for moves to the young one. When that is full, the
// old one is dropped.
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
