package app

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
)

// Awaited is read(path) until ctx ends: a pipe that nobody writes to is waited for, for ever. What
// is left behind then goes on in a goroutine of its own, and changes nothing.
func Awaited[T any](ctx context.Context, path string, read func(path string) (T, error)) (T,
	error) {
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

// ReadAnnotations is crowd.ReadAnnotations, but for its waiting.
func ReadAnnotations(ctx context.Context, path string,
	o crowd.AnnotationOptions) (*crowd.Annotations, error) {
	return Awaited(ctx, path, func(path string) (*crowd.Annotations, error) {
		return crowd.ReadAnnotations(ctx, path, o)
	})
}

// ReadClean is estimate.ReadClean, but for its waiting.
func ReadClean(ctx context.Context, path string, o estimate.CleanOptions) (*estimate.Clean, error) {
	return Awaited(ctx, path, func(path string) (*estimate.Clean, error) {
		return estimate.ReadClean(ctx, path, o)
	})
}

// ReadMatrix is confusion.Read, but for its waiting.
func ReadMatrix(ctx context.Context, path string, o confusion.ReadOptions,
) (*confusion.Matrix, error) {
	return Awaited(ctx, path, func(path string) (*confusion.Matrix, error) {
		return confusion.Read(path, o)
	})
}
