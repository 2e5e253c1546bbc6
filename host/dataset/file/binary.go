package file

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
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

// binarySections are the sections, nil where a file has none.
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

// Verify reads the whole binary file in which d lies and returns an error if a value is not finite
// or the content has another hash; nil for other files.
func Verify(ctx context.Context, d *dataset.Dataset) error {
	f := fileOf(d)
	if f == nil {
		return nil
	}
	w := &f.written
	if err := w.Content().CheckFinite(ctx); err != nil {
		if ctx.Err() != nil {
			return cancelled(ctx, d.Path, err)
		}
		return fmt.Errorf("%s: the file is damaged: %w; convert the original data again", d.Path, err)
	}
	hashOf := w.Content().Hash
	if f.old {
		hashOf = w.Content().HashOld
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
	return fmt.Sprintf("%s%s %0*d %x\n", binaryMagic, version, binaryDigits, len(header), sum)
}

// checkEndian refuses big-endian machines, which have the text formats.
func checkEndian(path string) error {
	if store.LittleEndian {
		return nil
	}
	return fmt.Errorf("%s: the binary format is little-endian and this machine is not; use another "+
		"format", path)
}

// Sums are CRC-32C, which find all damage of up to 32 bits in a row.
const sumBlock = 1 << 16 // bytes of the file to a sum

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumsBytes is the size of the sums of a file's first size bytes.
func sumsBytes(size int64) int64 { return 4 * ((size-1)/sumBlock + 2) }

// blockSums are the sums of a file that is written from its beginning.
type blockSums struct {
	list   []byte // of the blocks that are whole, little-endian
	sum    uint32 // of the beginning of the next block
	filled int    // bytes of it
}

func (s *blockSums) add(b []byte) {
	for len(b) > 0 {
		n := min(len(b), sumBlock-s.filled)
		s.sum, s.filled = crc32.Update(s.sum, castagnoli, b[:n]), s.filled+n
		if b = b[n:]; s.filled == sumBlock {
			s.end()
		}
	}
}

func (s *blockSums) end() {
	s.list = binary.LittleEndian.AppendUint32(s.list, s.sum)
	s.sum, s.filled = 0, 0
}

// section returns the sums of all that was added, and their own.
func (s *blockSums) section() []byte {
	if s.filled > 0 {
		s.end()
	}
	return binary.LittleEndian.AppendUint32(s.list, crc32.Checksum(s.list, castagnoli))
}

// checkSums returns an error that names the first block with another sum; files of version 1 have
// none.
func (f *binaryFile) checkSums(ctx context.Context) error {
	if f.sums == nil {
		return nil
	}
	list, own := f.sums[:len(f.sums)-4], binary.LittleEndian.Uint32(f.sums[len(f.sums)-4:])
	if found := crc32.Checksum(list, castagnoli); found != own {
		return fmt.Errorf("the file is damaged: its list of checksums has the checksum %08x, wanted "+
			"%08x; copy the file or convert the original data again", found, own)
	}
	data := f.raw[:len(f.raw)-len(f.sums)]
	blocks := len(list) / 4
	// Each worker takes the next mebibyte: a disk reads them in order.
	const task = 1 << 20 / sumBlock
	tasks := (blocks + task - 1) / task
	_, work := progress.Begin(ctx, progress.Work{
		Name: "checking the data", Unit: progress.Bytes, Total: int64(len(data))})
	defer work.End()
	var first atomic.Int64 // bad block
	first.Store(math.MaxInt64)
	parallel.Share(parallel.Workers(tasks, 1), tasks, func(_, t int) {
		if ctx.Err() != nil {
			return
		}
		for k := t * task; k < min((t+1)*task, blocks); k++ {
			if sumOf(data, k) == binary.LittleEndian.Uint32(list[4*k:]) {
				continue
			}
			for old := first.Load(); int64(k) < old && !first.CompareAndSwap(old,
				int64(k)); old = first.Load() {
			}
			return
		}
		work.Add(int64(min((t+1)*task*sumBlock, len(data)) - t*task*sumBlock))
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	k := first.Load()
	if k == math.MaxInt64 {
		return nil
	}
	return fmt.Errorf("the file is damaged: block %d of %d, %d bytes from byte %d on, has the "+
		"checksum %08x, wanted %08x; copy the file or convert the original data again", k+1, blocks,
		len(block(data, int(k))), k*sumBlock, sumOf(data, int(k)), binary.LittleEndian.Uint32(list[4*k:]))
}

// block returns block k of data, counted from 0.
func block(data []byte, k int) []byte { return data[k*sumBlock : min((k+1)*sumBlock, len(data))] }

func sumOf(data []byte, k int) uint32 { return crc32.Checksum(block(data, k), castagnoli) }
