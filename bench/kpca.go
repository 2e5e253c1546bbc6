package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/uma-gpu/uma-gpu/bench/device"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	_ "github.com/uma-gpu/uma-gpu/internal/openblas" // with -tags openblas
)

// fitted is what components prints. Project is the time of both files.
type fitted struct {
	Device    string   `json:"device"`
	Gamma     float32  `json:"gamma"`
	D         int      `json:"components"`
	Explained float64  `json:"explained"`
	Fit       float64  `json:"fit_seconds"`
	Project   float64  `json:"project_seconds"`
	Steps     int      `json:"lanczos_steps"`
	Notes     []string `json:"notes"`
}

// components fits kernel principal components to the examples of one .npy file, projects these and
// the ones of another file, and prints a JSON object.
func components(ctx context.Context, c *call) (err error) {
	o := pca.Options{Function: kernel.Function{Kind: kernel.RBF}, Seed: 1}
	gamma := c.flags.Float64("gamma", 0, "γ of the kernel function; 0 for 1 / median squared distance")
	c.flags.IntVar(&o.Components, "components", 0, "number of components")
	c.flags.IntVar(&o.Landmarks, "landmarks", 0, "number of landmarks; 0 for all examples")
	c.flags.StringVar(&o.Choice, "choice", pca.Uniform,
		"choice of landmarks: uniform, kmeans++ or farthest")
	on := c.flags.String("device", "cpu", device.Usage)
	out := c.flags.String("out", "", "`folder` for z.npy, zt.npy and eigenvalues.npy")
	if err := c.parse(2); err != nil {
		return err
	}
	o.Function.Gamma = float32(*gamma)
	e, err := device.Open(*on)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var x [2]dataset.Examples
	for i, path := range c.flags.Args() {
		d, err := file.Read(ctx, path, file.Options{NoLabels: true})
		if err != nil {
			return err
		}
		x[i] = d.Examples
	}
	if o.Function.Gamma == 0 {
		if o.Function.Gamma, err = pca.MedianGamma(e, x[0], o.Seed); err != nil {
			return err
		}
	}
	start := time.Now()
	b, err := pca.Fit(ctx, e, x[0], o)
	if err != nil {
		return err
	}
	learned := time.Now()
	var z [2][]float32
	for i := range z {
		z[i] = make([]float32, x[i].N*b.Axes.Q)
		if err := b.Project(ctx, e, z[i], x[i]); err != nil {
			return err
		}
	}
	f := fitted{Device: e.Device().ID, Gamma: b.Function.Gamma, D: b.Axes.Q, Explained: b.Explained,
		Steps: b.Steps, Notes: b.Notes(),
		Fit: learned.Sub(start).Seconds(), Project: time.Since(learned).Seconds()}
	if *out != "" {
		err = errors.Join(writeArray(filepath.Join(*out, "z.npy"), "<f4", z[0], x[0].N, f.D),
			writeArray(filepath.Join(*out, "zt.npy"), "<f4", z[1], x[1].N, f.D),
			writeArray(filepath.Join(*out, "eigenvalues.npy"), "<f8", b.Eigenvalues, f.D))
	}
	return errors.Join(err, json.NewEncoder(c.stdout).Encode(f))
}

// writeArray writes a .npy file.
func writeArray(path, dtype string, values any, shape ...int) error {
	b, err := binary.Append(npyfile.Header(dtype, shape...), binary.LittleEndian, values)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}
