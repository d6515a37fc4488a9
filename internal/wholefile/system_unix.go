//go:build unix

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
