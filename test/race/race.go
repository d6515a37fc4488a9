// Package race shortens tests under the race detector, where they take several times as long.
package race

import "testing"

// Less returns n, or under if the tests run under the race detector. It is for tests that repeat the
// same with the same goroutines, or with one: the detector finds nothing more in the repetitions,
// and without it all of them run.
func Less(n, under int) int {
	if Enabled {
		return under
	}
	return n
}

// SkipOneGoroutine skips a test that runs in one goroutine, in which the race detector finds nothing.
func SkipOneGoroutine(t testing.TB) {
	if Enabled {
		t.Helper()
		t.Skip("it runs in one goroutine")
	}
}
