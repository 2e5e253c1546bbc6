package model

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestWriteToFullDevice(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := sample().Write(f); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, syscall.ENOSPC)
	}
}

// A limit on file sizes stops the kernel in the middle of a write, as a full disk
// does, and needs no rights.
func TestSaveBeyondFileSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	write(t, path, "old")
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000,
		Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	err := sample().Save(path)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EFBIG) || !facts.Told(err, path+" written") || !facts.Told(err,
		"ulimit") {
		t.Errorf("error %v, want %v with the path and what to do", err, syscall.EFBIG)
	}
	wantFiles(t, filepath.Dir(path), "m.npz")
	wantText(t, path, "old")
	if err := sample().Save(path); err != nil {
		t.Error(err)
	}
}

func TestLoadOfPipeDoesNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !facts.Told(err, "pipe") {
		t.Errorf("Load: error %v", err)
	}
	if err := sample().Save(path); !facts.Told(err, "pipe") {
		t.Errorf("Save: error %v", err)
	}
}
