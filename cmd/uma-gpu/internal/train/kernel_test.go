package train_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/kpca"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// ringsFile writes points in two rings, which no line tells apart.
func ringsFile(t *testing.T, dir, name string, seed uint64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	var text strings.Builder
	for i := range 300 {
		radius, angle := 1+2*float64(i%2)+0.25*rng.NormFloat64(), 2*math.Pi*rng.Float64()
		fmt.Fprintf(&text, "%.4f,%.4f,%s\n", radius*math.Cos(angle), radius*math.Sin(angle),
			[]string{"in", "out"}[i%2])
	}
	return clitest.Write(t, dir, name, text.String())
}

// TestTrainKernel: training, judging and predicting with kernel PCA, alike on all devices.
func TestTrainKernel(t *testing.T) {
	dir := t.TempDir()
	data, test := ringsFile(t, dir, "train.csv", 1), ringsFile(t, dir, "test.csv", 2)
	model := filepath.Join(dir, "m.npz")
	evaluate := func() float64 {
		stdout, _ := clitest.Succeed(t, "eval", "--model", model, "--data", test, "--json")
		return clitest.Decode[eval.Report](t, stdout).ErrorRate
	}
	clitest.Succeed(t, "train", "--data", data, "--model", model)
	if rate := evaluate(); rate < 0.3 {
		t.Errorf("a line tells the rings apart, but for %v", rate)
	}
	var members []byte
	devices := []string{"cpu", "cpu:plain"}
	if gpu.Built {
		devices = append(devices, "opencl")
	}
	for _, device := range devices {
		_, said := clitest.Succeed(t, "train", "--data", data, "--model", model, "--device", device,
			"--kernel", "rbf", "--components", "30", "--landmarks", "100", "--gamma", "search",
			"--max-steps", "50")
		if !facts.Told(said, "taken") || !facts.Told(said, "components") {
			t.Errorf("%s: said %s", device, said)
		}
		if rate := evaluate(); rate > 0.03 {
			t.Errorf("%s: error rate %v", device, rate)
		}
		var all []byte
		for _, name := range []string{"W.npy", "landmarks.npy", "axes.npy", "offset.npy"} {
			all = append(all, clitest.Member(t, model, name)...)
		}
		if members == nil {
			members = all
		}
		if !bytes.Equal(all, members) {
			t.Errorf("%s: another model", device)
		}
	}
	for _, more := range [][]string{
		{"--kernel", "poly", "--degree", "2", "--gamma", "1"},
		{"--kernel", "rbf"},
		{"--kernel", "rbf", "--gamma", "median"},
		{"--kernel", "rbf", "--variance", "0.9"},
		{"--kernel", "rbf", "--landmarks", "50", "--normalize-components", "l2"},
		{"--kernel", "rbf", "--landmarks", "50", "--storage", "sparse", "--normalize", "none"},
	} {
		clitest.Succeed(t, append([]string{"train", "--data", data, "--model", model, "--max-steps",
			"200"},
			more...)...)
		if rate := evaluate(); rate > 0.06 {
			t.Errorf("%v: error rate %v", more, rate)
		}
	}
	clitest.Succeed(t, "train", "--data", data, "--model", model, "--kernel", "cosine", "--components",
		"2")
	stdout, _ := clitest.Succeed(t, "train", "--data", data, "--kernel", "rbf", "--dry-run")
	if !strings.Contains(stdout, "300 landmarks, their coordinates") {
		t.Errorf("dry run: %s", stdout)
	}
	stdout, _ = clitest.Succeed(t, "train", "--data", data, "--kernel", "rbf", "--dry-run",
		"--learner", "uma")
	if !strings.Contains(stdout, "300 landmarks, components: 299") {
		t.Errorf("dry run of another learner: %s", stdout)
	}
}

