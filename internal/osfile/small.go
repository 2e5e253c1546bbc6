package osfile

import (
	"fmt"
	"io"
	"os"
)

// Most is the largest size, in bytes, of a file of Read, and of a record of Records: far more than
// any sensible one.
const Most = 64 << 20

// Read returns the bytes of a file, at most Most. Its error leaves the path to the caller, and
// wraps fs.ErrNotExist if there is no such file. It waits for the writer of a pipe.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Cause(err)
	}
	defer f.Close() // nothing to lose: it was only read
	text, err := io.ReadAll(io.LimitReader(f, Most+1))
	if err != nil {
		return nil, Cause(err)
	}
	if len(text) > Most {
		return nil, fmt.Errorf("found more than %d bytes; is it another file?", Most)
	}
	return text, nil
}

// Records reads from R, and fails in a record of more than Most bytes.
type Records struct {
	R      io.Reader
	length int // of what was read since the last record began
}

// Next says that a record ends here, give or take a buffer.
func (r *Records) Next() { r.length = 0 }

// Read is one Read of R.
func (r *Records) Read(p []byte) (int, error) {
	n, err := r.R.Read(p)
	if r.length += n; r.length > Most {
		return 0, fmt.Errorf("found a record of more than %d bytes; is it another file?", Most)
	}
	return n, err
}
