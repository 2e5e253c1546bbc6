package file

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Stream gives the blocks of Blocks one by one.
type Stream struct {
	// First is the first block, which Next gives too.
	First *dataset.Dataset

	next func() (*dataset.Dataset, error, bool)
	stop func()
	read bool // First is given
}

// errStopped ends a reader whose stream is closed.
var errStopped = errors.New("the stream is closed")

// OpenStream opens a stream of files and reads its first block.
func OpenStream(ctx context.Context, name string, paths []string, o Options) (*Stream, error) {
	return openStream(func(block func(*dataset.Dataset) error) error {
		return Blocks(ctx, name, paths, o, block)
	})
}

// openStream opens a stream of the blocks that blocks gives away.
func openStream(blocks func(func(*dataset.Dataset) error) error) (*Stream, error) {
	s := &Stream{}
	s.next, s.stop = iter.Pull2(func(yield func(*dataset.Dataset, error) bool) {
		err := blocks(func(d *dataset.Dataset) error {
			if !yield(d, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	})
	first, err, more := s.next()
	if !more || err != nil {
		s.stop()
		return nil, err
	}
	s.First = first
	return s, nil
}

// Next returns the next block, which becomes the caller's; io.EOF after the last.
func (s *Stream) Next() (*dataset.Dataset, error) {
	if !s.read {
		s.read = true
		return s.First, nil
	}
	d, err, more := s.next()
	if !more {
		return nil, io.EOF
	}
	return d, err
}

// Close ends the reading.
func (s *Stream) Close() { s.stop() }
