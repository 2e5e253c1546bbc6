package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// hashMagic begins the hashed bytes; another layout gets another number.
const (
	hashMagic    = "uma-gpu dataset 3\n"
	hashMagicOld = "uma-gpu dataset 2\n" // of versions that hashed one example after the other
)

// Hash returns the SHA-256, in hexadecimal, of what the data say, free of how a
// file wrote it and of how it is stored: dense and sparse, a CSV and a LIBSVM
// copy, plain or packed, with other spellings of the same numbers, have the same
// hash. Feature names, the place of the label column and Path do not enter. The
// hashed bytes, every integer little-endian, are
//
//	"uma-gpu dataset 3\n"
//	uint64 n, uint64 d
//	uint64 number of classes; per class uint64 length, the bytes of its name
//	uint64 number of labels (n, or 0 without labels)
//	per block of 1024 examples, the last of fewer, the 32 bytes of its own SHA-256
//
// and those of a block
//
//	per example, if there are labels, its label as uint32
//	per example uint32 number m of values whose bits are not those of +0;
//	            their columns, counted from 0, as uint32, left out if m = d;
//	            their bits as uint32
//
// so that processors, and ranks, hash blocks at the same time.
func (d *Dataset) Hash() string {
	sum, _ := d.HashUntil(context.Background()) // which does not end
	return sum
}

// Is reports whether hash is that of d as read, or the one of dataset version 2, which hashed all
// labels and then all examples in one go. Of prepared or shared examples only the present hash is
// known.
func (d *Dataset) Is(hash string) bool {
	now := d.SHA256
	switch {
	case hash == "":
		return false
	case now == "" && d.Prepared == nil:
		now = d.Hash()
	}
	if hash == now || d.Prepared != nil || d.at.Shared() != nil {
		return hash == now
	}
	old, err := d.HashOld(context.Background())
	return err == nil && hash == old
}

// hash is Hash until ctx ends.
func (d *Dataset) HashUntil(ctx context.Context) (string, error) {
	sums := d.blockSums()
	if err := d.hashBlocks(ctx, store.Bytes(sums)); err != nil {
		return "", err
	}
	if r := d.at.Shared(); r != nil {
		if err := ranks.Gather(r.Ctx, r, sums, sumWords, r.Blocks(store.MostRows)); err != nil {
			return "", err
		}
	}
	return d.hashOf(sums), nil
}

// sumWords is how many words a SHA-256 has.
const sumWords = sha256.Size / 8

// blockSums returns room for the SHA-256 of each block.
func (d *Dataset) blockSums() []int64 {
	return make([]int64, (d.N+store.MostRows-1)/store.MostRows*sumWords)
}

