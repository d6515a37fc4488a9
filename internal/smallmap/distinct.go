package smallmap

import "slices"

// Distinct removes repeated elements from list and keeps the order of the rest. The result reuses
// the memory of list.
func Distinct[T comparable](list []T) []T {
	out := list[:0]
	if len(list) <= MaxLinear {
		for _, x := range list {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
		return out
	}
	seen := make(map[T]struct{}, len(list))
	for _, x := range list {
		if _, have := seen[x]; !have {
			seen[x] = struct{}{}
			out = append(out, x)
		}
	}
	return out
}
