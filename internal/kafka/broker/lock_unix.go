//go:build unix

package broker

import (
	"fmt"
	"syscall"
)

// lock is the file descriptor of a lock file. The lock is held until it is closed or the process
// ends, even if the process is killed. It is not an os.File, since the garbage collector would
// close a file that nothing refers to.
type lock int

func lockFile(path string) (lock, error) {
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = syscall.Close(fd)
		return -1, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock(fd), nil
}

// Close releases the lock.
func (l lock) Close() error { return syscall.Close(int(l)) }
