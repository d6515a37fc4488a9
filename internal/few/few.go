// Package few holds a map, and what takes out doubles, for what is mostly little.
package few

// Most is how many things are looked through one by one: beyond, a map costs less.
const Most = 16

// Map is a map that looks through its keys one by one while they are few. Its zero value is empty.
type Map[K comparable, V any] struct {
	list  []entry[K, V]
	index map[K]int // in list, where that is more than Most
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// find returns the place of a key in the list, or -1.
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

// Len returns how many keys have a value.
func (m *Map[K, V]) Len() int { return len(m.list) }

// Has reports whether a key has a value.
func (m *Map[K, V]) Has(key K) bool { return m.find(key) >= 0 }

// Get returns the value of a key, and whether it has one.
func (m *Map[K, V]) Get(key K) (value V, have bool) {
	if i := m.find(key); i >= 0 {
		return m.list[i].value, true
	}
	return value, false
}

// Value returns the value of a key; the zero value where it has none.
func (m *Map[K, V]) Value(key K) V {
	value, _ := m.Get(key)
	return value
}

// Set gives a key a value.
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
	case len(m.list) > Most:
		m.index = make(map[K]int, 2*Most)
		for i := range m.list {
			m.index[m.list[i].key] = i
		}
	}
}
