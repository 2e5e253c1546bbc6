package dataset

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// hashBytes is the hash that duplicates uses. Its seed differs from run to run,
// which changes no result, since examples of equal hash are compared.
func hashBytes(key []byte) uint64 { return maphash.Bytes(hashSeed, key) }

var hashSeed = maphash.MakeSeed()

// appendKey appends bytes that are the same for two examples exactly if all
// their values are equal: column and bits of each value that is not zero.
func (e Examples) appendKey(key []byte, i int) []byte {
	add := func(j int, v float32) {
		if v != 0 {
			key = binary.LittleEndian.AppendUint32(key, uint32(j))
			key = binary.LittleEndian.AppendUint32(key, math.Float32bits(v))
		}
	}
	if !e.Sparse() {
		for j, v := range e.Row(i) {
			add(j, v)
		}
		return key
	}
	columns, values := e.SparseRow(i)
	for k, j := range columns {
		add(int(j), values[k])
	}
	return key
}

// duplicates counts the examples that equal an earlier one, and the ones among them
// whose label is not that of the first equal one.
func (d *Dataset) duplicates(hash func([]byte) uint64) (duplicates, conflicting int) {
	for i, first := range d.firsts(hash) {
		if int(first) == i {
			continue
		}
		duplicates++
		if d.Y != nil && d.Y[i] != d.Y[first] {
			conflicting++
		}
	}
	return duplicates, conflicting
}

// Firsts returns for each example the number of the first one all of whose values equal its
// own: its own number if none before it does.
func (e Examples) Firsts() []int32 { return e.firsts(hashBytes) }

func (e Examples) firsts(hash func([]byte) uint64) []int32 {
	hashes, order, first := make([]uint64, e.N), make([]int32, e.N), make([]int32, e.N)
	parallel.Ranges(e.N, 256, func(from, to int) {
		var key []byte
		for i := from; i < to; i++ {
			key = e.appendKey(key[:0], i)
			hashes[i], order[i], first[i] = hash(key), int32(i), int32(i)
		}
	})
	// Equal hashes side by side, in the order of the file among themselves.
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b))
	})
	var key []byte
	for from, to := 0, 0; from < e.N; from = to {
		for to = from + 1; to < e.N && hashes[order[to]] == hashes[order[from]]; {
			to++
		}
		if to == from+1 {
			continue
		}
		var others []int32 // different examples of this hash: nearly always one
		var keys [][]byte
		for _, i := range order[from:to] {
			key = e.appendKey(key[:0], int(i))
			same := slices.IndexFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) })
			if same < 0 {
				others, keys = append(others, i), append(keys, slices.Clone(key))
				continue
			}
			first[i] = others[same]
		}
	}
	return first
}
