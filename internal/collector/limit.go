package collector

import (
	"math"
	"os"
	"runtime/debug"
)

// What a process takes beside what Go manages: the data of the program, and a stack of 8 MiB for each thread where it is linked
// with C. It is an eighth of large limits.
const beside = 184 << 20

// Limit has the heap collected before the process takes more memory than it may have, by its limit of data or that of its
// control group. It does nothing without a limit, nor where the environment sets GOMEMLIMIT.
func Limit() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := allowed(); limit < math.MaxInt64 {
		debug.SetMemoryLimit(heapOf(limit))
	}
}

// heapOf returns how large the heap may grow under a limit.
func heapOf(limit int64) int64 { return max(limit/4, limit-max(limit/8, beside)) }
