package osfile

import (
	"fmt"
	"io"
	"os"
)

// Most is the largest size, in bytes, of a file of Read: far more than any sensible one.
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
