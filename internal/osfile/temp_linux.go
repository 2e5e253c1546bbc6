package osfile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// createNameless makes a file in dir that vanishes with the program, unless it is linked
// before; nil if the system or the file system knows no such files, or for any other
// reason, which createNamed will meet and tell.
func createNameless(dir string) *os.File {
	f, err := os.OpenFile(dir, os.O_WRONLY|unix.O_TMPFILE, 0o666)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(descriptor(f)); err != nil { // without /proc it could not be linked
		f.Close() // nothing was written
		return nil
	}
	return f
}

// link gives a file of createNameless a name. Errors are the system's.
func link(f *os.File, name string) error {
	return unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

// descriptor is the path by which the system knows an open file.
func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
