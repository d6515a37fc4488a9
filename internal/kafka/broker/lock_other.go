//go:build !unix

package broker

// lock does nothing: on these systems only the address of the broker keeps a second process away.
type lock struct{}

func lockFile(string) (lock, error) { return lock{}, nil }

// Close does nothing.
func (lock) Close() error { return nil }
