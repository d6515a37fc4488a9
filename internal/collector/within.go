package collector

import (
	"os"
	"runtime/debug"
)

// Within sets Go's memory limit until stop is called. It is for a program that streams, and so
// keeps little memory alive. It does nothing if the environment sets GOMEMLIMIT.
func Within(bytes int64) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(bytes)
	return func() { debug.SetMemoryLimit(before) }
}
