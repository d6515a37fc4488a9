package wholefile

import (
	"os"
	"syscall"
)

// Lock is the descriptor of a locked file or folder. The lock is held until it is closed or the
// process ends, even if the process is killed. It is not an os.File, since the garbage collector
// would close a file that nothing refers to.
type Lock int

// TakeLock locks a file, and makes the file if it is missing. The error wraps syscall.EWOULDBLOCK
// if another process holds the lock.
func TakeLock(file string) (Lock, error) {
	return lock(file, syscall.O_CREAT|syscall.O_RDWR, syscall.LOCK_NB)
}

// AwaitLock locks a folder, and waits while another process holds the lock.
func AwaitLock(folder string) (Lock, error) { return lock(folder, syscall.O_RDONLY, 0) }

func lock(path string, mode, wait int) (Lock, error) {
	fd, err := syscall.Open(path, mode|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if err := syscall.Flock(fd, syscall.LOCK_EX|wait); err != nil {
		_ = syscall.Close(fd)
		return -1, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return Lock(fd), nil
}

// Close releases the lock.
func (l Lock) Close() error { return syscall.Close(int(l)) }
