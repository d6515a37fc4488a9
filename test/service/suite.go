package service

import (
	"fmt"
	"os"
	"slices"
	"sync"
)

// Suite is the T of services that all tests of a package share. It is made in TestMain and ended
// after the last test.
type Suite struct {
	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

// End calls the cleanups, the last first. If failed is set, services show their logs.
func (r *Suite) End(failed bool) {
	r.mu.Lock()
	r.failed = failed
	cleanups := r.cleanups
	r.cleanups = nil
	r.mu.Unlock()
	for _, cleanup := range slices.Backward(cleanups) {
		cleanup()
	}
}

// Helper does nothing.
func (r *Suite) Helper() {}

// Cleanup registers f for End.
func (r *Suite) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Failed returns the argument of End.
func (r *Suite) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// Fatal panics: no test can go on without the shared parts.
func (r *Suite) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Fatalf is Fatal with a format.
func (r *Suite) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Logf writes to stderr.
func (r *Suite) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// TempDir returns a new directory, which End removes.
func (r *Suite) TempDir() string {
	dir, err := os.MkdirTemp("", "bagtrail-run-")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
