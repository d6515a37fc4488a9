//go:build unix

package apikey

import (
	"os"
	"syscall"
)

// lock locks the directory against other edits of key files, and waits while another process holds
// the lock. The system releases the lock when the process ends.
func lock(folder string) (unlock func(), err error) {
	file, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, &os.PathError{Op: "flock", Path: folder, Err: err}
	}
	return func() { file.Close() }, nil
}
