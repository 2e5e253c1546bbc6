package shard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
)

// joined returns drivers as one.
func joined(t testing.TB, shares []int, drivers ...engine.Driver) engine.Driver {
	t.Helper()
	d, err := shard.New(drivers, shares)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// together returns an engine of several drivers.
func together(t testing.TB, shares []int, drivers ...engine.Driver) *engine.Engine {
	t.Helper()
	e := engine.New(joined(t, shares, drivers...))
	t.Cleanup(func() { e.Close() })
	return e
}

// devices opens the first OpenCL device several times; none in a build without OpenCL.
func devices(t testing.TB, count int) []engine.Driver {
	t.Helper()
	if !gpu.Built {
		return nil
	}
	infos, err := gpu.Devices()
	if err != nil {
		t.Fatal(err)
	}
	var all []engine.Driver
	for range count {
		e, err := gpu.OpenDriver(infos[0], gpu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// cases are the suite, or with so little time as make test has its short form, which has all kinds
// of examples and enough of them to be cut.
func cases() []enginetest.Case {
	if *all {
		return append(enginetest.Cases(), enginetest.WideCases()...)
	}
	return enginetest.ShortCases()
}

func TestConformance(t *testing.T) {
	engines := map[string]*engine.Engine{
		"eight": together(t, []int{3, 1, 4, 1, 5, 9, 2, 6}, simd.NewDriver(), simd.NewDriver(),
			simd.NewDriver(),
			cpuref.Driver{}, simd.NewDriver(), simd.NewDriver(), cpuref.Driver{}, simd.NewDriver()),
	}
	if *all {
		engines["one"] = together(t, nil, simd.NewDriver())
		engines["of several"] = together(t, []int{2, 3}, joined(t, nil, simd.NewDriver(),
			cpuref.Driver{}),
			simd.NewDriver())
	}
	for name, e := range engines {
		t.Run(name, func(t *testing.T) { enginetest.Run(t, e, cases()) })
	}
	if d := devices(t, 2); d != nil {
		t.Run("a device twice, and the processor", func(t *testing.T) {
			enginetest.Run(t, together(t, []int{2, 1, 2}, d[0], simd.NewDriver(), d[1]), cases())
		})
	}
}

func TestClose(t *testing.T) {
	enginetest.RunClose(t, func() *engine.Engine {
		return together(t, nil, simd.NewDriver(),
			cpuref.Driver{})
	})
}

// TestShares: shares that are none are refused; what the shares say is cut is cut.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		count  int
		shares []int
	}{{0, nil}, {2, []int{1}}, {1, []int{0}}, {2, []int{3, -1}}, {1, []int{1<<24 + 1}}} {
		engines := make([]engine.Driver, c.count)
		if _, err := shard.New(engines, c.shares); !errors.Is(err, engine.ErrShape) {
			t.Errorf("%d engines with shares %v: %v, want %v", c.count, c.shares, err, engine.ErrShape)
		}
	}
	for _, c := range []struct {
		n      int
		shares []int
		want   []int
	}{
		{1, []int{1, 1}, []int{0, 1}},
		{48, []int{1, 1, 1}, []int{16, 16, 16}},
		{1000, []int{3, 1}, []int{752, 248}},
		{1 << 20, []int{1, 2, 1 << 20}, []int{0, 0, 1 << 20}},
	} {
		var counted []*counting
		var engines []engine.Driver
		for range c.shares {
			one := &counting{Driver: simd.NewDriver()}
			counted, engines = append(counted, one), append(engines, one)
		}
		x := dataset.Examples{N: c.n, D: 1, X: make([]float32, c.n)}
		if _, err := together(t, c.shares, engines...).Load(x, 2); err != nil {
			t.Fatal(err)
		}
		for i, one := range counted {
			if diff := one.loaded - c.want[i]; max(diff, -diff) > 16 {
				t.Errorf("shares %v of %d: engine %d has %d, want about %d", c.shares, c.n, i, one.loaded,
					c.want[i])
			}
		}
	}
}

// counting notes how many examples a driver was given.
type counting struct {
	engine.Driver
	loaded int
}

func (c *counting) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	c.loaded = x.N
	return c.Driver.Load(x, t)
}

// breaking is a driver whose examples with labels fail when they are put into cells.
type breaking struct{ engine.Driver }

var errBroken = errors.New("the cable is loose")

func (b breaking) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	r, err := b.Driver.Load(x, t)
	return brokenCells{r.(engine.LoadedCells)}, err
}

type brokenCells struct{ engine.LoadedCells }

func (brokenCells) Assign(float32) (engine.Assignment, error) {
	return engine.Assignment{},
		errBroken
}

// TestFailed: what one engine fails to do fails, and all that comes later; the loads that were
// made when one fails are undone.
func TestFailed(t *testing.T) {
	r, err := enginetest.Small(together(t, nil, breaking{simd.NewDriver()}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Assign(0); !errors.Is(err, errBroken) {
		t.Errorf("assign: %v, want %v", err, errBroken)
	}
	if err := enginetest.CheckFailed(r); err != nil {
		t.Error(err)
	}
}

// TestDevice: the engine says which ones it is of.
func TestDevice(t *testing.T) {
	got := together(t, nil, simd.NewDriver(), cpuref.Driver{}).Device()
	if got.ID != "cpu+cpu:plain" || got.Kind != "cpu" ||
		!strings.Contains(got.Name, simd.NewDriver().Device().Name+" + "+cpuref.Driver{}.Device().Name) {
		t.Errorf("found %+v", got)
	}
}

// few returns examples of two classes.
func few() (dataset.Examples, []int32) {
	return dataset.Examples{N: 3, D: 2, X: []float32{1, 2, 3, 4, 5, 6}}, []int32{0, 1, 1}
}

// TestMeasure: each engine has a speed.
func TestMeasure(t *testing.T) {
	got, err := shard.Measure([]engine.Driver{cpuref.Driver{}, simd.NewDriver()}, 40, 3, 60000)
	if err != nil || len(got) != 2 || min(got[0], got[1]) < 10 {
		t.Errorf("found shares %v, %v", got, err)
	}
}
