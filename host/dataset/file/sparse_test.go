package file

import (
	"archive/zip"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

var negativeZero = float32(math.Copysign(0, -1))

// inStorage returns d in dense or sparse storage.
func inStorage(d *dataset.Dataset, sparse bool) *dataset.Dataset {
	c := *d
	if c.Examples = d.Dense(); sparse {
		c.Examples = d.Compressed()
	}
	return &c
}

// spell returns e with some stored +0 added, which say nothing.
func spell(rng *rand.Rand, e dataset.Examples) dataset.Examples {
	s := dataset.Examples{N: e.N, D: e.D, Starts: []int64{0}, Columns: []int32{}, Values: []float32{}}
	for i := range e.N {
		for j, v := range e.Row(i) {
			if math.Float32bits(v) != 0 || rng.IntN(4) == 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, int64(len(s.Values)))
	}
	return s
}

func sameExamples(t *testing.T, what string, got, want dataset.Examples) {
	t.Helper()
	if err := got.Check(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got.N != want.N || got.D != want.D {
		t.Fatalf("%s: %d×%d, wanted %d×%d", what, got.N, got.D, want.N, want.D)
	}
	sameBits(t, what, got.Dense().X, want.Dense().X)
}

// Preparation gives the dense and the sparse form of the same examples the same
// bits, and what is not stored is +0 in the dense form.
func TestPreparationOfSparseEqualsDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for trial := range 60 {
		n, d := 1+rng.IntN(200), 1+rng.IntN(90)
		dense := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		density := rng.Float64()
		for k := range dense.X {
			switch {
			case rng.Float64() > density:
			case rng.IntN(20) == 0:
				dense.X[k] = float32(math.Copysign(0, -1))
			case k%d%5 == 2:
				dense.X[k] = float32(rng.NormFloat64()) * 1e-18
			default:
				dense.X[k] = float32(rng.NormFloat64() * 100)
			}
		}
		for _, sparse := range []dataset.Examples{dense.Compressed(), spell(rng, dense)} {
			before := fmt.Sprint(sparse)
			for _, s := range allSteps() {
				if s.Standardize {
					continue
				}
				what := fmt.Sprintf("trial %d, %d×%d, %v", trial, n, d, s)
				want, err := features.Fit(s, dense)
				if err != nil {
					t.Fatal(err)
				}
				got, err := features.Fit(s, sparse)
				if err != nil {
					t.Fatal(err)
				}
				sameBits(t, what+": A", got.A, want.A)
				sameBits(t, what+": B", got.B, want.B)
				wanted, err := features.Apply(want, dense)
				if err != nil {
					t.Fatal(err)
				}
				prepared, err := features.Apply(got, sparse)
				if err != nil {
					t.Fatal(err)
				}
				if !prepared.Sparse() || prepared.Size() != sparse.Size()+map[bool]int{true: n}[s.Bias] {
					t.Fatalf("%s: %d values stored of %d", what, prepared.Size(), sparse.Size())
				}
				sameExamples(t, what, prepared, wanted)
			}
			if fmt.Sprint(sparse) != before {
				t.Fatal("preparation wrote to its input")
			}
		}
	}
}

func TestApplySparseNeverSharesValues(t *testing.T) {
	e := examples(2, 1, 0, 0, 4).Compressed()
	out, err := features.Apply((&dataset.Preparation{D: 2}), e)
	if err != nil {
		t.Fatal(err)
	}
	out.Values[0] = 9
	if e.Values[0] != 1 {
		t.Error("Apply gave the caller's own values")
	}
}

func TestPreparationOfSparseBad(t *testing.T) {
	e := examples(2, 1, 0, 0, 4).Compressed()
	infinite := examples(3, 0, 1, 0, 0, 0, 1e-30).Compressed()
	infinite.Values[1] = math.MaxFloat32
	standard := dataset.Steps{Standardize: true}
	_, fitErr := features.Fit(standard, e)
	apply := func(p dataset.Preparation, e dataset.Examples) error {
		_,
			err := features.Apply(&p, e)
		return err
	}
	broken := e
	broken.Starts = []int64{0, 3, 2}
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"fit", fitErr, "standardize standardize 2 stored 4 maxabs l2"},
		{"overflow", apply(dataset.Preparation{Steps: dataset.Steps{MaxAbs: true}, D: 3,
			A: []float32{1, 1, 2}, B: []float32{0, 0, 0}}, infinite), "maxabs row 2 column 3 1 +Inf"},
		{"offset", apply(dataset.Preparation{Steps: dataset.Steps{MaxAbs: true}, D: 2, A: []float32{1, 1},
			B: []float32{0, float32(math.Inf(1))}}, e), "column 2 1 v·1 + +Inf finite"},
		{"factor", apply(dataset.Preparation{Steps: dataset.Steps{MaxAbs: true}, D: 2,
			A: []float32{float32(math.NaN()), 1}, B: []float32{0, 0}}, e), "column 1 1 v·NaN + 0"},
		{"shape", apply(dataset.Preparation{D: 2}, broken), "example 0 3"},
		{"width", apply(dataset.Preparation{Steps: dataset.Steps{Bias: true}, D: math.MaxInt32},
			dataset.Examples{D: math.MaxInt32, Starts: []int64{0}}), "leave"},
	} {
		if c.err == nil || !facts.Told(c.err, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.what, c.err, c.want)
		}
	}
}

