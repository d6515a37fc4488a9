// Package race shortens tests under the race detector, where they take several times as long.
package race

// Less returns n, or under if the tests run under the race detector. It is for tests that repeat the
// same with the same goroutines, or with one: the detector finds nothing more in the repetitions,
// and without it all of them run.
func Less(n, under int) int {
	if Enabled {
		return under
	}
	return n
}
