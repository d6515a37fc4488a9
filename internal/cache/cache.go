// Package cache provides Cache, which holds values in bounded memory.
package cache

import "sync"

// Cache is a cache of bounded weight. It is safe for concurrent use.
//
// It has two generations. Put adds a value to the young one, and Get moves a value to it. When the
// young generation is full, it replaces the old one. So values that were not used lately are
// dropped.
type Cache[K comparable, V any] struct {
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

// New returns a cache. limit is the weight of a generation.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, young: make(map[K]weighed[K, V])}
}

// Get returns the value of a key. It does not keep the key.
func (c *Cache[K, V]) Get(key K) (value V, have bool) {
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

// Put keeps a value, unless it weighs more than half of a generation. A value weighs at least 1,
// since an empty value takes memory too. The memory of the key must not be reused.
func (c *Cache[K, V]) Put(key K, value V, weight int) {
	if weight = max(weight, 1); weight > c.limit/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(weighed[K, V]{key, value, weight})
}

// Remove removes the value of a key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.weight -= c.young[key].weight
	delete(c.young, key)
	delete(c.old, key)
}

func (c *Cache[K, V]) add(w weighed[K, V]) {
	c.weight += w.weight - c.young[w.key].weight
	if c.weight > c.limit {
		c.old, c.young, c.weight = c.young, make(map[K]weighed[K, V], len(c.young)), w.weight
	}
	c.young[w.key] = w
}
