package collector

import (
	"os"
	"runtime/debug"
)

// Within has the heap collected as often as it takes to keep what Go takes of memory at about so many bytes, while a program
// streams: little of what it makes then lives. It does nothing if the environment sets GOMEMLIMIT. stop makes everything as
// it was.
func Within(bytes int64) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(bytes)
	return func() { debug.SetMemoryLimit(before) }
}
