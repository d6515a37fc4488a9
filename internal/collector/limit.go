package collector

import (
	"math"
	"os"
	"runtime/debug"
)

// Within sets Go's memory limit, in bytes, until stop is called. It is for a program that streams
// its data, and so keeps little memory alive. It does nothing if the environment sets GOMEMLIMIT.
func Within(bytes int64) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(bytes)
	return func() { debug.SetMemoryLimit(before) }
}

// unmanaged is the number of bytes that heapOf leaves for memory that Go does not manage: the data
// of the program and, if it is linked with C, a stack of 8 MiB for each thread.
const unmanaged = 184 << 20

// Limit sets Go's memory limit below the limit of the process: the smaller one of its data segment
// and of its control group. It does nothing if there is neither, or if the environment sets
// GOMEMLIMIT.
func Limit() {
	if limit := allowed(); limit < math.MaxInt64 {
		Within(heapOf(limit))
	}
}

// heapOf returns Go's memory limit for a limit of the process, in bytes. It leaves unmanaged bytes,
// or an eighth of the limit if that is more. The result is at least a quarter of the limit.
func heapOf(limit int64) int64 { return max(limit/4, limit-max(limit/8, unmanaged)) }
