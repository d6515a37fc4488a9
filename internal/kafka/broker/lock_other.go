//go:build !unix

package broker

// lock is none: on such systems it is the address of the broker that keeps a second process away.
type lock struct{}

func lockFile(string) (lock, error) { return lock{}, nil }

// Close does nothing.
func (lock) Close() error { return nil }
