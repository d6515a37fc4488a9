package bag

// pairs is a map that looks through its pairs one by one while they are few, which they mostly are: that costs less
// than a map does.
type pairs[K comparable, V any] struct {
	list  []pair[K, V]
	index map[K]int // in list, where that is more than few
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

// few is how many things are looked through one by one.
const few = 16

// find returns the place of a key in the list, or -1.
func (p *pairs[K, V]) find(key K) int {
	if p.index == nil {
		for i := range p.list {
			if p.list[i].key == key {
				return i
			}
		}
		return -1
	}
	if i, have := p.index[key]; have {
		return i
	}
	return -1
}

// get returns the value of a key, and whether it has one.
func (p *pairs[K, V]) get(key K) (value V, have bool) {
	if i := p.find(key); i >= 0 {
		return p.list[i].value, true
	}
	return value, false
}

// set gives a key a value.
func (p *pairs[K, V]) set(key K, value V) {
	if i := p.find(key); i >= 0 {
		p.list[i].value = value
		return
	}
	if p.list == nil {
		p.list = make([]pair[K, V], 0, 4)
	}
	p.list = append(p.list, pair[K, V]{key, value})
	switch {
	case p.index != nil:
		p.index[key] = len(p.list) - 1
	case len(p.list) > few:
		p.index = make(map[K]int, 2*few)
		for i := range p.list {
			p.index[p.list[i].key] = i
		}
	}
}
