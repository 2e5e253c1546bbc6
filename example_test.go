package umagpu_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// must returns value, or ends the example.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// rings draws points of the plane in three rings, and the number of each point's ring.
func rings(n int) (x [][]float64, ring []int) {
	rng := rand.New(rand.NewPCG(1, 5))
	for i := range n {
		radius, angle := 1+2*float64(i%3)+0.3*rng.NormFloat64(), 2*math.Pi*rng.Float64()
		x = append(x, []float64{radius * math.Cos(angle), radius * math.Sin(angle)})
		ring = append(ring, i%3)
	}
	return x, ring
}

// corners draws points of the plane near the corners of a triangle, and the number of each point's
// corner.
func corners(n int) (x [][]float64, corner []int) {
	rng := rand.New(rand.NewPCG(1, 7))
	for i := range n {
		angle := 2 * math.Pi * float64(i%3) / 3
		x = append(x, []float64{math.Cos(angle) + 0.2*rng.NormFloat64(), math.Sin(angle) +
			0.2*rng.NormFloat64()})
		corner = append(corner, i%3)
	}
	return x, corner
}

// mislabelled moves the labels of 40 % of the examples to the next class.
func mislabelled(right []int) []int {
	rng := rand.New(rand.NewPCG(2, 2))
	noisy := slices.Clone(right)
	for i := range noisy {
		if rng.Float64() < 0.4 {
			noisy[i] = (noisy[i] + 1) % 3
		}
	}
	return noisy
}

// fortyPercent is the noise of mislabelled: rows are noisy labels, columns true classes.
var fortyPercent = &umagpu.Noise{P: [][]float64{{0.6, 0, 0.4}, {0.4, 0.6, 0}, {0, 0.4, 0.6}}}

// correct returns how many classes are right, in per cent.
func correct(predicted []string, right []int) int {
	n := 0
	for i, name := range predicted {
		if name == fmt.Sprint(right[i]) {
			n++
		}
	}
	return 100 * n / len(right)
}

// Learns from labels, 40 % of them wrong in a known way, saves the model and loads it.
func ExampleFit() {
	ctx := context.Background()
	points, right := corners(600)
	x := umagpu.Rows(points)
	learner := softmax.Defaults()
	learner.L2 = softmax.L2(0.001)
	m := must(umagpu.Fit(ctx, x, mislabelled(right), umagpu.Options{Noise: fortyPercent,
		Learner: learner}))

	folder := must(os.MkdirTemp("", "umagpu"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "m.npz")
	if err := m.Save(path); err != nil {
		log.Fatal(err)
	}
	m = must(umagpu.Load(path))
	fmt.Println("more than 95 % right:", correct(must(m.Predict(ctx, x)), right) > 95)
	fmt.Println(m.Classes(), len(must(m.Probabilities(ctx, x))[0]))
	// Output:
	// more than 95 % right: true
	// [0 1 2] 3
}

// Learns curved boundaries between classes.
func ExampleFit_kernel() {
	ctx := context.Background()
	points, right := rings(600)
	x := umagpu.Rows(points)
	m := must(umagpu.Fit(ctx, x, mislabelled(right), umagpu.Options{
		Noise:  fortyPercent,
		Kernel: &umagpu.Kernel{Function: umagpu.RBF, Gamma: 0.5, Components: 30},
	}))
	fmt.Println("more than 90 % right:", correct(must(m.Predict(ctx, x)), right) > 90)
	// Output: more than 90 % right: true
}

// Learns from the labels of three workers, one of whom is often wrong.
func ExampleFit_crowd() {
	ctx := context.Background()
	points, right := corners(300)
	var votes []umagpu.Vote
	for i, noisy := range mislabelled(right) {
		votes = append(votes, umagpu.Vote{Example: i, Worker: "ann", Label: fmt.Sprint(right[i])},
			umagpu.Vote{Example: i, Worker: "bob", Label: fmt.Sprint(right[i])},
			umagpu.Vote{Example: i, Worker: "eve", Label: fmt.Sprint(noisy)})
	}
	x := umagpu.Rows(points)
	m := must(umagpu.Fit[string](ctx, x, nil, umagpu.Options{Votes: votes}))
	fmt.Println("more than 95 % right:", correct(must(m.Predict(ctx, x)), right) > 95)
	// Output: more than 95 % right: true
}

// Computes on the first OpenCL device, whose results the processor samples, or on the processor
// where there is none: the weights have the same bits.
func ExampleOptions_gpu() {
	ctx := context.Background()
	driver := simd.NewDriver()
	if devices, err := gpu.Devices(); err == nil && len(devices) > 0 {
		if opened, err := gpu.OpenDriver(devices[0], gpu.Options{}); err == nil {
			driver = audit.Driver(opened, driver, audit.Sample)
		}
	}
	e := engine.New(driver)
	defer e.Close() // nothing to lose
	points, right := corners(300)
	x := umagpu.Rows(points)
	o := umagpu.Options{Learner: uma.Defaults(), MaxSteps: 20, Noise: fortyPercent}
	processor := must(umagpu.Fit(ctx, x, right, o))
	o.Engine = e
	device := must(umagpu.Fit(ctx, x, right, o))
	fmt.Println("the same weights:", slices.Equal(device.Host().W, processor.Host().W))
	// Output: the same weights: true
}

// Computes on two engines, each with a share of the examples.
func ExampleOptions_shards() {
	ctx := context.Background()
	points, right := corners(300)
	x := umagpu.Flat(slices.Concat(points...), 2)
	alone := must(umagpu.Fit(ctx, x, right, umagpu.Options{MaxSteps: 20}))
	e := engine.New(must(shard.New([]engine.Driver{simd.NewDriver(), cpuref.Driver{}}, []int{3, 1})))
	defer e.Close() // nothing to lose
	both := must(umagpu.Fit(ctx, x, right, umagpu.Options{MaxSteps: 20, Engine: e}))
	fmt.Println("the same weights:", slices.Equal(alone.Host().W, both.Host().W))
	// Output: the same weights: true
}

// Saves a training as it goes, and continues it from the file, to the same weights.
func ExampleOptions_checkpoints() {
	folder := must(os.MkdirTemp("", "umagpu"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "checkpoint.npz")
	ctx := context.Background()
	points, right := corners(300)
	x, noisy := umagpu.Rows(points), mislabelled(right)
	o := umagpu.Options{Learner: uma.Defaults(), MaxSteps: 30, Noise: fortyPercent}
	straight := must(umagpu.Fit(ctx, x, noisy, o))

	o.Checkpoint = host.Checkpoint{Path: path, Steps: 20, Every: time.Hour}
	must(umagpu.Fit(ctx, x, noisy, o)) // the file has its first 20 steps
	m := must(umagpu.Load(path))
	fmt.Println("saved after", m.Steps(), "steps")
	again := must(umagpu.Fit(ctx, x, noisy, umagpu.Options{Noise: fortyPercent, Resume: m}))
	fmt.Println("the same weights:", slices.Equal(again.Host().W, straight.Host().W))
	// Output:
	// saved after 20 steps
	// the same weights: true
}
