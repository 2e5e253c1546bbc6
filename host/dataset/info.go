package dataset

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Info describes a data set; Storage and Bytes alone depend on its form.
type Info struct {
	Path   string `json:"path"`
	Format string `json:"format,omitempty"` // Dataset.Format
	SHA256 string `json:"sha256"`           // Dataset.SHA256

	Prepared string       `json:"prepared,omitempty"` // the steps of Dataset.Prepared
	Examples int          `json:"examples"`
	Features int          `json:"features"`
	Classes  []ClassCount `json:"classes"` // in their order; nil without labels

	Storage string `json:"storage"` // "dense" or "sparse"
	Bytes   int64  `json:"bytes"`   // that the features take in memory
	ValueInfo

	// Columns says what the features were made of, and Missing how many values lack; nil for numbers.
	Columns []ColumnInfo   `json:"columns,omitempty"`
	Missing []MissingCount `json:"missing,omitempty"`

	SkippedAt []int    `json:"skipped_at,omitempty"` // Dataset.SkippedAt
	Notes     []string `json:"notes,omitempty"`      // Dataset.Notes
	Warnings  []string `json:"warnings,omitempty"`   // Dataset.Warnings
}

// ValueInfo describes the values of examples.
type ValueInfo struct {
	NonZero    int64   `json:"nonzero_values"`
	Density    float64 `json:"density"` // NonZero / (Examples · Features)
	Min        float32 `json:"min"`     // of all values, zeros included
	Max        float32 `json:"max"`
	MeanAbs    float64 `json:"mean_absolute"`  // mean of |value|, zeros included
	Subnormals int     `json:"subnormals"`     // Dataset.Subnormals
	Empty      int     `json:"empty_examples"` // all of whose values are zero

	// of the same value in every example, EmptyFeatures included
	ConstantFeatures int `json:"constant_features"`
	EmptyFeatures    int `json:"empty_features"` // zero in every example

	// Duplicates counts examples that equal an earlier one; Conflicting, those with another label than
	// the first equal one, which tells of label noise.
	Duplicates  int `json:"duplicate_examples"`
	Conflicting int `json:"conflicting_duplicates"`
}

// ColumnInfo describes a column of a table.
type ColumnInfo struct {
	Name     string `json:"name,omitempty"`
	Kind     string `json:"kind"`             // Column.Kind
	Levels   int    `json:"levels,omitempty"` // of a category, or terms of a text
	Features int    `json:"features"`         // that it becomes
}

// ClassCount says how many examples a class has.
type ClassCount struct {
	Class    string `json:"class"`
	Examples int    `json:"examples"`
}

// Describe returns an Info; +0 and -0 count as equal. It takes 12 bytes per example and feature.
func Describe(d *Dataset) Info {
	i := Info{
		Path: d.Path, Format: d.Format, SHA256: d.SHA256, Examples: d.N, Features: d.D, Storage: "dense",
		Bytes:     4*int64(len(d.X)+len(d.Columns)+len(d.Values)) + 8*int64(len(d.Starts)),
		ValueInfo: ValueInfo{Subnormals: d.Subnormals}, SkippedAt: d.SkippedAt,
		Missing: d.Missing, Notes: d.Notes, Warnings: d.Warnings,
	}
	if d.Sparse() {
		i.Storage = "sparse"
	}
	if d.Encoding != nil {
		for _, c := range d.Encoding.Columns {
			i.Columns = append(i.Columns, ColumnInfo{c.Name, c.Kind, len(c.Levels) + len(c.Terms),
				c.Width()})
		}
	}
	if d.Prepared != nil {
		i.Prepared = d.Prepared.Steps.String()
	}
	if d.Y != nil {
		i.Classes = make([]ClassCount, len(d.Classes))
		for q, name := range d.Classes {
			i.Classes[q].Class = name
		}
		for _, y := range d.Y {
			i.Classes[y].Examples++
		}
	}
	i.values(d.Examples)
	i.Duplicates, i.Conflicting = countDuplicates(d, hashBytes)
	return i
}

// featureRange is what is known of the values of one feature that are not zero.
type featureRange struct {
	n        int32
	min, max float32
}

// values fills in what the values tell one by one.
func (i *ValueInfo) values(e Examples) {
	features := make([]featureRange, e.D)
	sum := 0.0
	visit := func(j int, v float32) {
		f := &features[j]
		if f.n == 0 {
			f.min, f.max = v, v
		}
		f.n++
		f.min, f.max = min(f.min, v), max(f.max, v)
		sum += math.Abs(float64(v)) // row by row: the same from dense and from sparse examples
	}
	for k := range e.N {
		empty := true
		for j, v := range nonzero(e, k) {
			visit(j, v)
			empty = false
		}
		if empty {
			i.Empty++
		}
	}
	for j, f := range features {
		if int(f.n) < e.N { // and zeros besides
			f.min, f.max = min(f.min, 0), max(f.max, 0)
		}
		if f.min == f.max {
			i.ConstantFeatures++
		}
		if f.n == 0 {
			i.EmptyFeatures++
		}
		if j == 0 {
			i.Min, i.Max = f.min, f.max
		}
		i.Min, i.Max = min(i.Min, f.min), max(i.Max, f.max)
		i.NonZero += int64(f.n)
	}
	if cells := float64(e.N) * float64(e.D); cells > 0 {
		i.Density, i.MeanAbs = float64(i.NonZero)/cells, sum/cells
	}
}

// hashBytes has another seed in each process; examples of equal hash are compared.
func hashBytes(key []byte) uint64 { return maphash.Bytes(hashSeed, key) }

var hashSeed = maphash.MakeSeed()

// appendKey appends column and bits of each value other than 0: equal for equal examples.
func appendKey(e Examples, key []byte, i int) []byte {
	for j, v := range nonzero(e, i) {
		key = binary.LittleEndian.AppendUint32(key, uint32(j))
		key = binary.LittleEndian.AppendUint32(key, math.Float32bits(v))
	}
	return key
}

// nonzero yields columns and values of example i that are not 0.
func nonzero(e Examples, i int) iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		columns, values := e.Entries(i)
		for j, v := range values {
			if columns != nil {
				j = int(columns[j])
			}
			if v != 0 && !yield(j, v) {
				return
			}
		}
	}
}

// countDuplicates counts examples that equal an earlier one, and those with another label.
func countDuplicates(d *Dataset, hash func([]byte) uint64) (duplicates, conflicting int) {
	for i, first := range firstEqual(d.Examples, hash) {
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

// Firsts returns for each example the number of the first one that equals it.
func Firsts(e Examples) []int32 { return firstEqual(e, hashBytes) }

// firstEqual is Firsts by a hash of values.
func firstEqual(e Examples, hash func([]byte) uint64) []int32 {
	hashes, order, first := make([]uint64, e.N), make([]int32, e.N), make([]int32, e.N)
	parallel.Ranges(e.N, 256, func(from, to int) {
		var key []byte
		for i := from; i < to; i++ {
			key = appendKey(e, key[:0], i)
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
			key = appendKey(e, key[:0], int(i))
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
