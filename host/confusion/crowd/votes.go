package crowd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// ReadFunctions reads the votes of labelling functions on examples: a CSV as ReadAnnotations reads
// it, or a .npy with a row for each example and a column for each function. -1 abstains; so do an
// empty field and the word abstain in a CSV.
func ReadFunctions(ctx context.Context, path string, o AnnotationOptions,
) (*dataset.Annotations, error) {
	text, done, err := labelfile.Open(ctx, path, "the votes")
	if err != nil {
		return nil, err
	}
	defer done()
	t := newTable(path, o)
	t.functions = true
	if head, _ := text.Peek(len(npyfile.Magic)); !bytes.Equal(head, []byte(npyfile.Magic)) {
		return t.readCSV(text)
	}
	if err := t.readNPY(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.finish()
}

// abstains reports whether a field of a CSV is no vote.
func abstains(field string) bool {
	word := labelfile.Whole(labelfile.Word(field))
	return word == "" || word == "-1" || word == "abstain"
}

// readNPY takes an array of integers, a row for each example. The functions are called by their
// numbers from 1, whose bytewise order is the numeric one.
func (t *annotationTable) readNPY(r *bufio.Reader) error {
	a, err := npyfile.ReadHeader(r)
	switch {
	case err != nil:
		return err
	case len(a.Shape) != 2 || !a.Type.IsInteger() || a.Type.Kind == 'b':
		return fmt.Errorf("votes: got an array of type %s and shape %v, want integers in rows and "+
			"columns (convert them with numpy's astype(int))", a.Type, a.Shape)
	}
	n, m := a.Shape[0], a.Shape[1]
	if t.data.N > 0 && n != t.data.N {
		return fmt.Errorf("votes: got %d rows, want one for each of the %d examples of the data", n,
			t.data.N)
	}
	t.rows = n
	if err := memory.Check(memory.Product(n, m, 16), "votes of functions"); err != nil {
		return err
	}
	raw := make([]byte, n*m*a.Type.Size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return fmt.Errorf("votes: got fewer than %d×%d numbers, want all (fetch the file again): %w", n,
			m, err)
	}
	digits := len(strconv.Itoa(m))
	for j := range m {
		t.annotators.Index(fmt.Sprintf("%0*d", digits, j+1)) // no name is empty
	}
	for at := range n * m {
		i, j := at/m, at%m
		if a.Fortran {
			i, j = at%n, at/n
		}
		class, ok := a.Type.Integer(raw[at*a.Type.Size:])
		if ok && class == -1 {
			continue
		}
		const most = 1 << 20
		if !ok || class < -1 || class >= most {
			return fmt.Errorf("row %d: got vote %d, want -1 (to abstain) or the number of a class", i+1,
				class)
		}
		if err := t.put(i, int32(j), strconv.FormatInt(class, 10), i+1); err != nil {
			return err
		}
	}
	return nil
}
