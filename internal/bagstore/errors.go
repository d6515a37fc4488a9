package bagstore

import (
	"errors"
	"strings"
)

// ErrUnavailable is in every error that comes from Redis or the way to it, time limits included. Of a write it says that
// it is not known what was done, and that repeating it is safe.
var ErrUnavailable = errors.New("redis is not available")

// failure is an error of Redis. Its text holds nothing of what was written or asked.
type failure struct {
	operation string
	cause     error
}

// unavailable returns nil for nil, else a failure.
func unavailable(operation string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{operation, err}
}

func (f *failure) Error() string {
	// An unknown command is answered with its arguments.
	text, _, _ := strings.Cut(f.cause.Error(), ", with args")
	return "bagstore: " + f.operation + ": " + ErrUnavailable.Error() + ": " + text
}

func (f *failure) Unwrap() []error { return []error{ErrUnavailable, f.cause} }
