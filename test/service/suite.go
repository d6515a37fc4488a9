package service

import (
	"fmt"
	"os"
	"sync"
)

// Suite is the T of services that all tests of a package share: made in TestMain, ended after the last test.
type Suite struct {
	mu       sync.Mutex
	cleanups []func()
	failed   bool
}

// End undoes what was made for the run, the last first. failed has the services show their logs.
func (r *Suite) End(failed bool) {
	r.mu.Lock()
	r.failed = failed
	cleanups := r.cleanups
	r.cleanups = nil
	r.mu.Unlock()
	for i := len(cleanups) - 1; i >= 0; i-- {
		cleanups[i]()
	}
}

// Helper does nothing.
func (r *Suite) Helper() {}

// Cleanup has f called by End.
func (r *Suite) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Failed reports what End was told.
func (r *Suite) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// Fatal panics: without what the whole run needs, no test can go on.
func (r *Suite) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Fatalf is Fatal with a format.
func (r *Suite) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// Logf writes to stderr.
func (r *Suite) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// TempDir makes a directory that End removes.
func (r *Suite) TempDir() string {
	dir, err := os.MkdirTemp("", "bagtrail-run-")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
