package collector

import (
	"os"
	"runtime/debug"
)

// Within sets Go's memory limit to so many bytes until stop is called, for a program that streams and so keeps little alive. It
// does nothing if the environment sets GOMEMLIMIT.
func Within(bytes int64) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(bytes)
	return func() { debug.SetMemoryLimit(before) }
}
