package model

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

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
