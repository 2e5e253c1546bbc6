package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// The binary format holds examples as engines take them, so that a file is
// mapped into memory instead of read. It is
//
//	one line: "uma-gpu binary 3", the length of the header in 12 digits, and the
//	    SHA-256 of the header in hexadecimal, one space between them
//	the header: a JSON object, binaryHeader
//	zeros up to a multiple of 4096
//	the sections, each from a multiple of 4096 on, zeros between them
//
// All numbers are little-endian. The sections are, in this order,
//
//	x        dense: float32, examples × columns, row by row
//	starts   sparse: int64, examples + 1; see Examples.Starts
//	columns  sparse: int32
//	values   sparse: float32
//	y        int32, the classes; none without labels
//	sums     uint32, the CRC-32C of each block of 65536 bytes of the file, from its
//	         beginning to this section, and behind them the CRC-32C of this list
//
// and the file ends with the last one. 4096 is a page of memory almost
// everywhere, and what OpenCL devices want of memory that they share. Versions 1 and 2, of earlier
// programs, are the same but for the hashes, which are of another kind (Dataset.Is), and version 1
// has no sums.
const (
	binaryMagic   = "uma-gpu binary "
	binaryVersion = "3"
	binaryHashed  = "2" // the version with the hashes of before
	binaryBare    = "1" // that without sums, too
	binaryDigits  = 12  // of the length of the header
	binaryLine    = len(binaryMagic) + len(binaryVersion) + 1 + binaryDigits + 1 + 2*sha256.Size + 1
	binaryAlign   = 4096
)

// binaryHeader says all that is known of the examples beside their numbers.
type binaryHeader struct {
	Examples int    `json:"examples"`
	Columns  int    `json:"columns"` // prepared ones, if they are
	Storage  string `json:"storage"` // "dense" or "sparse"

	Classes     []string `json:"classes"`
	Features    []string `json:"features,omitempty"` // names, before preparation
	Label       string   `json:"label,omitempty"`
	LabelColumn int      `json:"label_column,omitempty"`

	// Encoding says what the features were made of, nil if they are columns of numbers.
	Encoding *dataset.Encoding `json:"encoding,omitempty"`
	// Preparation is what the examples went through, nil if they are raw.
	Preparation *dataset.Preparation `json:"preparation,omitempty"`
	// DataSHA256 is the Hash before preparation, "" if it is not known.
	DataSHA256 string `json:"data_sha256"`
	// ContentSHA256 is the Hash of what stands in the file.
	ContentSHA256 string `json:"content_sha256"`

	Subnormals int      `json:"subnormals"`
	Notes      []string `json:"notes,omitempty"`

	Sections binarySections `json:"sections"`

	oldHashes bool // the hashes are of the kind of before
}

// binarySections are the sections, nil those that there are not.
type binarySections struct {
	X       *binarySection `json:"x,omitempty"`
	Starts  *binarySection `json:"starts,omitempty"`
	Columns *binarySection `json:"columns,omitempty"`
	Values  *binarySection `json:"values,omitempty"`
	Y       *binarySection `json:"y,omitempty"`
	Sums    *binarySection `json:"sums,omitempty"`
}

type binarySection struct {
	Offset int64 `json:"offset"` // from the beginning of the file
	Bytes  int64 `json:"bytes"`
}

// namedSection is a section that there is.
type namedSection struct {
	name string
	*binarySection
}

// list returns the sections that there are, in their order.
func (s binarySections) list() []namedSection {
	var there []namedSection
	for _, n := range []namedSection{{"x", s.X}, {"starts", s.Starts}, {"columns", s.Columns},
		{"values", s.Values}, {"y", s.Y}, {"sums", s.Sums}} {
		if n.binarySection != nil {
			there = append(there, n)
		}
	}
	return there
}

// binaryFile is what a Dataset keeps of the binary file in which it lies.
type binaryFile struct {
	raw     []byte             // all of it
	unmap   func([]byte) error // nil if raw is of the Go heap
	written dataset.Dataset    // as it stands there, whatever Options made of it
	content string             // the hash of written, if the header is right
	old     bool               // content is of the kind of before
	sums    []byte             // the section of that name, nil in version 1
}

// Close unmaps the file.
func (f *binaryFile) Close() error {
	if f.unmap == nil {
		return nil
	}
	store.Forget(f.raw)
	return f.unmap(f.raw)
}

// ReadOnly is true.
func (f *binaryFile) ReadOnly() bool { return true }

// fileOf returns the binary file in which d lies, nil if it does not.
func fileOf(d *dataset.Dataset) *binaryFile {
	f, _ := d.Home.(*binaryFile)
	return f
}

// Verify reads all of the binary file in which d lies and returns an error if a value is not
// finite, or if the content has not the hash that was stored with it. Read does not do that, for
// it would take many times as long as comparing checksums. Of other files Read has looked at every
// value, and Verify returns nil. If ctx ends, the error wraps ctx.Err().
func Verify(ctx context.Context, d *dataset.Dataset) error {
	f := fileOf(d)
	if f == nil {
		return nil
	}
	w := &f.written
	if err := w.CheckFinite(ctx); err != nil {
		if ctx.Err() != nil {
			return cancelled(ctx, d.Path, err)
		}
		return fmt.Errorf("%s: the file is damaged: %w; convert the original data again", d.Path, err)
	}
	hashOf := w.HashUntil
	if f.old {
		hashOf = w.HashOld
	}
	hash, err := hashOf(ctx)
	if err != nil {
		return cancelled(ctx, d.Path, err)
	}
	if hash != f.content {
		return fmt.Errorf("%s: the file is damaged: found the content hash %s, wanted %s as its header "+
			"says; convert the original data again", d.Path, hash, f.content)
	}
	return nil
}

// isBinary recognises every version.
func isBinary(head []byte) bool {
	return len(head) >= len(binaryMagic) && string(head[:len(binaryMagic)]) == binaryMagic
}

// firstLine returns the line that goes before a header.
func firstLine(version string, header []byte) string {
	sum := sha256.Sum256(header)
	return fmt.Sprintf("%s%s %0*d %s\n", binaryMagic, version, binaryDigits, len(header),
		hex.EncodeToString(sum[:]))
}

// checkEndian refuses machines whose memory does not look like the file. There
// are few (s390x), and for them the text formats remain.
func checkEndian(path string) error {
	if store.LittleEndian {
		return nil
	}
	return fmt.Errorf("%s: the binary format is little-endian and this machine is not; use another "+
		"format", path)
}
