// Package watch reads a file again when it changes. It polls the file with stat, so that it works
// on every file system.
//
// It never returns half of a file that is being written in place: a change counts once two checks
// in a row saw the same size, time and inode. A file that cannot be read is reported once, and the
// content that was read before stays in force. Once it can be read again it counts as changed.
//
// Only regular files are read again: a read of a named pipe may wait for ever.
package watch

import (
	"crypto/sha256"
	"fmt"
	"os"
)

// File is a file that is checked for changes. It is for use by one goroutine.
type File struct {
	path    string
	current os.FileInfo       // describes the content that was returned last; nil if the file could not be read since
	latest  os.FileInfo       // describes the file at the last check; nil if it could not be read
	digest  [sha256.Size]byte // of the content that was returned last
	fault   string            // text of the error that was returned last, or ""
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
	return &File{path: path, current: info, digest: sha256.Sum256(content)}, content, nil
}

// Check returns the content if it has changed since it was returned last. It returns the same error
// once only, not at every call.
func (f *File) Check() (content []byte, changed bool, err error) {
	content, changed, err = f.check()
	if err == nil {
		f.fault = ""
		return content, changed, nil
	}
	if err.Error() == f.fault {
		return nil, false, nil
	}
	f.fault, f.current, f.digest = err.Error(), nil, [sha256.Size]byte{}
	return nil, false, fmt.Errorf("watch file: %w", err)
}

func (f *File) check() (content []byte, changed bool, err error) {
	before, err := os.Stat(f.path)
	if err == nil && !before.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", f.path)
	}
	if err != nil {
		f.latest = nil
		return nil, false, err
	}
	stable := f.latest != nil && same(before, f.latest)
	f.latest = before
	if !stable || f.current != nil && same(before, f.current) {
		return nil, false, nil
	}
	if content, err = os.ReadFile(f.path); err != nil {
		return nil, false, err
	}
	after, err := os.Stat(f.path)
	if err != nil || !same(before, after) {
		return nil, false, err // it was written while it was read
	}
	f.current = after
	digest := sha256.Sum256(content)
	changed = digest != f.digest
	f.digest = digest
	return content, changed, nil
}

func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
