package redis

import (
	"errors"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// ErrUnavailable is in every error that comes from Redis or the connection to it, including time
// limits. After a write it means that the write may or may not have been done, and that repeating
// it is safe.
var ErrUnavailable = errors.New("redis is not available")

// failure is an error of Redis. Its text holds no key and no value, and says whether Redis answered.
type failure struct {
	operation string
	cause     error
}

// Unavailable returns nil for nil, otherwise an error of the operation that wraps ErrUnavailable
// and err.
func Unavailable(operation string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{operation, err}
}

func (f *failure) Error() string {
	what := ErrUnavailable.Error()
	if _, answered := errors.AsType[goredis.Error](f.cause); answered {
		what = "redis refused it"
	}
	// The reply to an unknown command repeats its arguments.
	text, _, _ := strings.Cut(f.cause.Error(), ", with args")
	return f.operation + ": " + what + ": " + text
}

func (f *failure) Unwrap() []error { return []error{ErrUnavailable, f.cause} }

// WrongType reports whether Redis refused a command because the key holds another type.
func WrongType(err error) bool { return goredis.HasErrorPrefix(err, "WRONGTYPE") }

// Full reports whether Redis refused a command because it takes memory and none is left. Redis
// still executes commands that free memory.
func Full(err error) bool { return goredis.HasErrorPrefix(err, "OOM") }
