package osfile

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// createNameless makes a file in dir that vanishes with the program, unless it is linked
// before; nil if the system or the file system knows no such files, or for any other
// reason, which a named one will meet and tell.
func createNameless(dir string, mode os.FileMode) *os.File {
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, mode)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(descriptor(f)); err != nil { // without /proc it could not be linked
		f.Close() // nothing was written
		return nil
	}
	lock(f)
	return f
}

// link gives a file of createNameless a name. Errors are the system's.
func link(f *os.File, name string) error {
	return unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

// descriptor is the path by which the system knows an open file.
func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// exchange has two files, or folders, take each other's place. Errors are the system's.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// sameRights gives a new folder the owner and the permissions of another.
func sameRights(dir string, other os.FileInfo) error {
	if of, is := other.Sys().(*syscall.Stat_t); is {
		if err := os.Chown(dir, int(of.Uid), int(of.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(dir, other.Mode()) // behind Chown, which takes bits away
}

// lock marks a temporary file as in use until it is closed, where the file system can.
func lock(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

var swept sync.Map // folders

// leftAfter is how long a temporary file has not changed that a killed program has left.
var leftAfter = time.Minute

// sweep removes, once for each folder, what programs that were killed have left there: temporary
// files and folders that nobody has locked and nothing has changed for leftAfter. Where files
// without names exist, locks are this system's, and what no process has is removed at once.
func sweep(dir string) {
	if _, done := swept.LoadOrStore(dir, true); done {
		return
	}
	d, err := os.Open(dir)
	if err != nil {
		return // what is written there fails, and says so, or does not
	}
	defer d.Close() // only read
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if left, _ := filepath.Match(".uma-gpu-*-*.tmp", name); !left {
			continue
		}
		name = filepath.Join(dir, name)
		var about unix.Stat_t
		fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			continue // it is another user's, or gone
		}
		if unix.Fstat(fd, &about) == nil &&
			(time.Since(time.Unix(about.Ctim.Unix())) > leftAfter || writerIsGone(name)) &&
			unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(name) // one that stays does no harm
		}
		unix.Close(fd)
	}
}

// writerIsGone reports that no process of this machine writes a temporary file or folder.
func writerIsGone(name string) bool {
	var process, k int
	fmt.Sscanf(filepath.Base(name), temporaryName, &process, &k)
	local := createNameless(filepath.Dir(name), 0o600)
	if local == nil || process == 0 {
		return false
	}
	local.Close() // nothing was written
	return unix.Kill(process, 0) == unix.ESRCH
}