func TestTrainKernelErrors(t *testing.T) {
	dir := t.TempDir()
	data := ringsFile(t, dir, "train.csv", 1)
	same := clitest.Write(t, dir, "same.csv", strings.Repeat("1,2,a\n1,2,b\n", 9))
	model := filepath.Join(dir, "m.npz")
	train := []string{"train", "--model", model, "--data", data}
	for _, c := range []struct {
		code     int
		fragment string
		args     []string
	}{
		{app.ExitUsage, "--components --kernel", []string{"--components", "3"}},
		{app.ExitUsage, "--normalize-components --kernel", []string{"--normalize-components", "l2"}},
		{app.ExitUsage, `--kernel "sigmoid"`, []string{"--kernel", "sigmoid"}},
		{app.ExitUsage, "gamma 0 finite 0", []string{"--kernel", "rbf", "--gamma", "0"}},
		{app.ExitUsage, "gamma -1", []string{"--kernel", "rbf", "--gamma", "-1"}},
		{app.ExitUsage, `--gamma "big" 0`, []string{"--kernel", "rbf", "--gamma", "big"}},
		{app.ExitUsage, "--gamma --kernel linear", []string{"--kernel", "linear", "--gamma", "search"}},
		{app.ExitUsage, "--degree --kernel rbf", []string{"--kernel", "rbf", "--degree", "2"}},
		{app.ExitUsage, "degree 0", []string{"--kernel", "poly", "--degree", "0"}},
		{app.ExitUsage, "--components 1 --variance", []string{"--kernel", "rbf", "--components", "0"}},
		{app.ExitUsage, "--components 1 --variance", []string{"--kernel", "rbf", "--components", "5",
			"--variance", "0.5"}},
		{app.ExitUsage, "--variance 1.5", []string{"--kernel", "rbf", "--variance", "1.5"}},
		{app.ExitUsage, `--landmarks "0"`, []string{"--kernel", "rbf", "--landmarks", "0"}},
		{app.ExitUsage, "--normalize-components", []string{"--kernel", "rbf", "--normalize-components",
			"whiten"}},
		{app.ExitFailure, "train.csv PCA 301 landmarks example 300", []string{"--kernel", "rbf",
			"--landmarks", "301"}},
		{app.ExitFailure, "300 components 299", []string{"--kernel", "rbf", "--components", "300"}},
		{app.ExitFailure, "4 components 2", []string{"--kernel", "linear", "--components", "4"}},
		{app.ExitFailure, "same.csv same feature space", []string{"--data", same, "--kernel", "rbf",
			"--gamma", "1"}},
	} {
		clitest.Fail(t, c.code, c.fragment, append(train, c.args...)...)
	}
	if got := clitest.Names(t, dir); len(got) != 2 {
		t.Errorf("errors left %v", got)
	}
}

// TestKPCA: what transform writes is what the basis says, with the labels where they fit.
func TestKPCA(t *testing.T) {
	dir := t.TempDir()
	data, test := ringsFile(t, dir, "train.csv", 1), ringsFile(t, dir, "test.csv", 2)
	basis := filepath.Join(dir, "b.npz")
	stdout, _ := clitest.Succeed(t, "kpca", "fit", "--data", data, "--kernel", "rbf", "--gamma", "0.5",
		"--components", "7", "--basis", basis, "--json")
	r := clitest.Decode[kpca.Report](t, stdout)
	if r.Examples != 300 || r.Features != 2 || r.Kernel.Components != 7 || r.Kernel.Landmarks != 300 ||
		len(r.Eigenvalues) != 7 || r.Kernel.Explained < 0.5 {
		t.Errorf("found %+v", r)
	}
	if stdout, _ := clitest.Succeed(t, "kpca", "fit", "--data", data,
		"--components", "7", "--basis", basis); !strings.Contains(stdout,
		"components  7 of 300 landmarks") {
		t.Errorf("said %s", stdout)
	}
	var first []float32
	for _, out := range []string{"z.npy", "z.npz", "z.csv", "z.npy.gz"} {
		path := filepath.Join(dir, out)
		clitest.Succeed(t, "kpca", "transform", "--basis", basis, "--data", test, "--out", path,
			"--device", map[bool]string{true: "opencl", false: "cpu"}[out == "z.npz" && gpu.Built])
		labels := !strings.Contains(out, ".npy")
		d, err := file.Read(t.Context(), path, file.Options{NoLabels: !labels})
		if err != nil {
			t.Fatal(err)
		}
		if d.N != 300 || d.D != 7 || labels != (len(d.Classes) == 2) {
			t.Errorf("%s: %d×%d, classes %v", out, d.N, d.D, d.Classes)
		}
		if first == nil {
			first = d.X
		}
		for k := range first {
			if d.X[k] != first[k] {
				t.Fatalf("%s: value %d is %v, wanted %v", out, k, d.X[k], first[k])
			}
		}
	}
	model := filepath.Join(dir, "m.npz")
	clitest.Succeed(t, "train", "--data", data, "--model", model)
	wide := clitest.Write(t, dir, "wide.csv", "1,2,3,a\n1,3,2,b\n")
	out := filepath.Join(dir, "no.npy")
	for _, c := range []struct {
		code     int
		fragment string
		args     []string
	}{
		{app.ExitUsage, "--basis missing", []string{"fit", "--data", data}},
		{app.ExitUsage, "--basis --data", []string{"fit", "--data", data, "--basis", data}},
		{app.ExitUsage, "median", []string{"fit", "--data", data, "--basis", out, "--gamma", "search"}},
		{app.ExitUsage, "z.parquet name", []string{"transform", "--basis", basis, "--data", test, "--out",
			"z.parquet"}},
		{app.ExitFailure, "basis.json", []string{"transform", "--basis", model, "--data", test, "--out",
			out}},
		{app.ExitFailure, "none.npz", []string{"transform", "--basis", "none.npz", "--data", test,
			"--out", out}},
		{app.ExitFailure, "wide.csv:1 3 2", []string{"transform", "--basis", basis, "--data", wide,
			"--out", out}},
	} {
		clitest.Fail(t, c.code, c.fragment, append([]string{"kpca"}, c.args...)...)
	}
	if got := strings.Join(clitest.Names(t, dir), " "); strings.Contains(got, "no.npy") {
		t.Errorf("errors left %v", got)
	}
}
