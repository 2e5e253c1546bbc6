package app

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// Awaited is read(path) until ctx ends: a pipe that nobody writes to is waited for, for ever. What is left
// behind then goes on in a goroutine of its own, and changes nothing.
func Awaited[T any](ctx context.Context, path string, read func(path string) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := read(path)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		if a.err == nil || ctx.Err() == nil {
			return a.value, a.err
		}
	case <-ctx.Done():
	}
	var none T
	return none, fmt.Errorf("%w while reading %s; nothing was written", ErrInterrupted, path)
}

// ReadAnnotations is confusion.ReadAnnotations, but for its waiting.
func ReadAnnotations(ctx context.Context, path string, o confusion.AnnotationOptions) (*confusion.Annotations, error) {
	return Awaited(ctx, path, func(path string) (*confusion.Annotations, error) {
		return confusion.ReadAnnotations(ctx, path, o)
	})
}

// ReadClean is confusion.ReadClean, but for its waiting.
func ReadClean(ctx context.Context, path string, o confusion.CleanOptions) (*confusion.Clean, error) {
	return Awaited(ctx, path, func(path string) (*confusion.Clean, error) { return confusion.ReadClean(ctx, path, o) })
}

// ReadMatrix is confusion.Read, but for its waiting.
func ReadMatrix(ctx context.Context, path string, o confusion.ReadOptions) (*confusion.Matrix, error) {
	return Awaited(ctx, path, func(path string) (*confusion.Matrix, error) { return confusion.Read(path, o) })
}
