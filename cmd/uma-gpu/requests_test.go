package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
)

// TestRequests: each command runs by its golden request, and the result has the same request.
func TestRequests(t *testing.T) {
	folder, err := filepath.Abs("testdata/requests")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(clitest.NoisyParts(t))
	clitest.Succeed(t, "train", "--data", "train.csv", "--confusion", "C.csv", "--model", "m.npz",
		"--max-steps", "20")
	clitest.Write(t, ".", "checked.csv", "row,label\n1,0\n2,1\n")
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 10 {
		t.Fatalf("%d requests, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".json")
		words := strings.Split(name, "-")
		text := clitest.Read(t, filepath.Join(folder, f.Name()))
		args := append(words, "--quiet", "--request", filepath.Join(folder, f.Name()))
		if name == "predict" { // prints predictions
			clitest.Succeed(t, args...)
			continue
		}
		stdout, _ := clitest.Succeed(t, append(args, "--json")...)
		if got, want := requestIn(t, stdout), compact(t, text); got != want {
			t.Errorf("%s: the result has the request\n%s\nwant\n%s", name, got, want)
		}
		// A result is a request too.
		again := clitest.Write(t, ".", "result.json", stdout)
		second, _ := clitest.Succeed(t, append(words, "--quiet", "--json", "--request", again)...)
		if got, want := requestIn(t, second), compact(t, text); got != want {
			t.Errorf("%s: its result as a request has the request\n%s\nwant\n%s", name, got, want)
		}
	}
}

// requestIn returns the request in a result.
func requestIn(t *testing.T, stdout string) string {
	var result struct{ Request json.RawMessage }
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	return compact(t, result.Request)
}

func compact(t *testing.T, text []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return b.String()
}
