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
	"github.com/uma-gpu/uma-gpu/internal/osfile"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Hash returns the SHA-256, in hexadecimal, of what the data say, whatever the file and the
// storage: dense and sparse, a CSV and a LIBSVM copy, plain or packed, with other spellings of the
// same numbers, have the same hash. Feature names, the place of the label column and Path do not
// enter. The hashed bytes, every integer little-endian, are
//
//	"uma-gpu dataset 3\n"
//	uint64 n, uint64 d
//	uint64 number of classes; per class uint64 length, the bytes of its name
//	uint64 number of labels (n, or 0 without labels)
//	per block of 1024 examples, the last of fewer, the 32 bytes of its own SHA-256
//
// and the hashed bytes of a block
//
//	per example, if there are labels, its label as uint32
//	per example uint32 number m of values whose bits are not those of +0;
//	            their columns, counted from 0, as uint32, left out if m = d;
//	            their bits as uint32
//
// With Evidence it is the hash of this hash and the evidence.
func (d *Dataset) Hash() string {
	sum, _ := d.HashContext(context.Background()) // which does not end
	return sum
}

// hashRows is how many examples a block has.
const hashRows = 1024

// HashContext is Hash, or an error if ctx ends.
func (d *Dataset) HashContext(ctx context.Context) (string, error) {
	blocks := (d.N + hashRows - 1) / hashRows
	sums := make([][sha256.Size]byte, blocks)
	_, task := progress.Begin(ctx, progress.Work{Name: "hashing the data", Unit: "example",
		Total: int64(d.N)})
	defer task.End()
	workers := parallel.Workers(blocks, 1)
	hashers := make([]*hasher, workers)
	var ended atomic.Bool
	parallel.Share(workers, blocks, func(worker, k int) {
		if ended.Load() || ctx.Err() != nil {
			ended.Store(true)
			return
		}
		if hashers[worker] == nil {
			hashers[worker] = &hasher{Hash: sha256.New()}
		}
		from, to := k*hashRows, min((k+1)*hashRows, d.N)
		hashers[worker].block(d, from, to, &sums[k])
		task.Add(int64(to - from))
	})
	if ended.Load() {
		return "", ctx.Err()
	}
	head := []byte("uma-gpu dataset 3\n")
	for _, n := range []int{d.N, d.D, len(d.Classes)} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	for _, c := range d.Classes {
		head = append(binary.LittleEndian.AppendUint64(head, uint64(len(c))), c...)
	}
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(head, uint64(len(d.Y)))) // to a hash, which takes all
	for _, sum := range sums {
		h.Write(sum[:])
	}
	sum := fmt.Sprintf("%x", h.Sum(nil))
	if d.Evidence != nil {
		sum = d.Evidence.hash(sum)
	}
	return sum, nil
}

// hasher hashes blocks, and gathers small writes.
type hasher struct {
	hash.Hash
	buffer  []byte
	columns []int32 // of an example without its +0
	values  []float32
}

// block writes the hash of examples from..to-1 to sum.
func (h *hasher) block(d *Dataset, from, to int, sum *[sha256.Size]byte) {
	h.Reset()
	if d.Y != nil {
		h.buffer = appendWords(h.buffer, d.Y[from:to])
	}
	for i := from; i < to; i++ {
		columns, values := d.Entries(i)
		if slices.ContainsFunc(values, isPlusZero) {
			h.columns, h.values = AppendStored(h.columns[:0], h.values[:0], d.Examples, i)
			columns, values = h.columns, h.values
		}
		h.buffer = binary.LittleEndian.AppendUint32(h.buffer, uint32(len(values)))
		if len(values) < d.D {
			h.buffer = appendWords(h.buffer, columns)
		}
		h.buffer = appendWords(h.buffer, values)
		if len(h.buffer) >= 1<<16 || i == to-1 {
			h.Write(h.buffer) // to a hash, which takes all
			h.buffer = h.buffer[:0]
		}
	}
	h.Sum(sum[:0])
}

// appendWords appends the bits of numbers.
func appendWords[T int32 | float32](b []byte, list []T) []byte {
	if osfile.LittleEndian {
		return append(b, osfile.Bytes(list)...)
	}
	b, _ = binary.Append(b, binary.LittleEndian, list) // which knows the type
	return b
}

func isPlusZero(v float32) bool { return math.Float32bits(v) == 0 }
