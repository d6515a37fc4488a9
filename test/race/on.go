//go:build race

package race

// Enabled says whether the tests run under the race detector.
const Enabled = true
