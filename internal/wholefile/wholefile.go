// Package wholefile replaces files so that a crash never leaves half of one, and locks files and
// folders against other processes. It needs a Unix system.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Write writes a file. After a crash or a loss of power the file has either its old or its new
// content. It keeps its permissions and, if the system allows it, its owner; a new file is for its
// owner alone. Two calls for one file must not run at the same time.
func Write(path string, data []byte) error {
	next := path + ".tmp"
	_ = os.Remove(next) // a crash may have left it
	file, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(next) // fails harmlessly after the rename
	_, err = file.Write(data)
	if before, statErr := os.Stat(path); statErr == nil {
		keepOwner(file, before)
		err = errors.Join(err, file.Chmod(before.Mode().Perm()))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

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
