package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Stream reads CSV or LIBSVM once, in blocks, in the memory of a block.
type Stream struct {
	// First is the first block, which Next gives too; it or Options set width, storage, names and
	// classes of all.
	First *dataset.Dataset

	next func() (*dataset.Dataset, error, bool)
	stop func()
	read bool // First is given
}

// errStopped ends a reader whose stream is closed.
var errStopped = errors.New("the stream is closed")

// OpenStream opens a stream of files, one behind the other, and reads its first block: 16 mebibytes
// of values, or 65536 examples. Labels, NoLabels and other formats are errors, as is a label or
// index that the first block did not have, unless Classes and Features tell it.
func OpenStream(ctx context.Context, name string, paths []string, o Options) (*Stream, error) {
	switch {
	case o.Labels != "" || o.NoLabels:
		return nil, fmt.Errorf("%s: asked for a stream without labels or with labels of another file, "+
			"wanted them beside the features", name)
	case o.check() != nil:
		return nil, o.check()
	}
	if o.lenient() { // which needs all of a table
		e := *o.Encode
		e.Missing, o.Encode = dataset.MissingError, &e
	}
	return openStream(func(yield func(*dataset.Dataset, error) bool) {
		if len(paths) > 1 {
			o.parts = &parts{name: name, first: paths[0]}
		}
		state := &blockState{}
		for k, path := range paths {
			if o.parts != nil {
				o.parts.last = k == len(paths)-1
			}
			s, done, err := openSource(ctx, path, o.Stdin)
			if err == nil {
				if err = state.read(s, o, yield); !errors.Is(err, errStopped) {
					err = s.finished(err)
				}
				done()
			}
			if err != nil {
				if !errors.Is(err, errStopped) {
					yield(nil, cancelled(ctx, path, err))
				}
				return
			}
		}
	})
}

// blockState is what the blocks of a stream have in common, whichever of its files they are of.
type blockState struct {
	begun   bool
	leading bool // the first column is left out
}

// openStream reads the first block. An error ends the blocks.
func openStream(blocks iter.Seq2[*dataset.Dataset, error]) (*Stream, error) {
	s := &Stream{}
	s.next, s.stop = iter.Pull2(blocks)
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

// read reads one file of a stream.
func (state *blockState) read(s *source, o Options, yield func(*dataset.Dataset,
	error) bool) error {
	name := o.Format
	if name == "" || name == "auto" {
		name = detectFormat(s, false)
	}
	if name != "csv" && name != "libsvm" {
		return fmt.Errorf("%s: found the format %s, wanted CSV or LIBSVM to read as a stream; convert "+
			"it, or read all of it", s.path, name)
	}
	f, err := formatNamed(name, false)
	if err == nil {
		err = o.parts.sameKind(s.path, f)
	}
	if err != nil {
		return err
	}
	if err := f.refuse(s.path, o); err != nil {
		return err
	}
	if o.FeatureNames != nil {
		o.Features = len(o.FeatureNames)
	}
	if o.remarks == nil {
		o.remarks = &remarks{}
	}
	o.block = func(d *dataset.Dataset) error {
		d.Path, d.Format = s.path, f.name
		width := d.D
		if !state.begun {
			if err := remark(d, o.remarks, o); err != nil {
				return err
			}
			state.begun, state.leading = true, d.D < width
		} else if state.leading {
			dropFirst(d)
		}
		if err := d.MatchFeatures(o.FeatureNames); err != nil {
			return err
		}
		if !yield(d, nil) {
			return errStopped
		}
		return s.ctx.Err()
	}
	if _, err = f.read(s, o); errors.Is(err, errGivenAway) {
		return nil
	}
	return err
}

// giveAway gives a block to the stream, unless the first is still to grow.
func (b *builder) giveAway(last bool) error {
	if b.n == 0 || !b.settled && !last && len(b.segments) < b.src.limits.first {
		return nil
	}
	if b.o.Features > 0 && b.Encoder == nil {
		b.width = b.o.Features
	}
	d, err := b.dataset()
	if err != nil {
		return err
	}
	if !b.settled {
		if !b.labels.fixed && len(d.Classes) == 1 {
			return fmt.Errorf("%s: found only one class, %s, in the first %d examples, wanted at least "+
				"two; name all classes ("+option.Named("classes")+")", b.src.path,
				quote.Text(d.Classes[0]), d.N)
		}
		given := b.labels.fixed
		if b.labels, err = newLabels(d.Classes, b.o.LabelRules); err != nil {
			return err
		}
		b.labels.first = !given
		b.o.Storage = "dense"
		if d.Sparse() {
			b.o.Storage = "sparse"
		}
		b.settled = true
	}
	b.n, b.stored, b.segments = 0, 0, nil
	b.subnormals, b.flushed = 0, 0
	return b.o.block(d)
}
