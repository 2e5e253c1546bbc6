package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Keep is Pick of examples that may be too many for memory, which are then kept in a temporary file without a name,
// that is mapped, in the folder $TMPDIR or /var/tmp. Nobody may read them any more once release was called, which the
// caller does, also after an error.
//
// Where ranks share e and which is long and increases, they share what is kept as well: all but a few examples next to
// where it is cut stay on the rank that has them. It takes all ranks.
func (e Examples) Keep(which []int) (kept Examples, release func(), err error) {
	release = func() {}
	if e.Share != nil {
		return e.Share.keep(e, which)
	}
	what := fmt.Sprintf("a copy of %d of %d examples", len(which), e.N)
	need := memory.Product(len(which), e.D, 4)
	if e.Sparse() {
		starts := e.startsOf(which)
		need = memory.Sum(memory.Product(len(starts), 8), memory.Product(int(starts[len(which)]), 8))
	}
	mapped := !e.Sparse() && canShare && len(which) > 0 && slices.IsSorted(which) // to be read in the order of the file
	full := memory.Check(need, what)
	if full == nil && mapped {
		// What follows needs memory too, and a file that is read from beside it needs pages: the rest is theirs.
		const share = 4
		full = memory.Check(memory.Product(share, len(which), e.D, 4), fmt.Sprintf("%d times %s", share, what))
	}
	if full == nil {
		return e.Pick(which), release, nil
	}
	if !mapped {
		return Examples{}, release, full
	}
	x, release, err := spill(temporary(), len(which)*e.D, func(w io.Writer) error {
		for _, i := range which {
			if _, err := w.Write(bytesOf(e.Row(i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Examples{}, release, fmt.Errorf("%w, and %w; set TMPDIR to a folder on a disk with room for %d bytes",
			full, err, need)
	}
	return Examples{N: len(which), D: e.D, X: x}, release, nil
}

// temporary is a folder for large files that nobody needs any more when the process has ended. /tmp is often memory.
func temporary() string {
	if dir := os.Getenv("TMPDIR"); dir != "" {
		return dir
	}
	return "/var/tmp"
}

// spill returns n values, which write writes, as they lie in a file without a name in a folder.
func spill(dir string, n int, write func(io.Writer) error) (_ []float32, release func(), err error) {
	release = func() {}
	f, err := unnamed(dir)
	if err != nil {
		return nil, release, err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // a mapping stays
	b := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(b), b.Flush()); err != nil {
		return nil, release, fmt.Errorf("temporary file in %s: %w", dir, fileerr.Cause(err))
	}
	raw, unmap, err := mapFile(f, 4*n)
	if err != nil {
		return nil, release, fmt.Errorf("temporary file in %s: cannot map it into memory: %w", dir, fileerr.Cause(err))
	}
	remember(raw, "temporary file in "+dir)
	return viewOf[float32](raw), func() {
		forget(raw)
		unmap(raw) // which can fail for no reason that matters here
	}, nil
}
