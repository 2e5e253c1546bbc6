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
	"github.com/uma-gpu/uma-gpu/gpu"
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
	degree := clitest.Write(t, dir, "r.json", `{"request": {"degree": 2}}`)
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
		{"--kernel", "poly", "--request", degree, "--gamma", "1"},
		{"--kernel", "rbf"},
		{"--kernel", "rbf", "--gamma", "median"},
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
}

func TestTrainKernelErrors(t *testing.T) {
	dir := t.TempDir()
	data := ringsFile(t, dir, "train.csv", 1)
	same := clitest.Write(t, dir, "same.csv", strings.Repeat("1,2,a\n1,2,b\n", 9))
	model := filepath.Join(dir, "m.npz")
	train := []string{"train", "--model", model, "--data", data}
	degree := clitest.Write(t, t.TempDir(), "r.json", `{"request": {"degree": 2}}`)
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
		{app.ExitUsage, "--gamma big 0", []string{"--kernel", "rbf", "--gamma", "big"}},
		{app.ExitUsage, "--gamma --kernel=linear", []string{"--kernel", "linear", "--gamma", "search"}},
		{app.ExitUsage, "--degree --kernel=rbf", []string{"--kernel", "rbf", "--request", degree}},
		{app.ExitUsage, "--components 0 1", []string{"--kernel", "rbf", "--components", "0"}},
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
