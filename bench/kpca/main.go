// Command kpca fits kernel principal components of the examples of one .npy file,
// projects those and the ones of another, and prints how long that took and what was found
// as one JSON object. bench/peers/kpca.py compares it with scikit-learn.
//
//	go run ./bench/kpca -gamma 0.5 -components 640 -out folder train.npy test.npy
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	_ "github.com/uma-gpu/uma-gpu/internal/openblas" // with -tags openblas
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0, 1 after a failure, 2 for wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("kpca", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o pca.Options
	flags.StringVar(&o.Function.Kind, "kernel", "rbf", "kernel `function`: rbf, poly or linear")
	gamma := flags.Float64("gamma", 0, "γ of the kernel function; 0 for 1 / median squared distance")
	coef0 := flags.Float64("coef0", 1, "constant of poly")
	flags.IntVar(&o.Function.Degree, "degree", 3, "degree of poly")
	flags.BoolVar(&o.Cosine, "cosine", false, "scale examples to length 1")
	flags.IntVar(&o.Components, "components", 0, "number of components")
	flags.Float64Var(&o.Variance, "variance", 0, "share of variance that chooses the number of components")
	flags.IntVar(&o.Landmarks, "landmarks", 0, "number of landmarks; 0 for all examples")
	flags.StringVar(&o.Choice, "choice", pca.Uniform, "choice of landmarks: uniform, kmeans++ or farthest")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed")
	flags.Int64Var(&o.MemoryLimit, "memory", 0, "limit in `bytes`")
	device := flags.String("device", "cpu", "cpu, cpu:plain, or opencl for the first OpenCL device")
	out := flags.String("out", "", "`folder` for z.npy, zt.npy and eigenvalues.npy")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() != 2 {
		fmt.Fprintln(stderr, "kpca: wanted two files, training and test examples")
		return 2
	}
	o.Function.Gamma, o.Function.Coef0 = float32(*gamma), float32(*coef0)
	found, err := measure(*device, flags.Arg(0), flags.Arg(1), *out, o)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(stderr, "kpca:", err)
		return 1
	}
	return 0
}

// result is what is printed. Projecting is that of both files.
type result struct {
	Device    string   `json:"device"`
	Gamma     float32  `json:"gamma"`
	D         int      `json:"components"`
	Explained float64  `json:"explained"`
	Fit       float64  `json:"fit_seconds"`
	Project   float64  `json:"project_seconds"`
	Steps     int      `json:"lanczos_steps"`
	Notes     []string `json:"notes"`
}

func measure(device, train, test, out string, o pca.Options) (*result, error) {
	e, err := open(device)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	var x [2]dataset.Examples
	for i, path := range []string{train, test} {
		d, err := dataset.Read(context.Background(), path, dataset.Options{NoLabels: true})
		if err != nil {
			return nil, err
		}
		x[i] = d.Examples
	}
	if o.Function.Gamma == 0 {
		if o.Function.Gamma, err = pca.MedianGamma(e, x[0], o.Seed); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	b, err := pca.Fit(context.Background(), e, x[0], o)
	if err != nil {
		return nil, err
	}
	fitted := time.Now()
	var z [2][]float32
	for i := range z {
		z[i] = make([]float32, x[i].N*b.Axes.Q)
		if err := b.Project(context.Background(), e, z[i], x[i]); err != nil {
			return nil, err
		}
	}
	r := &result{Device: e.Device().ID, Gamma: b.Function.Gamma, D: b.Axes.Q, Explained: b.Explained,
		Steps: b.Steps, Notes: b.Notes(),
		Fit: fitted.Sub(start).Seconds(), Project: time.Since(fitted).Seconds()}
	if out == "" {
		return r, nil
	}
	return r, errors.Join(
		write(filepath.Join(out, "z.npy"), "<f4", z[0], x[0].N, r.D),
		write(filepath.Join(out, "zt.npy"), "<f4", z[1], x[1].N, r.D),
		write(filepath.Join(out, "eigenvalues.npy"), "<f8", b.Eigenvalues, r.D))
}

func open(device string) (engine.Engine, error) {
	switch device {
	case "cpu":
		return simd.New(), nil
	case "cpu:plain":
		return cpuref.New(), nil
	case "opencl":
		devices, err := gpu.Devices()
		if err != nil {
			return nil, err
		}
		return gpu.Open(devices[0], gpu.Options{})
	}
	return nil, fmt.Errorf("found device %q, wanted cpu, cpu:plain or opencl", device)
}

func write(path, dtype string, values any, shape ...int) error {
	b, err := binary.Append(npyfile.Header(dtype, shape...), binary.LittleEndian, values)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}
