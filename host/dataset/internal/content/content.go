// Package content hashes the values and labels of examples, and checks that values are finite.
package content

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
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Data are labelled examples.
type Data struct {
	N, D    int
	Classes []string
	Y       []int32 // nil without labels
	// Row returns the stored values of example i and their columns, nil if these are 0..D-1.
	Row func(i int) (columns []int32, values []float32)
}

// CheckFinite returns an error unless all values are finite, or if ctx ends.
func (d *Data) CheckFinite(ctx context.Context) error {
	const block = 1 << 20 // values between two looks at ctx
	for i, left := 0, 0; i < d.N; i++ {
		columns, values := d.Row(i)
		if left -= len(values) + 1; left < 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			left = block
		}
		if err := checkRow(i, columns, values); err != nil {
			return err
		}
	}
	return nil
}

// checkRow returns an error unless the values of example i are finite.
func checkRow(i int, columns []int32, values []float32) error {
	for k, v := range values {
		if decimal.Finite(v) {
			continue
		}
		if columns != nil {
			k = int(columns[k])
		}
		return fmt.Errorf("dataset: example %d, column %d is %v, wanted a finite number (both counted "+
			"from 1)", i+1, k+1, v)
	}
	return nil
}

// hashRows is how many examples a block has.
const hashRows = 1024

// hashMagic begins the hashed bytes; another layout gets another number.
const hashMagic = "uma-gpu dataset 3\n"

// Hash returns the hash of dataset.Dataset.Hash, or an error if ctx ends.
func (d *Data) Hash(ctx context.Context) (string, error) {
	sums := d.blockSums()
	if err := d.hashBlocks(ctx, store.Bytes(sums)); err != nil {
		return "", err
	}
	return d.hashOf(sums), nil
}

// sumWords is how many words a SHA-256 has.
const sumWords = sha256.Size / 8

// blockSums returns room for the SHA-256 of each block.
func (d *Data) blockSums() []int64 {
	return make([]int64, (d.N+hashRows-1)/hashRows*sumWords)
}

// hashOf returns the hash of blocks that have these.
func (d *Data) hashOf(sums []int64) string {
	h := d.newHasher()
	h.buf = append(h.buf, hashMagic...)
	h.count(d.N)
	h.count(d.D)
	h.count(len(d.Classes))
	for _, c := range d.Classes {
		h.count(len(c))
		h.buf = append(h.buf, c...)
	}
	h.count(len(d.Y))
	h.Write(h.buf) // a hash.Hash never returns an error from Write
	h.Write(store.Bytes(sums))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// hashBlocks enters the SHA-256 of each block.
func (d *Data) hashBlocks(ctx context.Context, sums []byte) error {
	blocks := (d.N + hashRows - 1) / hashRows
	_, task := progress.Begin(ctx, hashing(d.N))
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
			hashers[worker] = d.newHasher()
		}
		h, begin := hashers[worker], k*hashRows
		end := min(begin+hashRows, d.N)
		d.beginBlock(h, begin, end)
		for i := begin; i < end; i++ {
			h.row(d.Row(i))
		}
		h.flush()
		h.Sum(sums[k*sha256.Size : k*sha256.Size])
		task.Add(int64(end - begin))
	})
	if ended.Load() {
		return ctx.Err()
	}
	return nil
}

// beginBlock begins the hash of the block of examples begin..end-1.
func (d *Data) beginBlock(h *hasher, begin, end int) {
	h.Reset()
	words(h, d.Y[min(begin, len(d.Y)):min(end, len(d.Y))])
}

// row hashes an example: its values but +0, and their columns if there are fewer than all.
func (h *hasher) row(columns []int32, values []float32) {
	switch {
	case columns == nil && slices.ContainsFunc(values, isPlusZero):
		h.columns, h.values = AppendStored(h.columns[:0], h.values[:0], values)
		columns, values = h.columns, h.values
	case slices.ContainsFunc(values, isPlusZero):
		h.columns, h.values = h.columns[:0], h.values[:0]
		for k, v := range values {
			if !isPlusZero(v) {
				h.columns, h.values = append(h.columns, columns[k]), append(h.values, v)
			}
		}
		columns, values = h.columns, h.values
	}
	h.word(uint32(len(values)))
	if len(values) < h.d {
		words(h, columns)
	}
	words(h, values)
}

// hashing is the work of hashing n examples.
func hashing(n int) progress.Work {
	return progress.Work{Name: "hashing the data", Unit: "example", Total: int64(n)}
}

func isPlusZero(v float32) bool { return math.Float32bits(v) == 0 }

// hasher gathers small writes, and has room for a row's values.
type hasher struct {
	hash.Hash
	d       int // columns of a row
	buf     []byte
	columns []int32
	values  []float32
}

const hashBlock = 1 << 16

func (d *Data) newHasher() *hasher {
	return &hasher{Hash: sha256.New(), d: d.D, buf: make([]byte, 0, 2*hashBlock+8)}
}

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

// rowsBlock is how many values are asked for at once.
const rowsBlock = 1 << 20

// EachBlock calls f with all rows that rows makes, some at a time, and the number of the first.
func (d *Data) EachBlock(ctx context.Context, rows func(dst []float32, first int) error,
	f func(first int, block []float32) error) error {
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

// HashMade is Hash of dense rows that are made on demand. Each value must be finite.
func (d *Data) HashMade(ctx context.Context, rows func(dst []float32, first int) error) (string,
	error) {
	sums, h := d.blockSums(), d.newHasher()
	raw := store.Bytes(sums)
	_, task := progress.Begin(ctx, hashing(d.N))
	defer task.End()
	err := d.EachBlock(ctx, rows, func(first int, some []float32) error {
		for i := first; len(some) > 0; i++ {
			row := some[:d.D]
			some = some[d.D:]
			if err := checkRow(i, nil, row); err != nil {
				return err
			}
			if i%hashRows == 0 {
				d.beginBlock(h, i, min(i+hashRows, d.N))
			}
			h.row(nil, row)
			if (i+1)%hashRows == 0 || i+1 == d.N {
				h.flush()
				at := i / hashRows * sha256.Size
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
		if !isPlusZero(v) {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	return columns, values
}
