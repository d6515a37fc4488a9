// Package smallmap provides Map and Set for few entries, and Distinct, which removes duplicates
// from short lists.
//
// A bag has a handful of legs, airports and passengers. For so few entries a linear search in a
// slice allocates less than a Go map: with Go maps, folding a bag takes 10% more time and 50% more
// memory.
package smallmap

// MaxLinear is the number of entries up to which a linear search is used.
const MaxLinear = 16

// Map maps keys to values. With up to MaxLinear entries it searches its keys linearly; with more,
// it uses a Go map. The zero value is an empty map.
type Map[K comparable, V any] struct {
	list  []entry[K, V]
	index map[K]int // key to position in list; nil up to MaxLinear entries
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// find returns the position of key in the list, or -1.
func (m *Map[K, V]) find(key K) int {
	if m.index == nil {
		for i := range m.list {
			if m.list[i].key == key {
				return i
			}
		}
		return -1
	}
	if i, have := m.index[key]; have {
		return i
	}
	return -1
}

// Has reports whether key has a value.
func (m *Map[K, V]) Has(key K) bool { return m.find(key) >= 0 }

// Get returns the value of key, and whether it has one.
func (m *Map[K, V]) Get(key K) (value V, have bool) {
	if i := m.find(key); i >= 0 {
		return m.list[i].value, true
	}
	return value, false
}

// Value returns the value of key, or the zero value if it has none.
func (m *Map[K, V]) Value(key K) V {
	value, _ := m.Get(key)
	return value
}

// Set sets the value of key.
func (m *Map[K, V]) Set(key K, value V) {
	if i := m.find(key); i >= 0 {
		m.list[i].value = value
		return
	}
	if m.list == nil {
		m.list = make([]entry[K, V], 0, 2)
	}
	m.list = append(m.list, entry[K, V]{key, value})
	switch {
	case m.index != nil:
		m.index[key] = len(m.list) - 1
	case len(m.list) > MaxLinear:
		m.index = make(map[K]int, 2*MaxLinear)
		for i := range m.list {
			m.index[m.list[i].key] = i
		}
	}
}

// Set is a set of keys, which it holds as a Map does. The zero value is an empty set.
type Set[K comparable] struct{ keys Map[K, struct{}] }

// Has reports whether key is in the set.
func (s *Set[K]) Has(key K) bool { return s.keys.Has(key) }

// Add adds key, and reports whether it was not in the set before.
func (s *Set[K]) Add(key K) bool {
	before := len(s.keys.list)
	s.keys.Set(key, struct{}{})
	return len(s.keys.list) > before
}
