package smallmap

import "slices"

// Distinct removes repeated elements from list and keeps the order of the rest. The result reuses
// the memory of list; behind it, that memory is zeroed.
func Distinct[T comparable](list []T) []T {
	var seen Set[T]
	return slices.DeleteFunc(list, func(x T) bool { return !seen.Add(x) })
}
