package host_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// fewDigits are 200 digits whose labels noise has corrupted.
func fewDigits(t *testing.T) (*dataset.Dataset, *confusion.Matrix) {
	t.Helper()
	d, err := dataset.Read(t.Context(), "../testdata/digits.csv.gz", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	noise, err := confusion.Pairwise(d.Classes, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	d.N, d.X, d.SHA256 = 200, d.X[:200*d.D], ""
	if d.Y, err = noise.Inject(d.Y[:200], 1); err != nil {
		t.Fatal(err)
	}
	return d, noise
}

// TestSnapshotIsNeeded: whatever a snapshot of a run forgets, the run that goes on from it
// fails or ends otherwise. No field is kept for nothing, and none can be lost in silence.
func TestSnapshotIsNeeded(t *testing.T) {
	d, noise := fewDigits(t)
	params := &uma.Params{Step: uma.StepPair, Select: uma.SelectRandom, AlphaUnit: uma.UnitWeights,
		Tol: 1e-9}
	p := &learners.Problem{X: d.Examples, Y: d.Y, Q: 10, Noise: noise, Engine: simd.New(), Seed: 1}
	needed := map[string]bool{}
	for _, rule := range uma.Defaults().Definition().Weights {
		var snapshots []host.Snapshot
		o := host.RunOptions{MaxSteps: 30, Weights: rule, Due: func(steps int) bool { return steps == 29 }}
		o.Keep = func(s host.Snapshot) error { snapshots = append(snapshots, s); return nil }
		want, err := host.Run(context.Background(), params, p, o)
		if err != nil || len(snapshots) != 2 {
			t.Fatalf("%d snapshots, %v", len(snapshots), err)
		}
		again := func(s host.Snapshot) bool {
			got, err := host.Run(context.Background(), params, p, host.RunOptions{MaxSteps: 30, Weights: rule, Resume: &s})
			return err == nil && reflect.DeepEqual(got, want)
		}
		first, late := snapshots[0], snapshots[1]
		if !again(late) {
			t.Fatalf("%s: the run that goes on ends otherwise", rule)
		}
		for _, f := range reflect.VisibleFields(reflect.TypeFor[host.Snapshot]()) {
			if f.Name == "State" {
				continue // its fields follow
			}
			kept, begun := reflect.ValueOf(late).FieldByIndex(f.Index), reflect.ValueOf(first).FieldByIndex(f.Index)
			if kept.IsZero() {
				continue
			}
			// The field as it was at the beginning, left out, and with zeros in it.
			mutants := []reflect.Value{begun, reflect.Zero(f.Type)}
			if f.Type.Kind() == reflect.Slice {
				mutants = append(mutants, reflect.MakeSlice(f.Type, kept.Len(), kept.Len()))
			}
			caught := true
			for _, m := range mutants {
				s := late
				reflect.ValueOf(&s).Elem().FieldByIndex(f.Index).Set(m)
				caught = caught && !again(s)
			}
			needed[f.Name] = needed[f.Name] || caught
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[host.Snapshot]()) {
		if f.Name != "State" && !needed[f.Name] {
			t.Errorf("no rule of weights needs %s", f.Name)
		}
	}
}

// TestResumeOther: data that nobody has hashed, and other options, are told apart from
// those that the training began with.
func TestResumeOther(t *testing.T) {
	d, noise := fewDigits(t)
	o := host.Options{Engine: simd.New(), Learner: uma.Defaults(), MaxSteps: 9}
	ctx, cancel := context.WithCancel(context.Background())
	o.Watch.Step = func(r host.Report) {
		if r.Step == 5 {
			cancel()
		}
	}
	stopped, err := host.Train(ctx, d, noise, o)
	if err != nil || stopped.Run.Stop != host.Interrupted {
		t.Fatalf("%+v, %v", stopped, err)
	}
	o.Watch = host.Watch{}
	straight, err := host.Train(context.Background(), d, noise, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Resume = stopped.Model
	gone, err := host.Train(context.Background(), d, noise, o)
	if err != nil || !reflect.DeepEqual(gone.Model, straight.Model) {
		t.Errorf("gone on: %v, or another model", err)
	}
	other := *d
	other.Y = slices.Clone(d.Y)
	other.Y[7] = (other.Y[7] + 1) % 10
	random := uma.Defaults()
	random.Select = uma.SelectRandom
	for name, change := range map[string]func(*host.Options, **dataset.Dataset){
		"data":       func(_ *host.Options, d **dataset.Dataset) { *d = &other },
		"seed":       func(o *host.Options, _ **dataset.Dataset) { o.Seed = 2 },
		"weights":    func(o *host.Options, _ **dataset.Dataset) { o.Weights = learners.Last },
		"parameters": func(o *host.Options, _ **dataset.Dataset) { o.Learner = random },
		"steps":      func(o *host.Options, _ **dataset.Dataset) { o.MaxSteps = 4 },
		"contract": func(o *host.Options, _ **dataset.Dataset) {
			old := *o.Resume
			old.Meta.ContractVersion++
			o.Resume = &old
		},
	} {
		o, d := o, d
		change(&o, &d)
		if _, err := host.Train(context.Background(), d, noise, o); !errors.Is(err, host.ErrResume) {
			t.Errorf("other %s: %v, want %v", name, err, host.ErrResume)
		}
	}
	if _, err := host.Train(context.Background(), d, nil, o); !errors.Is(err, host.ErrResume) {
		t.Errorf("no noise: %v, want %v", err, host.ErrResume)
	}
}
