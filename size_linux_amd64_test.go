package umagpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mostPackages are packages from elsewhere that a program links which imports only this package,
// most of them of the standard library: 27 are crypto/sha256.
const mostPackages = 123

// TestFrontDoorIsSmall: a program that imports only this package is small, and has no server,
// template, Parquet or zstd. Other systems have other numbers.
func TestFrontDoorIsSmall(t *testing.T) {
	command := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("go", args...).Output()
		if err != nil {
			t.Fatalf("go %v: %v", args, err)
		}
		return string(out)
	}
	packages := strings.Fields(command("list", "-deps", "."))
	elsewhere := 0
	for _, p := range packages {
		if !strings.HasPrefix(p, "github.com/uma-gpu/uma-gpu") { // a new learner is one more
			elsewhere++
		}
		for _, banned := range []string{"github.com/klauspost", "gonum.org/v1/gonum/mat", "net/http",
			"text/template", "github.com/parquet-go"} {
			if strings.HasPrefix(p, banned) {
				t.Errorf("package %s is linked, want none of %s", p, banned)
			}
		}
	}
	if elsewhere > mostPackages {
		t.Errorf("packages from elsewhere: got %d, want at most %d", elsewhere, mostPackages)
	}
	const plain = `package main

import (
	"context"

	umagpu "github.com/uma-gpu/uma-gpu"
)

func main() {
	ctx := context.Background()
	x := umagpu.Data{Matrix: &umagpu.Matrix{Rows: 2, Columns: 2, Float64: []float64{0, 1, 1, 0}}}
	y, err := umagpu.NewLabels([]string{"no", "yes"}, nil)
	if err != nil {
		panic(err)
	}
	r, err := umagpu.Train(ctx, &umagpu.TrainRequest{Data: x, Labels: y})
	if err != nil {
		panic(err)
	}
	if err := r.Model.Save("m.npz"); err != nil {
		panic(err)
	}
	m, err := umagpu.Load("m.npz")
	if err != nil {
		panic(err)
	}
	if _, err := umagpu.Predict(ctx, &umagpu.PredictRequest{Model: m, Data: x}); err != nil {
		panic(err)
	}
}
`
	folder := t.TempDir()
	source, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
	if err := os.WriteFile(source, []byte(plain), 0o666); err != nil {
		t.Fatal(err)
	}
	command("build", "-o", program, source)
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", info.Size()); info.Size() > 8_900_000 {
		t.Errorf("got %d bytes, want at most 8,900,000", info.Size())
	}
}
