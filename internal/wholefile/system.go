package wholefile

import (
	"errors"
	"os"
	"syscall"
)

// keepOwner gives file the owner and group of before. In general only root may do that, so an error is
// ignored.
func keepOwner(file *os.File, before os.FileInfo) {
	if owner, known := before.Sys().(*syscall.Stat_t); known {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// syncDirectory makes a rename durable, if the file system supports it.
func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

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
