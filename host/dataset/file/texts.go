package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

// ReadTexts returns a text for each of n rows: a column of a CSV by name or position. The first
// record is a header if it holds the name, or is one too many. A file with another number is an
// error.
func ReadTexts(ctx context.Context, path, column string, n int, o Options) ([]string, error) {
	l, err := o.layout()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if path == "-" {
		return nil, fmt.Errorf("standard input: found no file to read twice, wanted one: write it to a " +
			"file first")
	}
	s, done, err := openSource(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	if !isText(s) {
		return nil, fmt.Errorf("%s: found a file of numbers, wanted texts: a CSV", path)
	}
	texts, err := readColumn(s, l, strings.TrimSpace(column), n, o.SkipBad)
	if err = s.finished(err); err != nil {
		return nil, err
	}
	if len(texts) != n {
		return nil, fmt.Errorf("%s: found %d texts, wanted one for each of %d examples; are the files a "+
			"pair?", path, len(texts), n)
	}
	return texts, nil
}

// isText says that the file is none of numbers.
func isText(s *source) bool {
	head := s.peek(16)
	return !isNPY(head) && !isIDX(head) && !isParquet(head) && !bytes.HasPrefix(head, []byte("PK")) &&
		bytes.IndexByte(head, 0) < 0
}

// readColumn reads one column of a CSV of n rows; a first record too many is a header. A malformed
// row has no text if skip, else it is an error.
func readColumn(s *source, l layout, column string, n int, skip bool) (texts []string, err error) {
	s.lines()
	r := columnReader{rec: record{src: s, layout: l}}
	for err = r.start(column, "the column of texts"); err == nil; err = r.rec.next() {
		text, fault := r.text()
		if fault != nil && !skip {
			return nil, advised(fault)
		}
		texts = append(texts, strings.ToValidUTF8(string(decimal.Trim(text)), "\uFFFD"))
	}
	if err != io.EOF {
		return nil, err
	}
	if !r.header && len(texts) == n+1 {
		texts = texts[1:]
	}
	return texts, nil
}
