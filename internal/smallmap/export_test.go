package smallmap

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return len(m.list) }
