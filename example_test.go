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

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
)

// must returns value, or ends the example.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// rings draws n points of the plane in three rings, and the ring of each.
func rings(n int) (d umagpu.Data, ring []int32) {
	rng := rand.New(rand.NewPCG(1, 5))
	x := []float64{}
	for i := range n {
		radius, angle := 1+2*float64(i%3)+0.3*rng.NormFloat64(), 2*math.Pi*rng.Float64()
		x = append(x, radius*math.Cos(angle), radius*math.Sin(angle))
		ring = append(ring, int32(i%3))
	}
	return umagpu.Data{Matrix: &umagpu.Matrix{Rows: n, Columns: 2, Float64: x}}, ring
}

// right returns how many codes are right, in per cent.
func right(codes, true []int32) int {
	n := 0
	for i, code := range codes {
		if code == true[i] {
			n++
		}
	}
	return 100 * n / len(true)
}

// Learns from labels, 40 % of them wrong in a known way, saves the model and loads it.
func ExampleTrain() {
	ctx := context.Background()
	r, corner := request(600)
	trained := must(umagpu.Train(ctx, r))

	folder := must(os.MkdirTemp("", "umagpu"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "m.npz")
	if err := trained.Model.Save(path); err != nil {
		log.Fatal(err)
	}
	m := must(umagpu.Load(path))
	p := must(umagpu.Predict(ctx, &umagpu.PredictRequest{Model: m, Data: r.Data}))
	fmt.Printf("more than 95 %% right: %v\n%q\n", right(p.Codes, corner) > 95, p.Classes)
	// Output:
	// more than 95 % right: true
	// [" a" "" "1_0"]
}

// Learns curved boundaries between classes.
func ExampleTrain_kernel() {
	ctx := context.Background()
	x, ring := rings(600)
	trained := must(umagpu.Train(ctx, &umagpu.TrainRequest{Data: x, Confusion: fortyPercent,
		Labels:   &umagpu.Labels{Classes: []string{"in", "mid", "out"}, Codes: mislabelled(ring)},
		Settings: umagpu.Settings{Kernel: "rbf", Gamma: "0.5", Components: 30}}))
	p := must(umagpu.Predict(ctx, &umagpu.PredictRequest{Model: trained.Model, Data: x}))
	fmt.Println("more than 90 % right:", right(p.Codes, ring) > 90)
	// Output: more than 90 % right: true
}

// Learns from the labels of three workers, one of whom is often wrong.
func ExampleTrain_crowd() {
	ctx := context.Background()
	r, corner := request(300)
	votes := &umagpu.Votes{Names: []string{"ann", "bob", "eve"}}
	for i, noisy := range r.Labels.Codes {
		for worker, code := range []int32{corner[i], corner[i], noisy} {
			votes.Rows = append(votes.Rows, int32(i))
			votes.By, votes.Codes = append(votes.By, int32(worker)), append(votes.Codes, code)
		}
	}
	trained := must(umagpu.Train(ctx, &umagpu.TrainRequest{Data: r.Data,
		Labels: &umagpu.Labels{Classes: r.Labels.Classes, Votes: votes}}))
	eve := trained.Annotators[2]
	fmt.Println(eve.Name, "is right in less than 70 %:", eve.Right < 0.7)
	// Output: eve is right in less than 70 %: true
}

// Computes on the first OpenCL device, whose results the processor samples, or on the processor
// where there is none: the weights have the same bits.
func ExampleCompute_gpu() {
	ctx := context.Background()
	driver := simd.NewDriver()
	if devices, err := gpu.Devices(); err == nil && len(devices) > 0 {
		if opened, err := gpu.OpenDriver(devices[0], gpu.Options{}); err == nil {
			driver = audit.Driver(opened, driver, audit.Sample)
		}
	}
	e := engine.New(driver)
	defer e.Close() // nothing to lose
	r, _ := request(300)
	processor := must(umagpu.Train(ctx, r))
	r.Compute.Engine = e
	device := must(umagpu.Train(ctx, r))
	fmt.Println("the same weights:", slices.Equal(device.Model.Host().W, processor.Model.Host().W))
	// Output: the same weights: true
}

// Computes on two engines, each with a share of the examples.
func ExampleCompute_shards() {
	ctx := context.Background()
	r, _ := request(300)
	alone := must(umagpu.Train(ctx, r))
	e := engine.New(must(shard.New([]engine.Driver{simd.NewDriver(), cpuref.Driver{}}, []int{3, 1})))
	defer e.Close() // nothing to lose
	r.Compute.Engine = e
	both := must(umagpu.Train(ctx, r))
	fmt.Println("the same weights:", slices.Equal(alone.Model.Host().W, both.Model.Host().W))
	// Output: the same weights: true
}

// Saves a training as it goes, and continues it from the file, to the same weights.
func ExampleTrain_checkpoint() {
	folder := must(os.MkdirTemp("", "umagpu"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "checkpoint.npz")
	ctx := context.Background()
	r, _ := request(300)
	r.Settings = umagpu.Settings{Learner: "uma", MaxSteps: new(30)}
	straight := must(umagpu.Train(ctx, r))

	r.Checkpoint = host.Checkpoint{Path: path, Steps: 20}
	must(umagpu.Train(ctx, r)) // the file has its first 20 steps
	again := must(umagpu.Train(ctx, &umagpu.TrainRequest{Data: r.Data, Labels: r.Labels,
		Confusion: r.Confusion, Resume: must(umagpu.Load(path))}))
	fmt.Println("the same weights:", slices.Equal(again.Model.Host().W, straight.Model.Host().W))
	// Output: the same weights: true
}

// Finds and corrects wrong labels, by the first 60 examples, which somebody has checked.
func ExampleClean() {
	x, corner := corners(600)
	codes := slices.Clone(corner)
	for i := 0; i < len(codes); i += 10 {
		codes[i] = (codes[i] + 1) % 3
	}
	checked := slices.Concat(corner[:60], slices.Repeat([]int32{-1}, 540))
	cleaned := must(umagpu.Clean(context.Background(), &umagpu.CleanRequest{Checked: checked,
		Data:   umagpu.Data{Matrix: &umagpu.Matrix{Rows: 600, Columns: 2, Float64: x}},
		Labels: &umagpu.Labels{Classes: []string{"a", "b", "c"}, Codes: codes}}))
	fmt.Println("right labels:", right(codes, corner), "%; now", right(cleaned.Cleaned, corner), "%")
	// Output: right labels: 90 %; now 99 %
}
