package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// open returns an engine that the test closes.
func open(t *testing.T, e *engine.Engine) *engine.Engine {
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestLevels: the noise of a toy is none at 0, M at 10, and grows; columns sum to 1.
func TestLevels(t *testing.T) {
	y := newToy(1)
	last := -1.0
	for i := 0; i <= toyLevels; i++ {
		c := y.level(i)
		if err := c.Check(); err != nil {
			t.Fatalf("level %d: %v", i, err)
		}
		norm := offDiagonal(c)
		if norm < last-1e-12 || i == 0 && norm != 0 {
			t.Errorf("level %d has the norm %v, wanted at least %v, and 0 at first", i, norm, last)
		}
		last = norm
	}
	for k, v := range y.level(10).P {
		if math.Abs(v-y.m[k]) > 1e-15 {
			t.Fatalf("entry %d of level 10 is %v, wanted %v of M", k, v, y.m[k])
		}
	}
	seen := make([]int, toyClasses)
	for i, class := range y.test.Y {
		seen[class]++
		x := y.test.Row(i)
		if length := math.Hypot(float64(x[0]), float64(x[1])); math.Abs(length-1) > 1e-6 {
			t.Fatalf("example %d has the length %v, wanted 1", i, length)
		}
	}
	if slices.Min(seen) == 0 || y.train.N != toyTrain || y.test.N != toyTest {
		t.Errorf("found %d and %d examples, %v of the classes, wanted some of each", y.train.N, y.test.N,
			seen)
	}
}

// TestToy: both engines give the same rows, told C helps, and the rows have the paper's numbers.
func TestToy(t *testing.T) {
	all := []*toy{newToy(1), newToy(2)}
	var texts []string
	for _, e := range []*engine.Engine{simd.New(), cpuref.New()} {
		var rows []Row
		r := &run{options: options{Engine: open(t, e), Runs: 2, Seed: 1}, name: "toy"}
		r.emit = func(row Row) error {
			rows = append(rows, row)
			return nil
		}
		for _, w := range []way{umaWay, perceptron} {
			row := Row{Learner: w.name, Paper: paperUMA[1]}
			for k, y := range all {
				if err := r.toyRun(t.Context(), row, w, y, 1, 1, 1+uint64(k)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
		if u, p := rows[0], rows[1]; u.Mean >= p.Mean || u.Mean != (u.Runs[0]+u.Runs[1])/2 ||
			*u.Paper != 0.5 {
			t.Errorf("uma has %+v and the perceptron %+v, wanted less, and the mean of two runs", u, p)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("two engines give other rows:\n%s\n%s", texts[0], texts[1])
	}
}

// TestTable: of digits of the repository, right labels teach most, and the paper's numbers are
// beside.
func TestTable(t *testing.T) {
	var rows []Row
	found := map[string]Row{}
	r, s := smallRun(t, &rows)
	if err := errors.Join(r.tableRows(t.Context(), s), r.flush()); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		found[row.Learner] = row
	}
	if len(found) != 7 || *found[umaWay.name].Paper != 0.16 || found[rough].Paper != nil {
		t.Errorf("found %d columns, wanted 7, and the paper's numbers", len(found))
	}
	for name, row := range found {
		if name != ofFull && row.Mean <= found[ofFull].Mean || row.Mean > 0.5 || len(row.Runs) != 2 {
			t.Errorf("found %s %+v, wanted more errors than of right labels, %v", name, row,
				found[ofFull].Mean)
		}
	}
}

// smallRun is a run on digits of the repository that keeps its rows.
func smallRun(t *testing.T, rows *[]Row) (*run, set) {
	s := set{name: "small", train: "digits.csv.gz", first: 1000, perClass: 5, components: 60,
		paper: paperRow(0.25, 0.21, 0.04, 0.15, 0.16)}
	r := &run{name: "small", options: options{Engine: open(t, simd.New()), DataDir: "../../testdata",
		Runs: 2, Seed: 1, Note: func(string, ...any) {}}}
	r.emit = func(row Row) error {
		*rows = append(*rows, row)
		return nil
	}
	return r, s
}

// TestS3VM: two clouds, one label each: the others tell where the boundary is not.
func TestS3VM(t *testing.T) {
	r, _ := smallRun(t, new([]Row))
	d := &dataset.Dataset{Classes: []string{"a", "b"}, Examples: dataset.Examples{N: 41, D: 2}}
	y := make([]int32, 41)
	for i := range 41 {
		// Points of the unit circle at the sides of a gap above; the labelled ones are the lowest of a
		// and the highest of b.
		at := 0.2 + 0.06*float64(i)
		if i > 20 {
			at = 1.7 + 0.005*float64(i-21)
		}
		d.X = append(d.X, float32(math.Cos(at)), float32(math.Sin(at)))
		y[i] = -1
		d.Y = append(d.Y, int32(i/21))
	}
	y[0], y[21] = 0, 1
	off := func(shares []float64) float64 {
		predicted, err := r.s3vmLearn(t.Context(), d.Examples, y, 2, 1e-3, shares, d.Examples)
		if err != nil {
			t.Fatal(err)
		}
		return wrong(predicted, d.Y)
	}
	if with, without := off(s3vmShares), off(s3vmShares[:1]); 2*with > without {
		t.Errorf("found %v wrong with the examples without a label, %v without", with, without)
	}
	if _, err := newS3VM(r.Engine, d.Examples, slices.Repeat([]int32{-1}, 41), 2); err == nil {
		t.Error("no label: no error")
	}
}

func TestDraw(t *testing.T) {
	y := newToy(1)
	l := draw(y.train, 3, 1)
	both := slices.Sorted(slices.Values(slices.Concat(l.rough, l.conf)))
	if n := len(both); len(l.conf) != toyTrain/20 || len(l.rough) > 3*toyClasses ||
		len(slices.Compact(both)) != n {
		t.Errorf("found %d and %d examples, wanted %d, at most %d, and none twice", len(l.rough),
			len(l.conf), toyTrain/20, 3*toyClasses)
	}
	// What the rough classifier takes of a rare class is not missing among the others.
	rare := &dataset.Dataset{Examples: dataset.Examples{N: 10000}, Y: make([]int32, 10000),
		Classes: []string{"a", "b"}}
	for i := range 500 {
		rare.Y[20*i] = 1
	}
	found := 0
	for seed := range uint64(20) {
		for _, i := range draw(rare, 100, seed).conf {
			found += int(rare.Y[i])
		}
	}
	if want := 20 * 500 * 400 / 9800; found < want*3/4 || found > want*5/4 {
		t.Errorf("found %d examples of the rare class among 20·500, wanted about %d", found, want)
	}
}

func TestRun(t *testing.T) {
	e := open(t, simd.New())
	for _, c := range []struct {
		d    *experiment
		o    options
		said string
	}{
		{figure1a, options{Engine: e, Runs: 1}, "least 2"},
		{figure1a, options{Engine: e, Runs: 2, Sets: []string{"digits"}}, `-sets "digits"`},
		{table1, options{Engine: e, Runs: 2, DataDir: filepath.Join(t.TempDir(), "none")}, "data"},
	} {
		err := perform(t.Context(), c.d, c.o, func(Row) error { return nil })
		if !facts.Told(err, c.said) || !strings.HasPrefix(err.Error(), c.d.Name+": ") {
			t.Errorf("%s %+v: %v, wanted %q", c.d.Name, c.o, err, c.said)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := perform(ctx, figure1b, options{Engine: e, Runs: 2}, nil); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	full := errors.New("full")
	err := perform(t.Context(), figure1b, options{Engine: e, Runs: 2}, func(Row) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("an error of emit became %v", err)
	}
}
