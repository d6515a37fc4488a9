//go:build linux

package collector

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestTheHeapLeavesRoomUnderALimit(t *testing.T) {
	for limit, want := range map[int64]int64{
		64 << 20: 16 << 20, 256 << 20: 72 << 20, 512 << 20: 328 << 20, 8 << 30: 7 << 30,
	} {
		if got := heapOf(limit); got != want {
			t.Errorf("of %d MiB the heap has %d, want %d", limit>>20, got>>20, want>>20)
		}
	}
}

func TestTheLeastLimitOfAControlGroupCounts(t *testing.T) {
	root := t.TempDir()
	write := func(group, limit string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, group), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, group, "memory.max"), []byte(limit+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/b/c", "max")
	if got := ofGroup(root, "/a/b/c"); got != math.MaxInt64 {
		t.Errorf("%d without a limit", got)
	}
	write("a/b", "1000")
	write("a", "2000")
	for group, want := range map[string]int64{"/a/b/c": 1000, "/a/b": 1000, "/a": 2000, "/": math.MaxInt64, "/gone": math.MaxInt64} {
		if got := ofGroup(root, group); got != want {
			t.Errorf("%s has %d, want %d", group, got, want)
		}
	}
}
