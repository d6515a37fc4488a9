//go:build unix

package apikey

import (
	"os"
	"syscall"
)

// lock waits until no other process edits a key file in the folder. The lock ends with the process at the latest.
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

// keepOwner gives file the owner of the one before; only root can, others leave it theirs.
func keepOwner(file *os.File, before os.FileInfo) {
	if owner, known := before.Sys().(*syscall.Stat_t); known {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}
