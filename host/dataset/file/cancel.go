package file

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

// cancelled returns err, or what to say instead of whatever a reader made of ctx's end.
func cancelled(ctx context.Context, path string, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%s: reading was cancelled: %w", path, ctx.Err())
}

// openFile is os.Open until ctx ends: it waits for the writer of a named pipe.
func openFile(ctx context.Context, path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(path)
	}
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result)
	go func() {
		f, err := os.Open(path)
		select {
		case opened <- result{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close() // nothing was read
			}
		}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reading gives the bytes of r until ctx ends.
type reading struct {
	ctx   context.Context
	r     io.Reader
	waits bool // r may wait without end, as a pipe does
	task  *progress.Task
}

// Read is one Read of r. One that waits is left behind when ctx ends: what it may
// still write into p is never looked at.
func (r reading) Read(p []byte) (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	defer func() { r.task.Add(int64(n)) }()
	if !r.waits || r.ctx.Done() == nil {
		return r.r.Read(p)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := r.r.Read(p)
		done <- result{n, err}
	}()
	select {
	case d := <-done:
		return d.n, d.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// readingAt is reading for files that are read at any place.
type readingAt struct {
	ctx  context.Context
	r    io.ReaderAt
	task *progress.Task
}

func (r readingAt) ReadAt(p []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.ReadAt(p, at)
	r.task.Add(int64(n))
	return n, err
}

// writing writes to w until ctx ends, and looks at ctx every mebibyte.
type writing struct {
	ctx context.Context
	w   io.Writer
}

func (w writing) Write(p []byte) (n int, err error) {
	const most = 1 << 20
	for {
		if err := w.ctx.Err(); err != nil {
			return n, fmt.Errorf("writing was cancelled: %w", err)
		}
		part := p[n:min(n+most, len(p))]
		k, err := w.w.Write(part)
		if n += k; err != nil || n == len(p) {
			return n, err
		}
		if k < len(part) {
			return n, io.ErrShortWrite
		}
	}
}
