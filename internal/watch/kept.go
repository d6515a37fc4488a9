package watch

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Kept is what was made of a file, in the version that was taken over last. It is safe for concurrent use.
type Kept[T any] struct {
	file  *File // nil: the value never changes
	take  func(content []byte, before *T) (*T, error)
	value atomic.Pointer[T]
}

// Keep reads the file for the first time. take makes a value of its content; before is the value in force, nil at first.
// It must not change before, which others still read.
func Keep[T any](path string, take func(content []byte, before *T) (*T, error)) (*Kept[T], error) {
	file, content, err := Open(path)
	if err != nil {
		return nil, err
	}
	k := &Kept[T]{file: file, take: take}
	if err := k.takeOver(content); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return k, nil
}

// Fixed keeps a value without a file.
func Fixed[T any](value *T) *Kept[T] {
	k := &Kept[T]{}
	k.value.Store(value)
	return k
}

// Value returns the value in force. Callers must not change it.
func (k *Kept[T]) Value() *T { return k.value.Load() }

// Watch takes over changes of the file until ctx ends, looking at every tick (see Interval). Content that take refuses
// leaves the value as it is. Each change is told to report once: nil, or what is wrong with the file.
func (k *Kept[T]) Watch(ctx context.Context, ticks <-chan time.Time, report func(error)) {
	if k.file == nil {
		<-ctx.Done()
		return
	}
	k.file.Run(ctx, ticks, k.takeOver, report)
}

func (k *Kept[T]) takeOver(content []byte) error {
	value, err := k.take(content, k.value.Load())
	if err != nil {
		return err
	}
	k.value.Store(value)
	return nil
}
