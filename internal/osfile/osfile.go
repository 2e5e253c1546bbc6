// Package osfile reads small files within limits, maps large ones into memory, and writes files
// whole or not at all.
package osfile

import (
	"io/fs"
	"os"
)

// Cause returns what package os says went wrong without the operation and the
// path in front of it, for a message that names the file in its own way. Only
// an error that is itself of package os loses anything; nil stays nil.
func Cause(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *os.SyscallError:
		return e.Err
	}
	return err
}

// Kind names what a file of this mode is, with its article: "a folder", "a device",
// "a pipe", "a socket", "a symbolic link", "a regular file", or "a special file"
// for the rest.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a special file"
}
