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
)

// A matrix from a pipe: who writes late is waited for, what a writer left behind is read, and an interrupt ends
// the waiting for one who never comes.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	matrix := filepath.Join(dir, "C.csv")
	succeed(t, "confusion", "inject", "--data", data, "--symmetric", "0.2", "--out", filepath.Join(dir, "noisy.csv"),
		"--write-confusion", matrix)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	train := []string{"train", "--data", filepath.Join(dir, "noisy.csv"), "--confusion", pipe, "--device", "cpu",
		"--max-steps", "3", "--model", filepath.Join(dir, "m.npz")}
	text := read(t, matrix)
	go func() {
		time.Sleep(100 * time.Millisecond)
		os.WriteFile(pipe, text, 0) // returns when somebody has read
	}()
	succeed(t, train...)

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	var out, err strings.Builder
	if code := runContext(ctx, train, &out, &err); code != exitInterrupted || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("exit code %d, %s%s, wanted %d", code, &out, &err, exitInterrupted)
	}
}

// The files of a command find their places together: of a split whose second part is too large there is nothing.
func TestSplitIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	small, large := filepath.Join(dir, "tenth.csv"), filepath.Join(dir, "rest.csv")
	split := []string{"split", "--data", data, "--fractions", "0.1,0.9", "--out", small, "--out", large, "--quiet"}
	info, err := os.Stat(data)
	if err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: uint64(info.Size() / 2), Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := command(split...)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if code != exitFailure || !strings.Contains(stderr, "rest.csv: cannot be written") {
		t.Errorf("%d, %s", code, stderr)
	}
	for _, path := range []string{small, large} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	succeed(t, split...)
}
