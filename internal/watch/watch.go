// Package watch reads a file again when it changes, without asking anything of the file system but stat.
//
// It never hands out half of a file that is being written in place: a change counts once two looks in a row saw the same
// size, time and inode. A file that cannot be read is reported once, and what was read before stays in force.
package watch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"time"
)

// Interval is how often Run should look; a change is taken over within two.
const Interval = time.Second

// File is a file that is looked at now and then. It belongs to one goroutine.
type File struct {
	path   string
	taken  os.FileInfo // of the content that was handed out last
	seen   os.FileInfo // of a change that has not settled, or nil
	digest [sha256.Size]byte
	fault  string // what was reported last, or ""
}

// Open reads the file for the first time.
func Open(path string) (*File, []byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("watch file: %w", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("watch file: %w", err)
	}
	return &File{path: path, taken: info, digest: sha256.Sum256(content)}, content, nil
}

// Look returns the content where it has changed since it was handed out last. An error is returned once, not at every look.
func (f *File) Look() (content []byte, changed bool, err error) {
	content, changed, err = f.look()
	if err == nil {
		f.fault = ""
		return content, changed, nil
	}
	if err.Error() == f.fault {
		return nil, false, nil
	}
	f.fault = err.Error()
	return nil, false, fmt.Errorf("watch file: %w", err)
}

func (f *File) look() (content []byte, changed bool, err error) {
	before, err := os.Stat(f.path)
	if err != nil {
		f.seen = nil
		return nil, false, err
	}
	settled := f.seen != nil && same(before, f.seen)
	f.seen = before
	if !settled || same(before, f.taken) {
		return nil, false, nil
	}
	if content, err = os.ReadFile(f.path); err != nil {
		return nil, false, err
	}
	after, err := os.Stat(f.path)
	if err != nil || !same(before, after) {
		return nil, false, err // written while it was read: it has not settled
	}
	f.taken = after
	digest := sha256.Sum256(content)
	changed = digest != f.digest
	f.digest = digest
	return content, changed, nil
}

// Run looks at every tick until ctx ends. It hands changed content to take, and tells report what came of it: nil, the
// error of take, or that the file cannot be read.
func (f *File) Run(ctx context.Context, ticks <-chan time.Time, take func(content []byte) error, report func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		content, changed, err := f.Look()
		if changed {
			err = take(content)
		}
		if changed || err != nil {
			report(err)
		}
	}
}

func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
