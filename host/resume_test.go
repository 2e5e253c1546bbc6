package host_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// fewDigits are 200 digits whose labels noise has corrupted.
func fewDigits(t *testing.T) (*dataset.Dataset, *confusion.Matrix) {
	t.Helper()
	d, err := file.Read(t.Context(), "../testdata/digits.csv.gz", file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	noise := must(confusion.Pairwise(d.Classes, 0.3))
	d.N, d.X, d.SHA256 = 200, d.X[:200*d.D], ""
	if d.Y, err = noise.Inject(d.Y[:200], 1); err != nil {
		t.Fatal(err)
	}
	return d, noise
}

// TestResumeOther: data that nobody has hashed, and other options, are told apart from
// what the training began with.
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
	straight := must(host.Train(context.Background(), d, noise, o))
	o.Resume = stopped.Model
	gone, err := host.Train(context.Background(), d, noise, o)
	if err != nil || !reflect.DeepEqual(gone.Model, straight.Model) {
		t.Errorf("gone on: %v, or another model", err)
	}
	o.Resume = stopped.Model
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

// failing are the parameters of a learner that fails in its sixth step, as when its device is
// lost.
type failing struct {
	learners.Params
	with error
}

func (f failing) Definition() *learners.Definition {
	d := *f.Params.Definition()
	begin := d.Start
	d.Start = func(ctx context.Context, p *learners.Problem) (learners.Learner, error) {
		l, err := begin(ctx, p)
		return &lost{Learner: l, with: f.with}, err
	}
	return &d
}

type lost struct {
	learners.Learner
	with  error
	steps int
}

var errLost = errors.New("lost")

func (l *lost) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	if l.steps++; l.steps == 6 {
		return learners.Step{}, l.with
	}
	return l.Learner.Step(ctx, w)
}

// TestFailedIsSaved: a training that fails leaves what it has learned, from which another goes on
// to the same model; one that ends well, fails before it has learned anything, or has been found
// to compute wrong, leaves no file.
func TestFailedIsSaved(t *testing.T) {
	d, noise := fewDigits(t)
	path := filepath.Join(t.TempDir(), "m.checkpoint.npz")
	o := host.Options{Engine: simd.New(), Learner: uma.Defaults(), MaxSteps: 9,
		Checkpoint: host.Checkpoint{Path: path, Steps: 10, Failed: true}}
	straight := must(host.Train(t.Context(), d, noise, o))
	o.Learner = failing{uma.Defaults(), errLost}
	if _, err := host.Train(t.Context(), d, noise, o); !errors.Is(err, errLost) || errors.Is(err,
		host.ErrSaved) {
		t.Errorf("failed before a checkpoint was due: %v", err)
	}
	o.Checkpoint.Steps = 2
	o.Learner = failing{uma.Defaults(), fmt.Errorf("sums: %w", audit.ErrDiffers)}
	if _, err := host.Train(t.Context(), d, noise, o); !errors.Is(err, audit.ErrDiffers) ||
		errors.Is(err, host.ErrSaved) {
		t.Errorf("found to compute wrong: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file, or %v", err)
	}
	o.Learner = failing{uma.Defaults(), errLost}
	_, err := host.Train(t.Context(), d, noise, o)
	if !errors.Is(err, errLost) || !errors.Is(err, host.ErrSaved) {
		t.Fatalf("failed in step 6: %v", err)
	}
	o = host.Options{Engine: simd.New(), Learner: uma.Defaults(), MaxSteps: 9}
	if o.Resume, err = model.Load(path); err != nil || o.Resume.Meta.Steps != 4 {
		t.Fatalf("saved: %v, %v", o.Resume, err)
	}
	gone, err := host.Train(t.Context(), d, noise, o)
	if err != nil || !slices.Equal(gone.Model.W, straight.Model.W) {
		t.Errorf("gone on: %v, or other weights", err)
	}
}

// TestResumeTakesOver: what a program leaves open is as the training to go on with began.
func TestResumeTakesOver(t *testing.T) {
	data, noise, _ := noisyDigits()
	began := host.Options{
		Engine: simd.New(),
		Learner: &uma.Params{Step: uma.StepPair, Select: uma.SelectRandom, AlphaUnit: uma.UnitWeights,
			Tol: 1e-9},
		Weights: learners.Last, MaxSteps: 40, Seed: 7,
	}
	straight := must(host.Train(context.Background(), data, noise, began))
	ctx, cancel := context.WithCancel(context.Background())
	began.Watch.Step = func(r host.Report) {
		if r.Step == 20 {
			cancel()
		}
	}
	stopped := must(host.Train(ctx, data, noise, began))
	again := host.Options{Engine: began.Engine, Resume: stopped.Model}
	resumed := must(host.Train(context.Background(), data, noise, again))
	if !slices.Equal(resumed.W, straight.W) || resumed.Meta.Steps != 40 || resumed.Meta.Seed != 7 ||
		resumed.Meta.Weights != "last" ||
		string(resumed.Meta.Parameters) != string(straight.Meta.Parameters) {
		t.Errorf("got other weights than the straight run, or %+v", resumed.Meta)
	}
}
