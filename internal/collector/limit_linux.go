package collector

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// allowed returns the limit of the memory of the process in bytes, or math.MaxInt64 if there is
// none.
func allowed() int64 {
	least := int64(math.MaxInt64)
	var data syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &data); err == nil && data.Cur < math.MaxInt64 {
		least = int64(data.Cur)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(groups)) {
		if group, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			least = min(least, ofGroup("/sys/fs/cgroup", group))
		}
	}
	return least
}

// ofGroup returns the smallest memory limit of a control group and its ancestors, in bytes, or
// math.MaxInt64 if there is none.
func ofGroup(root, group string) int64 {
	least := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := os.ReadFile(root + group + "/memory.max")
		if limit, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil { // else it is "max"
			least = min(least, limit)
		}
		if group == "/" {
			return least
		}
	}
}
