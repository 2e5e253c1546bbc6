package file

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// idxTypes are the element types of IDX files, all big-endian.
var idxTypes = map[byte]numberType{
	0x08: {npyfile.Type{Kind: 'u', Size: 1}},
	0x09: {npyfile.Type{Kind: 'i', Size: 1}},
	0x0b: {npyfile.Type{Kind: 'i', Size: 2, Big: true}},
	0x0c: {npyfile.Type{Kind: 'i', Size: 4, Big: true}},
	0x0d: {npyfile.Type{Kind: 'f', Size: 4, Big: true}},
	0x0e: {npyfile.Type{Kind: 'f', Size: 8, Big: true}},
}

// isIDX recognises two zeros, a type, and one to eight dimensions.
func isIDX(head []byte) bool {
	return len(head) >= 8 && head[0] == 0 && head[1] == 0 && idxTypes[head[2]].Size > 0 &&
		head[3] >= 1 && head[3] <= 8
}

// enterIDX reads the examples of an IDX file (MNIST and others): the first
// dimension counts them, the others are their features. The labels come from a
// second file.
func enterIDX(b *builder) error {
	s := b.src
	if err := refuseColumns(s, b.o); err != nil {
		return err
	}
	if b.inline() {
		return fmt.Errorf("%s: an IDX file has no labels, wanted a second file with them (or to read "+
			"without)", s.path)
	}
	t, shape, err := readIDXHeader(s)
	if err != nil {
		return wrapPath(s, err)
	}
	n, d, err := exampleShape(shape)
	if err != nil {
		return s.errorf("%w (is it the file of the labels?)", err)
	}
	return b.readRows(s, t, n, d)
}

// readIDXHeader reads up to the first element.
func readIDXHeader(r io.Reader) (numberType, []int, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return numberType{}, nil, idxCut(err)
	}
	t := idxTypes[head[2]]
	if head[0] != 0 || head[1] != 0 || t.Size == 0 || head[3] == 0 {
		return t, nil, fmt.Errorf("found the bytes % x, wanted the beginning of an IDX file: 00 00, a "+
			"type, the number of dimensions", head)
	}
	sizes := make([]byte, 4*int(head[3]))
	if _, err := io.ReadFull(r, sizes); err != nil {
		return t, nil, idxCut(err)
	}
	shape, total := make([]int, head[3]), 1
	for k := range shape {
		shape[k] = int(binary.BigEndian.Uint32(sizes[4*k:]))
		if shape[k] > 0 && total > math.MaxInt/16/shape[k] {
			return t, nil, fmt.Errorf("found more elements than the address space holds in an IDX header")
		}
		total *= max(shape[k], 1)
	}
	return t, shape, nil
}

func idxCut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("found the end of the file within the IDX header; the file is cut short, " +
			"fetch it again")
	}
	return err
}
