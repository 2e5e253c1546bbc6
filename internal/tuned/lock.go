package tuned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A lock is held for the milliseconds of a reading and a writing. One that is older
// than stale was left by a program that was killed.
const (
	stale = 10 * time.Second
	pause = 5 * time.Millisecond
)

// locked calls f while no other program is in locked with the same path. The lock is a
// file beside it, which every system and every file system knows.
func locked(path string, f func() error) (err error) {
	lock := path + ".lock"
	for {
		file, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err == nil {
			file.Close() // nothing was written
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("lock the table of tunings: %w", err)
		}
		if about, err := os.Stat(lock); err == nil && time.Since(about.ModTime()) > stale {
			os.Remove(lock) // if another was quicker, there is none any more
			continue
		}
		time.Sleep(pause)
	}
	defer func() { err = errors.Join(err, os.Remove(lock)) }()
	return f()
}