func TestDefaultSteps(t *testing.T) {
	e := examples(2, 1, 0, 0, 4)
	if got := (&dataset.Dataset{Examples: e}).DefaultSteps(); got != "standardize,bias,l2" {
		t.Errorf("dense: %s", got)
	}
	if got := (&dataset.Dataset{Examples: e.Compressed()}).DefaultSteps(); got != "l2" {
		t.Errorf("sparse: %s", got)
	}
	for _, s := range allSteps() {
		if _, err := features.Fit(s, e.Compressed()); (err != nil) != s.Standardize {
			t.Errorf("%v: needs dense %v, fitting to sparse gives %v", s, s.Standardize, err)
		}
	}
}

// A hash, an info and a copy know nothing of how a file was stored.
func TestHashIsFreeOfStorage(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, shape := range []struct{ n, d int }{{1, 1}, {3, 4}, {40, 30}, {2, 40000}, {500, 300}} {
		d := randomDataset(rng, shape.n, shape.d, []string{"a"})
		s := inStorage(d, true)
		spelled := *d
		spelled.Examples = spell(rng, d.Examples)
		if h := d.Hash(); s.Hash() != h || spelled.Hash() != h {
			t.Errorf("%v: dense %s, sparse %s, with stored zeros %s", shape, h, s.Hash(), spelled.Hash())
		}
	}
	d := &dataset.Dataset{Examples: examples(3, 1, 0, float32(math.Copysign(0, -1)), 0, 0, 0, 3, 4, 5),
		Y: []int32{0, 1, 1}, Classes: []string{"a", "bc"}}
	// Computed with Python's hashlib and struct from the layout that Hash documents.
	const want = "c1af9864ab733348abc62b1bfb322c5533127d3c4bbd4ddfd0ad14bde1a6fe9e"
	if got := d.Hash(); got != want {
		t.Errorf("hash %s, wanted %s", got, want)
	}
	d = &dataset.Dataset{Examples: dataset.Examples{N: 2500, D: 3}, Classes: d.Classes}
	for i := range d.N {
		d.X, d.Y = append(d.X, float32(i*7%5), float32((i*7+1)%5), float32((i*7+4)%5)), append(d.Y,
			int32(i%2))
	}
	if got := d.Hash(); got != "ad572fcdd171d1fa9654ce4a0eb3379a8c3862b7dacc3b974d30417148f4f50f" {
		t.Errorf("hash %s of three blocks", got)
	}
}

