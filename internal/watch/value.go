package watch

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Interval is the recommended time between ticks. A change is in force after two of them.
const Interval = time.Second

// Value is a value parsed from a file, which is parsed again when the file changes. It is safe for
// concurrent use.
type Value[T any] struct {
	file  *File // nil: the value never changes, as that of a named pipe, which can be read only once
	parse func(content []byte, before *T) (*T, error)
	value atomic.Pointer[T]
}

// NewValue reads the file for the first time. parse makes a value of the content. before is the
// value in force, or nil at first; parse must not change it, since others still read it.
func NewValue[T any](path string, parse func(content []byte, before *T) (*T, error)) (*Value[T], error) {
	file, content, err := Open(path)
	if err != nil {
		return nil, err
	}
	v := &Value[T]{file: file, parse: parse}
	if err := v.update(content); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if !file.current.Mode().IsRegular() {
		v.file = nil
	}
	return v, nil
}

// Constant returns a Value without a file, which never changes.
func Constant[T any](value *T) *Value[T] {
	v := &Value[T]{}
	v.value.Store(value)
	return v
}

// Load returns the value in force. Callers must not change it.
func (v *Value[T]) Load() *T { return v.value.Load() }

// Watch checks the file at every tick (see Interval) until ctx ends. If parse returns an error, the
// value stays as it is. Watch calls report for each change, with nil or the error of parse, and
// once with the error if the file cannot be read. Only one goroutine may call Watch.
func (v *Value[T]) Watch(ctx context.Context, ticks <-chan time.Time, report func(error)) {
	if v.file == nil {
		<-ctx.Done()
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		content, changed, err := v.file.Check()
		if changed {
			err = v.update(content)
		}
		if changed || err != nil {
			report(err)
		}
	}
}

func (v *Value[T]) update(content []byte) error {
	value, err := v.parse(content, v.value.Load())
	if err != nil {
		return err
	}
	v.value.Store(value)
	return nil
}
