package host_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// written returns the file of a model, but for the device.
func written(t *testing.T, m *model.Model) []byte {
	t.Helper()
	some := *m
	some.Meta.Device = engine.Device{}
	var b bytes.Buffer
	if err := some.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTrees: trees have the same file on every engine, after an interruption and read again; they
// learn what noise hides.
func TestTrees(t *testing.T) {
	d, noise := fewDigits(t)
	for _, mode := range []string{trees.Boost, trees.Forest} {
		p := trees.Defaults()
		p.Mode, p.Rounds, p.Leaves = mode, 8, 6
		o := host.Options{Engine: simd.New(), Learner: p}
		want, err := host.Train(t.Context(), d, noise, o)
		if err != nil {
			t.Fatal(err)
		}
		file := written(t, want.Model)
		again, err := model.Read(file)
		if err != nil || !bytes.Equal(written(t, again), file) {
			t.Errorf("%s: read again: %v, or another file", mode, err)
		}
		scores, err := again.Scores(t.Context(), o.Engine, d.Examples)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, k := range engine.Predicted(scores, again.Q) {
			if k != d.Y[i] {
				wrong++
			}
		}
		if wrong == 0 || wrong > 120 {
			t.Errorf("%s: %d of 200 predictions differ from labels of which 30 %% are wrong", mode, wrong)
		}

		o.Engine = cpuref.New()
		if m, err := host.Train(t.Context(), d, noise, o); err != nil || !bytes.Equal(written(t,
			m.Model), file) {
			t.Errorf("%s: on another engine: %v, or another file", mode, err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		o.Watch.Step = func(r host.Report) {
			if r.Step >= 3 {
				cancel()
			}
		}
		stopped, err := host.Train(ctx, d, noise, o)
		cancel()
		if err != nil || mode == trees.Boost && stopped.Run.Stop != host.Interrupted {
			t.Fatalf("%s: interrupted: %+v, %v", mode, stopped, err)
		}
		if stopped.Run.Stop != host.Interrupted {
			continue
		}
		saved, err := model.Read(written(t, stopped.Model))
		if err != nil {
			t.Fatal(err)
		}
		o.Watch, o.Resume = host.Watch{}, saved
		if m, err := host.Train(t.Context(), d, noise, o); err != nil ||
			!bytes.Equal(written(t, m.Model), file) {
			t.Errorf("%s: resumed: %v, or another file", mode, err)
		}
	}
}

// failingDriver is the processor, until it has split that many nodes.
type failingDriver struct {
	engine.Driver
	splits int
}

func (d *failingDriver) LoadBins(b dataset.Binned, q, all int) (engine.LoadedBins, error) {
	loaded, err := d.Driver.LoadBins(b, q, all)
	return &failingBins{loaded, d}, err
}

type failingBins struct {
	engine.LoadedBins
	d *failingDriver
}

func (b *failingBins) Split(node, feature int, left engine.BinSet, children [2]int) ([2]int64,
	error) {
	if b.d.splits--; b.d.splits < 0 {
		return [2]int64{}, errLost
	}
	return b.LoadedBins.Split(node, feature, left, children)
}

// TestFailedTreesAreSaved: boosting that fails amid a round leaves the rounds before it, from which
// another training goes on to the same file.
func TestFailedTreesAreSaved(t *testing.T) {
	d, noise := fewDigits(t)
	p := trees.Defaults()
	p.Mode, p.Rounds, p.Leaves = trees.Boost, 5, 6
	path := filepath.Join(t.TempDir(), "m.checkpoint.npz")
	o := host.Options{Engine: simd.New(), Learner: p}
	want := written(t, must(host.Train(t.Context(), d, noise, o)).Model)
	o.Engine = engine.New(&failingDriver{simd.NewDriver(), 2*5*len(d.Classes) + 7})
	o.Checkpoint = host.Checkpoint{Path: path, Failed: true}
	if _, err := host.Train(t.Context(), d, noise, o); !errors.Is(err, errLost) ||
		!errors.Is(err, host.ErrSaved) {
		t.Fatalf("failed in round 3: %v", err)
	}
	o = host.Options{Engine: simd.New(), Learner: p}
	var err error
	if o.Resume, err = model.Load(path); err != nil || o.Resume.Meta.Steps != 2 {
		t.Fatalf("saved: %+v, %v", o.Resume, err)
	}
	if m, err := host.Train(t.Context(), d, noise, o); err != nil ||
		!bytes.Equal(written(t, m.Model), want) {
		t.Errorf("resumed: %v, or another file", err)
	}
}

// TestReadDamagedTrees: whatever is wrong with trees is an error.
func TestReadDamagedTrees(t *testing.T) {
	d, noise := fewDigits(t)
	p := trees.Defaults()
	p.Mode, p.Rounds, p.Leaves = trees.Boost, 2, 4
	whole, err := host.Train(t.Context(), d, noise, host.Options{Engine: simd.New(), Learner: p})
	if err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func(m *ensemble.Model){
		"a value less":       func(m *ensemble.Model) { m.Trees[0].Values = m.Trees[0].Values[1:] },
		"a child of no node": func(m *ensemble.Model) { m.Trees[1].Nodes[0].Children[0] = 9 },
		"a child twice":      func(m *ensemble.Model) { m.Trees[1].Nodes[0].Children = [2]int32{-1, -1} },
		"a loop":             func(m *ensemble.Model) { m.Trees[1].Nodes[0].Children[0] = 0 },
		"a column too many":  func(m *ensemble.Model) { m.Trees[1].Nodes[0].Feature = int32(d.D) },
		"another class":      func(m *ensemble.Model) { m.Class[0] = 10 },
		"no gain":            func(m *ensemble.Model) { m.Gain = nil },
		"shares to unmix":    func(m *ensemble.Model) { m.Unmix = true },
	} {
		some := *whole.Model
		copied := *some.Trees
		copied.Trees, copied.Class = slices.Clone(copied.Trees), slices.Clone(copied.Class)
		for k := range copied.Trees {
			copied.Trees[k].Nodes = slices.Clone(copied.Trees[k].Nodes)
		}
		damage(&copied)
		some.SetTrees(&copied)
		if err := some.Write(&bytes.Buffer{}); err == nil {
			t.Errorf("a model with %s is written, wanted an error", what)
		}
	}
}
