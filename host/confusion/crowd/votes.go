package crowd

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// ReadFunctions reads the votes of labelling functions on examples: a CSV as ReadAnnotations has
// it, WRENCH's JSON, or an .npy or .npz with a row for each example and a column for each
// function. -1 abstains; so do an empty field and the word abstain in a CSV. In the JSON the right
// classes count only if o.Right names the function "label".
func ReadFunctions(ctx context.Context, path string, o AnnotationOptions) (*Annotations, error) {
	text, done, err := labelfile.Open(ctx, path, "the votes")
	if err != nil {
		return nil, err
	}
	head, err := text.Peek(6)
	if err != nil && err != io.EOF {
		done()
		return nil, fmt.Errorf("%s: cannot read the votes: %w", path, err)
	}
	t := newTable(path, o)
	t.functions = true
	var read func([]byte) error
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		read = t.readNPZ
	case bytes.HasPrefix(head, []byte(npyfile.Magic)):
		read = func(b []byte) error { return t.readNPY(bytes.NewReader(b)) }
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		read = t.readWRENCH
	default:
		done()
		return t.readCSV(ctx)
	}
	defer done()
	b, err := io.ReadAll(text)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the votes: %w", path, err)
	}
	if err := read(b); err != nil {
		var at placed
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%d: %w", path, 1+bytes.Count(b[:at.offset], []byte("\n")), at.error)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.finish()
}

// placed is an error at a byte of a text.
type placed struct {
	error
	offset int64
}

// abstains says whether a field of a CSV is no vote.
func abstains(field string) bool {
	word := labelfile.Whole(labelfile.Word(field))
	return word == "" || word == "-1" || word == "abstain"
}

// count checks how many rows of votes there are.
func (t *annotationTable) count(n int) error {
	if t.data.N >= 0 && n != t.data.N {
		return fmt.Errorf("votes: got %d rows, want one for each of the %d examples of the data", n,
			t.data.N)
	}
	t.rows = n
	return nil
}

// name gives the functions numbers from 1 as names, whose order is theirs.
func (t *annotationTable) name(count int) (names []int32) {
	digits := len(strconv.Itoa(count))
	for j := range count {
		by, _ := t.annotators.Index(fmt.Sprintf("%0*d", digits, j+1)) // no name is empty
		names = append(names, by)
	}
	return names
}

// vote takes a vote, a number of a class, at a row from 0.
func (t *annotationTable) vote(row int, by int32, class int64) error {
	if class == -1 {
		return nil
	}
	const most = 1 << 20
	if class < -1 || class >= most {
		return fmt.Errorf("row %d: got vote %d, want -1 (to abstain) or the number of a class", row+1,
			class)
	}
	return t.put(row, by, strconv.FormatInt(class, 10), row+1)
}

// readWRENCH takes an object with a member for each example: weak_labels, and perhaps label.
func (t *annotationTable) readWRENCH(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	fail := func(err error) error {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return placed{errors.New("JSON: got the end of the file within a value, want the whole file " +
				"(fetch it again)"), int64(len(b))}
		}
		return placed{fmt.Errorf("JSON: %w, want {\"0\": {\"label\": …, \"weak_labels\": […]}, …}", err),
			min(d.InputOffset(), int64(len(b)))}
	}
	if _, err := d.Token(); err != nil { // the brace
		return fail(err)
	}
	var by []int32
	right := int32(-1)
	row := 0
	for ; d.More(); row++ {
		if _, err := d.Token(); err != nil { // a key, which need not be a number
			return fail(err)
		}
		var one struct {
			Label *int64  `json:"label"`
			Votes []int64 `json:"weak_labels"`
		}
		if err := d.Decode(&one); err != nil {
			return fail(err)
		}
		if one.Votes == nil {
			return fail(fmt.Errorf("example %d: got no weak_labels", row+1))
		}
		if by == nil {
			by = t.name(len(one.Votes))
			if slices.Contains(t.o.Right, "label") {
				right, _ = t.annotators.Index("label")
			}
		}
		if len(one.Votes) != len(by) {
			return fail(fmt.Errorf("example %d: got %d weak_labels, where the first has %d", row+1,
				len(one.Votes), len(by)))
		}
		for j, class := range one.Votes {
			if err := t.vote(row, by[j], class); err != nil {
				return fail(err)
			}
		}
		if right >= 0 && one.Label != nil {
			if err := t.vote(row, right, *one.Label); err != nil {
				return fail(err)
			}
		}
	}
	if _, err := d.Token(); err != nil {
		return fail(err)
	}
	return t.count(row)
}

// readNPZ takes the array that votes are usually called, or the only one of rows and columns.
func (t *annotationTable) readNPZ(b []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return fmt.Errorf("npz: got no whole zip archive (%w), want one (fetch it again)", err)
	}
	var names []string
	chosen := -1
	for k, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		names = append(names, name)
		if slices.Contains([]string{"L", "votes", "weak_labels"}, name) || len(archive.File) == 1 {
			chosen = k
		}
	}
	if chosen < 0 {
		return fmt.Errorf("npz: got arrays %s, want one called votes, L or weak_labels",
			labelfile.Quoted(names))
	}
	f, err := archive.File[chosen].Open()
	if err != nil {
		return fmt.Errorf("npz: array %s: %w", names[chosen], err)
	}
	defer f.Close() // only read
	if err := t.readNPY(f); err != nil {
		return fmt.Errorf("npz: array %s: %w", names[chosen], err)
	}
	return nil
}

// readNPY takes an array of whole numbers, a row for each example.
func (t *annotationTable) readNPY(r io.Reader) error {
	a, err := npyfile.ReadHeader(r)
	switch {
	case err != nil:
		return err
	case len(a.Shape) != 2 || !a.Type.IsInteger() || a.Type.Kind == 'b':
		return fmt.Errorf("votes: got an array of type %s and shape %v, want whole numbers in rows and "+
			"columns (convert them with numpy's astype(int))", a.Type, a.Shape)
	}
	n, m := a.Shape[0], a.Shape[1]
	if err := t.count(n); err != nil {
		return err
	}
	if err := memory.Check(memory.Product(n, m, 16), "votes of functions"); err != nil {
		return err
	}
	raw := make([]byte, n*m*a.Type.Size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return fmt.Errorf("votes: got fewer than %d×%d numbers, want all (fetch the file again): %w", n,
			m, err)
	}
	by := t.name(m)
	for at := range n * m {
		i, j := at/m, at%m
		if a.Fortran {
			i, j = at%n, at/n
		}
		class, ok := a.Type.Integer(raw[at*a.Type.Size:])
		if !ok {
			class = -2 // refused
		}
		if err := t.vote(i, by[j], class); err != nil {
			return err
		}
	}
	return nil
}
