package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu"
)

// rewrite copies a model file with other bytes for one member; nil leaves it out.
func rewrite(t *testing.T, from, to, name string, data []byte) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	found := false
	for _, m := range members(t, from) {
		if m.Name == name {
			found, m.Data = true, data
		}
		if m.Data == nil {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, bytes.NewReader(m.Data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil || !found {
		t.Fatalf("%s in %s: found %v, %v", name, from, found, err)
	}
}

// devicesHere are the names of the processor and, if there is OpenCL in the program, of
// its first device.
func devicesHere(t *testing.T) []string {
	t.Helper()
	all := []string{"cpu"}
	if gpu.Built {
		infos, err := gpu.Devices()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, infos[0].ID())
	}
	return all
}

// with is a command line with more at its end.
func with(args []string, more ...string) []string { return slices.Concat(args, more) }
