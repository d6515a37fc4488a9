//go:build !unix

package wholefile

import "os"

func keepOwner(*os.File, os.FileInfo) {}

func syncDirectory(string) error { return nil }

// Lock does nothing: on these systems nothing keeps other processes away.
type Lock struct{}

// TakeLock does nothing.
func TakeLock(string) (Lock, error) { return Lock{}, nil }

// AwaitLock does nothing.
func AwaitLock(string) (Lock, error) { return Lock{}, nil }

// Close does nothing.
func (Lock) Close() error { return nil }
