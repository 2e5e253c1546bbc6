//go:build !linux

package osfile

import (
	"errors"
	"os"
)

// createNameless returns nil: this system knows no files without names.
func createNameless(string, os.FileMode) *os.File { return nil }

func link(*os.File, string) error { return errors.ErrUnsupported }

func exchange(string, string) error { return errors.ErrUnsupported }

func lock(*os.File) {}

func sweep(string) {}

func sameRights(string, os.FileInfo) error { return errors.ErrUnsupported }