// hashOf returns the hash of blocks that have these.
func (d *Dataset) hashOf(sums []int64) string {
	h := d.hashHead(hashMagic)
	h.Write(h.buf) // a hash.Hash never returns an error from Write
	h.Write(store.Bytes(sums))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// hashHead begins a hash.
func (d *Dataset) hashHead(magic string) *hasher {
	h := newHasher()
	h.buf = append(h.buf, magic...)
	h.count(d.N)
	h.count(d.D)
	h.count(len(d.Classes))
	for _, c := range d.Classes {
		h.count(len(c))
		h.buf = append(h.buf, c...)
	}
	h.count(len(d.Y))
	return h
}

// hashBlocks enters the SHA-256 of each block that this rank has.
func (d *Dataset) hashBlocks(ctx context.Context, sums []byte) error {
	first, last := d.Stored().Own()
	from, blocks := first/store.MostRows, (last-first+store.MostRows-1)/store.MostRows
	_, task := progress.Begin(ctx, hashing(last-first))
	defer task.End()
	workers := parallel.Workers(blocks, 1)
	hashers := make([]*hasher, workers)
	var ended atomic.Bool
	parallel.Share(workers, blocks, func(worker, k int) {
		if ended.Load() {
			return
		}
		if ctx.Err() != nil {
			ended.Store(true)
			return
		}
		if hashers[worker] == nil {
			hashers[worker] = newHasher()
		}
		h, begin := hashers[worker], (from+k)*store.MostRows
		end := min(begin+store.MostRows, last)
		d.beginBlock(h, begin, end)
		d.hashRows(h, begin, end)
		h.flush()
		h.Sum(sums[(from+k)*sha256.Size : (from+k)*sha256.Size])
		task.Add(int64(end - begin))
	})
	if ended.Load() {
		return ctx.Err()
	}
	return nil
}

// HashOld is what hash was in earlier versions, of examples that ranks do not share.
func (d *Dataset) HashOld(ctx context.Context) (string, error) {
	h := d.hashHead(hashMagicOld)
	words(h, d.Y)
	for from := 0; from < d.N; from += store.MostRows {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		d.hashRows(h, from, min(from+store.MostRows, d.N))
	}
	h.flush()
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// hashRows hashes examples from..to-1.
func (d *Dataset) hashRows(h *hasher, from, to int) {
	for i := from; i < to; i++ {
		var columns []int32
		var values []float32
		if d.Sparse() {
			columns, values = d.SparseRow(i)
			columns, values = dropZeros(columns, values)
		} else {
			columns, values = h.storedOf(d.Row(i))
		}
		h.row(columns, values, d.D)
	}
}

// beginBlock begins the hash of the block of examples begin..end-1.
func (d *Dataset) beginBlock(h *hasher, begin, end int) {
	h.Reset()
	words(h, d.Y[min(begin, len(d.Y)):min(end, len(d.Y))])
}

// storedOf returns what is hashed of a dense row, valid until the next call.
func (h *hasher) storedOf(row []float32) ([]int32, []float32) {
	if !slices.ContainsFunc(row, isPlusZero) {
		return nil, row
	}
	h.columns, h.values = AppendStored(h.columns[:0], h.values[:0], row)
	return h.columns, h.values
}

// row hashes an example of d columns.
func (h *hasher) row(columns []int32, values []float32, d int) {
	h.word(uint32(len(values)))
	if len(values) < d {
		words(h, columns)
	}
	words(h, values)
}

// hashing is the work of hashing n examples.
func hashing(n int) progress.Work {
	return progress.Work{Name: "hashing the data", Unit: "example", Total: int64(n)}
}

// dropZeros returns a sparse row without stored +0: itself if it has none.
func dropZeros(columns []int32, values []float32) ([]int32, []float32) {
	first := slices.IndexFunc(values, isPlusZero)
	if first < 0 {
		return columns, values
	}
	columns, left := slices.Clone(columns), append([]float32(nil), values[:first]...)
	for k := first; k < len(values); k++ {
		if !isPlusZero(values[k]) {
			columns[len(left)] = columns[k]
			left = append(left, values[k])
		}
	}
	return columns[:len(left)], left
}

func isPlusZero(v float32) bool { return math.Float32bits(v) == 0 }

// hasher gathers small writes, and has room for a row's values.
type hasher struct {
	hash.Hash
	buf     []byte
	columns []int32
	values  []float32
}

const hashBlock = 1 << 16

func newHasher() *hasher { return &hasher{Hash: sha256.New(), buf: make([]byte, 0, 2*hashBlock+8)} }

func (h *hasher) spill() {
	if len(h.buf) >= hashBlock {
		h.flush()
	}
}

// flush leaves nothing in the buffer.
func (h *hasher) flush() {
	h.Write(h.buf)
	h.buf = h.buf[:0]
}

func (h *hasher) count(n int) {
	h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(n))
	h.spill()
}

func (h *hasher) word(v uint32) {
	h.buf = binary.LittleEndian.AppendUint32(h.buf, v)
	h.spill()
}

// words adds the bits of numbers.
func words[T int32 | float32](h *hasher, list []T) {
	for part := range slices.Chunk(list, hashBlock/4) {
		if store.LittleEndian {
			h.buf = append(h.buf, store.Bytes(part)...)
		} else {
			h.buf, _ = binary.Append(h.buf, binary.LittleEndian, part) // which knows the type
		}
		h.spill()
	}
}

// rowsOf is WriteOptions.Rows.
type MadeRows func(dst []float32, first int) error

// rowsBlock is how many values are asked for at once.
const rowsBlock = 1 << 20

// EachBlock calls f with all rows that rows makes, some at a time, and the first of them.
func (d *Dataset) EachBlock(ctx context.Context, rows MadeRows, f func(first int,
	block []float32) error) error {
	most := max(1, rowsBlock/d.D)
	if err := memory.Check(memory.Product(min(most, d.N), d.D, 4), "some rows to write"); err != nil {
		return err
	}
	block := make([]float32, min(most, d.N)*d.D)
	for first := 0; first < d.N; first += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := block[:min(most, d.N-first)*d.D]
		if err := rows(some, first); err != nil {
			return err
		}
		if err := f(first, some); err != nil {
			return err
		}
	}
	return nil
}

// hashMade is hash of made rows. Each value must be finite.
func (d *Dataset) HashRows(ctx context.Context, rows MadeRows) (string, error) {
	sums, h := d.blockSums(), newHasher()
	raw := store.Bytes(sums)
	_, task := progress.Begin(ctx, hashing(d.N))
	defer task.End()
	err := d.EachBlock(ctx, rows, func(first int, some []float32) error {
		for i := first; len(some) > 0; i++ {
			row := some[:d.D]
			some = some[d.D:]
			if j := slices.IndexFunc(row, func(v float32) bool { return !decimal.Finite(v) }); j >= 0 {
				return notFinite(i+1, j+1, row[j])
			}
			if i%store.MostRows == 0 {
				d.beginBlock(h, i, min(i+store.MostRows, d.N))
			}
			columns, values := h.storedOf(row)
			h.row(columns, values, d.D)
			if (i+1)%store.MostRows == 0 || i+1 == d.N {
				h.flush()
				at := i / store.MostRows * sha256.Size
				h.Sum(raw[at:at])
				task.Reach(int64(i))
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return d.hashOf(sums), nil
}

// AppendStored appends the values of a dense row that are not +0.
func AppendStored(columns []int32, values, row []float32) ([]int32, []float32) {
	for j, v := range row {
		if math.Float32bits(v) != 0 {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	return columns, values
}
