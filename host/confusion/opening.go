package confusion

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// told is a file whose bytes are told as they are read, until ctx is cancelled.
type told struct {
	ctx  context.Context
	file *os.File
	task *progress.Task
}

func (c told) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.file.Read(p)
	c.task.Add(int64(n))
	return n, err
}

// openText opens a text with what, such as "the annotations", unpacked; whoever is done calls done. Reading it tells
// its progress, and ends with ctx. Errors begin with the path.
func openText(ctx context.Context, path, what string) (text io.Reader, done func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot read %s: %w", path, what, fileerr.Cause(err))
	}
	work := progress.Work{Name: "reading " + path, Unit: progress.Bytes}
	if about, err := f.Stat(); err == nil && about.Mode().IsRegular() {
		work.Total = about.Size()
	}
	_, task := progress.Begin(ctx, work)
	done = func() {
		f.Close() // nothing to lose: it was only read
		task.End()
	}
	r := bufio.NewReaderSize(told{ctx, f, task}, 1<<18)
	if magic, _ := r.Peek(2); !bytes.Equal(magic, []byte("\x1f\x8b")) {
		return r, done, nil
	}
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: cannot unpack the gzip data: %w", path, err)
	}
	return unpacked, done, nil
}
