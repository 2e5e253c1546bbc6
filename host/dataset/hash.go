package dataset

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

// hashMagic begins the hashed bytes; another layout gets another number.
const hashMagic = "uma-gpu dataset 2\n"

// Hash returns the SHA-256, in hexadecimal, of what the data say, free of how a
// file wrote it and of how it is stored: dense and sparse, a CSV and a LIBSVM
// copy, plain or packed, with other spellings of the same numbers, have the same
// hash. Feature names, the place of the label column and Path do not enter. The
// hashed bytes, every integer little-endian, are
//
//	"uma-gpu dataset 2\n"
//	uint64 n, uint64 d
//	uint64 number of classes; per class uint64 length, the bytes of its name
//	uint64 number of labels (n, or 0 without labels); per label uint32
//	per example uint32 number m of values whose bits are not those of +0;
//	            their columns, counted from 0, as uint32, left out if m = d;
//	            their bits as uint32
func (d *Dataset) Hash() string {
	sum, _ := d.hash(context.Background()) // which does not end
	return sum
}

// hash is Hash until ctx ends.
func (d *Dataset) hash(ctx context.Context) (string, error) {
	h := d.hasher()
	if d.Share != nil {
		return d.shareHash(h)
	}
	if err := d.hashRows(ctx, h, 0, d.N); err != nil {
		return "", err
	}
	return h.end(), nil
}

// hasher returns the hash of all that goes before the examples.
func (d *Dataset) hasher() *hasher {
	// A hash.Hash never returns an error from Write.
	h := &hasher{Hash: sha256.New(), buf: make([]byte, 0, 2*hashBlock+8)}
	h.buf = append(h.buf, hashMagic...)
	h.count(d.N)
	h.count(d.D)
	h.count(len(d.Classes))
	for _, c := range d.Classes {
		h.count(len(c))
		h.buf = append(h.buf, c...)
	}
	h.count(len(d.Y))
	h.integers(d.Y)
	return h
}

// shareHash is the rest of hash where ranks share the examples: one after the other goes on where the one before it
// stood. It takes all ranks.
func (d *Dataset) shareHash(h *hasher) (string, error) {
	h.flush()
	state, err := h.Hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return "", err
	}
	var failed error
	err = d.Share.inTurn(state, func(state []byte) {
		failed = h.Hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
		if failed == nil {
			failed = d.hashRows(d.Share.ctx, h, d.Share.From, d.Share.To)
		}
		h.flush()
		next, err := h.Hash.(encoding.BinaryMarshaler).MarshalBinary()
		if failed == nil {
			failed = err
		}
		copy(state, next)
	})
	if err != nil {
		return "", err
	}
	if err := d.Share.agree(failed); err != nil {
		return "", err
	}
	if err := h.Hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashRows hashes examples from..to-1.
func (d *Dataset) hashRows(ctx context.Context, h *hasher, from, to int) error {
	_, task := progress.Begin(ctx, hashing(to-from))
	defer task.End()
	for i := from; i < to; i++ {
		if i%1024 == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			task.Reach(int64(i - from))
		}
		if d.Sparse() {
			columns, values := d.SparseRow(i)
			columns, values = dropZeros(columns, values)
			h.stored(columns, values, d.D)
		} else {
			h.dense(d.Row(i))
		}
	}
	return nil
}

// hashing is the work of hashing n examples.
func hashing(n int) progress.Work {
	return progress.Work{Name: "hashing the data", Unit: "example", Total: int64(n)}
}

// dropZeros returns a sparse row without stored +0: itself if it has none.
func dropZeros(columns []int32, values []float32) ([]int32, []float32) {
	zero := func(v float32) bool { return math.Float32bits(v) == 0 }
	first := slices.IndexFunc(values, zero)
	if first < 0 {
		return columns, values
	}
	columns, left := slices.Clone(columns), append([]float32(nil), values[:first]...)
	for k := first; k < len(values); k++ {
		if !zero(values[k]) {
			columns[len(left)] = columns[k]
			left = append(left, values[k])
		}
	}
	return columns[:len(left)], left
}

// hasher gathers small writes.
type hasher struct {
	hash.Hash
	buf []byte

	columns []int32 // of dense
	values  []float32
}

// dense hashes an example that has all its values.
func (h *hasher) dense(row []float32) {
	h.columns, h.values = appendStored(h.columns[:0], h.values[:0], row)
	h.stored(h.columns, h.values, len(row))
}

// stored hashes the values of an example of d columns that are not +0.
func (h *hasher) stored(columns []int32, values []float32, d int) {
	h.word(uint32(len(values)))
	if len(values) < d {
		h.integers(columns)
	}
	h.floats(values)
}

// end returns the hash in hexadecimal.
func (h *hasher) end() string {
	h.flush()
	return hex.EncodeToString(h.Sum(nil))
}

const hashBlock = 1 << 16

func (h *hasher) spill() {
	if len(h.buf) >= hashBlock {
		h.Write(h.buf)
		h.buf = h.buf[:0]
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

func (h *hasher) integers(list []int32) {
	for part := range slices.Chunk(list, hashBlock/4) {
		for _, v := range part {
			h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(v))
		}
		h.spill()
	}
}

func (h *hasher) floats(list []float32) {
	for part := range slices.Chunk(list, hashBlock/4) {
		for _, v := range part {
			h.buf = binary.LittleEndian.AppendUint32(h.buf, math.Float32bits(v))
		}
		h.spill()
	}
}