// Written from either storage, read into either, in either format: the same
// bytes, and the same examples, classes and hash.
func TestWriteAndReadEitherStorage(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	dir := t.TempDir()
	for _, shape := range []struct{ n, d int }{{2, 1}, {30, 5}, {300, 170}, {3, 30000}} {
		d := randomDataset(rng, shape.n, shape.d, []string{"0", "1"})
		for _, name := range []string{"a.csv", "a.svm.gz", "a.svm.zst"} {
			var texts [2]string
			for k, sparse := range []bool{false, true} {
				var b strings.Builder
				f, err := formatNamed(formatOfName(name), true)
				if err != nil {
					t.Fatal(err)
				}
				if err := writeTo(t.Context(), &b, name, f, inStorage(d, sparse), WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				texts[k] = b.String()
			}
			if texts[0] != texts[1] {
				t.Fatalf("%v %s: dense and sparse examples are written differently", shape, name)
			}
			path := filepath.Join(dir, name)
			if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, storage := range []string{"dense", "sparse"} {
				got, err := Read(t.Context(), path, Options{Storage: storage})
				if err != nil {
					t.Fatal(err)
				}
				if got.Sparse() != (storage == "sparse") {
					t.Fatalf("%v %s: asked for %s", shape, name, storage)
				}
				sameExamples(t, name+" "+storage, got.Examples, d.Examples)
				if got.SHA256 != d.Hash() || got.Hash() != d.Hash() || !reflect.DeepEqual(got.Y, d.Y) ||
					!reflect.DeepEqual(got.Classes, d.Classes) {
					t.Errorf("%v %s %s: hash, labels or classes differ", shape, name, storage)
				}
				if err := got.CheckAll(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestStorageIsChosenByDensity(t *testing.T) {
	row := func(stored int) string {
		return "a" + strings.Repeat(",1", stored) + strings.Repeat(",0", 80-stored) + "\n"
	}
	for _, c := range []struct {
		stored int
		sparse bool
	}{{0, true}, {9, true}, {10, false}, {80, false}} {
		text := strings.Repeat(row(c.stored), 50) + strings.Replace(row(c.stored), "a", "b", 1)
		for _, storage := range []string{"", "auto"} {
			d, err := readText("f", text, Options{Table: Table{LabelColumn: "first"}, Storage: storage})
			if err != nil {
				t.Fatal(err)
			}
			if d.Sparse() != c.sparse {
				t.Errorf("%d of 80 values: sparse is %v", c.stored, d.Sparse())
			}
		}
	}
	if _, err := readText("f", "1,a\n2,b\n", Options{Storage: "csr"}); !facts.Told(err, `"csr"`) {
		t.Errorf("unknown storage: %v", err)
	}
}

func TestCheckFindsNotFiniteInSparse(t *testing.T) {
	d := &dataset.Dataset{Examples: examples(3, 0, 1, 0, 0, 0, 0, 0, 2, 3).Compressed()}
	d.Values[2] = float32(math.Inf(-1))
	if err := d.CheckAll(t.Context()); !facts.Told(err, "example 3 column 3 -Inf finite") {
		t.Errorf("got %v", err)
	}
}

// TestPreparationByKindOfColumn: the numbers of a table are standardized whatever its storage, and
// levels stay 0 or 1, so that a column of many levels or of large numbers drowns no other.
func TestPreparationByKindOfColumn(t *testing.T) {
	var text strings.Builder
	text.WriteString("city,income,plan,debt,class\n")
	rng := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		fmt.Fprintf(&text, "city%d,%d,%s,%d,%d\n", rng.IntN(60), 100000+rng.IntN(40000),
			[]string{"basic", "plus", ""}[rng.IntN(3)], rng.IntN(2)*rng.IntN(9), rng.IntN(2))
	}
	read := func(storage string) *dataset.Dataset {
		d, err := readText("f.csv", text.String(), Options{Storage: storage,
			Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingIndicator}}})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := dataset.ParseSteps(d.DefaultSteps())
		if err != nil {
			t.Fatal(err)
		}
		if steps.L2 = false; !steps.Standardize {
			t.Fatalf("storage %s: prepared by %s", storage, steps)
		}
		if err := features.Prepare(d, steps); err != nil {
			t.Fatal(err)
		}
		return d
	}
	dense, sparse, auto := read("dense"), read("sparse"), read("auto")
	if !sparse.Sparse() || !auto.Sparse() {
		t.Fatalf("sparse: %v, auto: %v", sparse.Sparse(), auto.Sparse())
	}
	sameExamples(t, "sparse", sparse.Examples, dense.Examples)
	sameExamples(t, "auto", auto.Examples, dense.Examples)
	p := dense.Prepared
	if again, err := features.Apply(p, dense.Examples.Compressed()); err == nil {
		t.Errorf("prepared twice: %d columns", again.D)
	}
	for j, name := range dense.Features {
		number := name == "income" || name == "debt"
		var sum, squares float64
		for i := range dense.N {
			v := float64(dense.Row(i)[j])
			sum, squares = sum+v, squares+v*v
		}
		n := float64(dense.N)
		if number && (math.Abs(sum/n) > 1e-5 || math.Abs(squares/n-1) > 1e-4) {
			t.Errorf("%s has mean %v and square %v, wanted 0 and 1", name, sum/n, squares/n)
		}
		if !number && (p.A[j] != 1 || p.B[j] != 0) {
			t.Errorf("%s is mapped by v·%v + %v, wanted it left", name, p.A[j], p.B[j])
		}
	}
}

// arraysOf returns an .npz of arrays, packed.
func arraysOf(t *testing.T, arrays map[string]any) string {
	t.Helper()
	var b strings.Builder
	z := zip.NewWriter(&b)
	for name, values := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		switch v := values.(type) {
		case []int64:
			w.Write(npyfile.Header("<i8", len(v)))
			err = npyfile.Write(w, v)
		case []float32:
			w.Write(npyfile.Header("<f4", len(v)))
			err = npyfile.Write(w, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A sparse row with columns that the shape does not have, or with one twice, is malformed, and the
// other rows keep their numbers.
func TestSparseRowsBad(t *testing.T) {
	for _, c := range []struct {
		columns []int64
		want    string
	}{
		{[]int64{0, 1, 3, 2}, "f example 2 column 3 (counted from 0) 0 to 2"},
		{[]int64{0, -1, 1, 2}, "f example 2 column -1 (counted from 0) 0 to 2"},
		{[]int64{0, 1 << 40, 1, 2}, "f example 2 column 1099511627776 (counted from 0) 0 to 2"},
		{[]int64{0, 1, 1, 2}, "f example 2 column 2 twice"},
	} {
		text := arraysOf(t, map[string]any{"shape": []int64{3, 3}, "indptr": []int64{0, 1, 3, 4},
			"indices": c.columns, "data": []float32{5, 6, 7, 8}})
		_, err := readText("f", text, Options{NoLabels: true})
		if !facts.Told(err, c.want) {
			t.Errorf("%v: got %v\nwant %s", c.columns, err, c.want)
		}
		d, err := readText("f", text, Options{NoLabels: true, SkipBad: 1, Storage: "dense"})
		if err != nil || fmt.Sprint(d.X, d.SkippedAt, d.Source) != "[5 0 0 0 0 8] [2] [0 2]" {
			t.Errorf("%v, skipped: got %+v, %v", c.columns, d, err)
		}
	}
}
