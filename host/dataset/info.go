package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math"
	"strconv"

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
	// Unlabelled counts the examples without a label, where others have one.
	Unlabelled int `json:"unlabelled,omitempty"`

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
	Min        float64 `json:"min"`     // of all values, zeros included, with their origins
	Max        float64 `json:"max"`
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

// Describe returns an Info; +0 and -0 count as equal. It takes 80 bytes per example and 12 per
// feature.
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
	if !d.Encoding.Plain() {
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
		for k := range d.N {
			if y := LabelOf(d, k); y >= 0 {
				i.Classes[y].Examples++
			} else {
				i.Unlabelled++
			}
		}
	}
	i.values(d.Examples, d.Encoding)
	i.Duplicates, i.Conflicting = countDuplicates(d)
	return i
}

// featureRange is what is known of the values of one feature that are not zero.
type featureRange struct {
	n        int32
	min, max float32
}

// values fills in what the values tell one by one.
func (i *ValueInfo) values(e Examples, encoding *Encoding) {
	origins := make([]float64, e.D)
	if encoding != nil && encoding.Width() == e.D {
		at := 0
		for k := range encoding.Columns {
			if c := &encoding.Columns[k]; c.Width() > 0 {
				origins[at] = c.Origin
				at += c.Width()
			}
		}
	}
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
		least, most := shortest(f.min)+origins[j], shortest(f.max)+origins[j]
		if j == 0 {
			i.Min, i.Max = least, most
		}
		i.Min, i.Max = min(i.Min, least), max(i.Max, most)
		i.NonZero += int64(f.n)
	}
	if cells := float64(e.N) * float64(e.D); cells > 0 {
		i.Density, i.MeanAbs = float64(i.NonZero)/cells, sum/cells
	}
}

// shortest returns the float64 of the shortest text that is v as float32.
func shortest(v float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64) // a number
	return wide
}

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
func countDuplicates(d *Dataset) (duplicates, conflicting int) {
	for i, first := range firsts(d.Examples, d.Rest) {
		if int(first) == i {
			continue
		}
		duplicates++
		if y, other := LabelOf(d, i), LabelOf(d, int(first)); y != other && y >= 0 && other >= 0 {
			conflicting++
		}
	}
	return duplicates, conflicting
}

// Firsts returns for each example the number of the first one that equals it, as half of their
// SHA-256 tells.
func Firsts(e Examples) []int32 { return firsts(e, nil) }

// firsts is Firsts of examples that Dataset.Rest tells apart, too.
func firsts(e Examples, rest []uint64) []int32 {
	hashes, first := make([][16]byte, e.N), make([]int32, e.N)
	parallel.Ranges(e.N, 256, func(from, to int) {
		var key []byte
		for i := from; i < to; i++ {
			if key = appendKey(e, key[:0], i); rest != nil {
				key = binary.LittleEndian.AppendUint64(key, rest[i])
			}
			sum := sha256.Sum256(key)
			hashes[i] = [16]byte(sum[:])
		}
	})
	seen := make(map[[16]byte]int32, e.N)
	for i, hash := range hashes {
		at, found := seen[hash]
		if !found {
			at = int32(i)
			seen[hash] = at
		}
		first[i] = at
	}
	return first
}
