//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A matrix from a pipe: who writes late is waited for, what a writer left behind is read, an
// interrupt ends the waiting for one who never comes, and a pipe in which nothing was found, as a
// matrix or as data, is not read again.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	matrix := filepath.Join(dir, "C.csv")
	succeed(t, "confusion", "inject", "--data", data, "--symmetric", "0.2", "--out", filepath.Join(dir,
		"noisy.csv"), "--write-confusion", matrix)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	train := []string{"train", "--data", filepath.Join(dir, "noisy.csv"), "--confusion", pipe,
		"--device", "cpu", "--max-steps", "3", "--model", filepath.Join(dir, "m.npz")}
	text := read(t, matrix)
	writes := func(text []byte) {
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the training waits for the matrix
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		w.Write(text) // what is lost shows as an error of the training
	}
	go writes(text)
	succeed(t, train...)
	for _, line := range [][]string{train, {"info", "--data", pipe}} {
		go writes(nil)
		if code, _, stderr := command(line...); code != app.ExitFailure {
			t.Errorf("%v: exit code %d, wanted %d\n%s", line, code, app.ExitFailure, stderr)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	var out, err strings.Builder
	code := program.Run(ctx, train, &out, &err)
	if code != app.ExitInterrupted || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("exit code %d, %s%s, wanted %d", code, &out, &err, app.ExitInterrupted)
	}
}

// The files of a command find their places together: of a split whose second part cannot be
// written there is nothing.
func TestSplitIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	data := write(t, dir, "leaves.csv", "long,wide,tree\n"+strings.Repeat("1,2,red oak\n3,4,ash\n",
		20))
	// which has no room for a space
	first, second := filepath.Join(dir, "first.csv"), filepath.Join(dir, "second.svm")
	code, _, stderr := command("split", "--data", data, "--fractions", "0.5,0.5", "--out", first,
		"--out", second)
	if code != app.ExitFailure || !facts.Told(stderr, "second.svm") ||
		strings.Contains(stderr, "written to") {
		t.Errorf("%d, %s", code, stderr)
	}
	for _, path := range []string{first, second} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}
