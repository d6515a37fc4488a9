package collector

import (
	"math"
	"os"
	"runtime/debug"
)

// beside is the memory in bytes that Go does not manage: the data of the program, and a stack of 8 MiB for each thread if it is
// linked with C. Of large limits it is an eighth.
const beside = 184 << 20

// Limit sets Go's memory limit below the limit of the process, which is that of its data or of its control group. It does nothing
// if there is no limit, or if the environment sets GOMEMLIMIT.
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
