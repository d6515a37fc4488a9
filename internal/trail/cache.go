package trail

import (
	"sync"

	"bagtrail/internal/bag"
)

// The limits of the caches: the weight of one generation. A cache holds at most two generations.
const (
	cachedMessages     = 6_000 // messages of plates
	cachedPositionings = 2_000 // container positionings
	recentPlates       = 400   // plates that were asked for lately: about as many as can be cached
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

func newPlateState(version uint64, messages []*bag.Message) *plateState {
	return &plateState{version: version, messages: messages, containers: bag.Containers(messages)}
}

// containerState holds the positionings of a container at one version. Nobody changes it after it
// was made.
type containerState struct {
	version  uint64
	messages []*bag.Message
}

// cache is a cache of bounded weight. Its values hold the versions of the messages from which they
// were made; callers must compare them. It is safe for concurrent use.
//
// It has two generations. get moves a value to the young one. When the young one is full, it
// replaces the old one.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	limit  int // weight of a generation
	weight int // of the young generation
	young  map[K]weighed[K, V]
	old    map[K]weighed[K, V]
}

type weighed[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, young: make(map[K]weighed[K, V])}
}

// get returns the value of a key. It does not keep the key.
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

// put keeps a value, unless it weighs more than half of a generation. A value weighs at least 1,
// since an empty value takes memory too. The memory of the key must not be used again.
func (c *cache[K, V]) put(key K, value V, weight int) {
	if weight = max(weight, 1); weight > c.limit/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(weighed[K, V]{key, value, weight})
}

func (c *cache[K, V]) add(w weighed[K, V]) {
	c.weight += w.weight - c.young[w.key].weight
	if c.weight > c.limit {
		c.old, c.young, c.weight = c.young, make(map[K]weighed[K, V], len(c.young)), w.weight
	}
	c.young[w.key] = w
}
