package few

import "slices"

// Distinct returns the elements of a list, each once and in its order, in the same memory.
func Distinct[T comparable](list []T) []T {
	out := list[:0]
	if len(list) <= Most {
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
