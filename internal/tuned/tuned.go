// Package tuned keeps, in one file, the tunings that uma-gpu tune found on this
// machine, by device, driver, kernels and shape of the examples.
package tuned

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// PathVariable names the environment variable that replaces the path of the table.
const PathVariable = "UMA_GPU_TUNING"

// Path is where the table is, whether or not it is there: $UMA_GPU_TUNING, else
// uma-gpu/tuning.json in the user's cache folder. The error says that there is none.
func Path() (string, error) {
	if path := os.Getenv(PathVariable); path != "" {
		return path, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the table of tunings: %w; name a file in %s", err, PathVariable)
	}
	return filepath.Join(dir, "uma-gpu", "tuning.json"), nil
}

// Key says what a tuning is for. A driver or kernels that change make it void.
type Key struct {
	Platform string `json:"platform"`
	Device   string `json:"device"`
	Driver   string `json:"driver"`
	Kernels  string `json:"kernels"` // kernels.Hash
	Shape    string `json:"shape"`   // class of shapes, as Shape returns it
}

// NewKey returns the key for examples of the class shape on a device.
func NewKey(i gpu.Info, shape string) (Key, error) {
	kernels, err := kernels.Hash()
	return Key{i.PlatformName, i.Name, i.Driver, kernels, shape}, err
}

// cached is about what the caches of devices hold, in bytes.
const cached = 32 << 20

// Shape returns the class of examples of d features and so many classes that are
// tuned alike: by storage, by the power of two that d reaches, by classes up to 4, up to 16
// or more, and by whether the examples, of which so many values are stored, fit into a
// cache.
func Shape(sparse bool, d, classes, stored int) string {
	storage, q, size := "dense", "q>16", "small"
	if sparse {
		storage = "sparse"
	}
	switch {
	case classes <= 4:
		q = "q<=4"
	case classes <= 16:
		q = "q<=16"
	}
	if int64(stored) > cached/4 {
		size = "large"
	}
	low := 1 << max(0, bits.Len(uint(d))-1)
	return fmt.Sprintf("%s, d>=%d, %s, %s", storage, low, q, size)
}

// Entry is a tuning that was found.
type Entry struct {
	Key
	Tuning gpu.Tuning `json:"tuning"`
	Ratio  float64    `json:"ratio"` // of its time and the default's when it was found
	Date   time.Time  `json:"date"`
}

// table is the file.
type table struct {
	Format  string  `json:"format"`
	Entries []Entry `json:"tunings"`
}

const format = "uma-gpu tunings 1"

// mostBytes is more than any table has.
const mostBytes = 16 << 20

// Read reads the table at path; none is an empty one. The error says what is wrong with
// the file, which is then of no use.
func Read(path string) ([]Entry, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for, for ever
		return nil, fmt.Errorf("table of tunings: %s: found %s, wanted a regular file or nothing; name another in %s", path,
			fileerr.Kind(info.Mode()), PathVariable)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("table of tunings: %w", err)
	}
	defer f.Close() // of what was only read: nothing to lose
	text, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil {
		return nil, fmt.Errorf("table of tunings: %w", err)
	}
	var t table
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("%s is no table of tunings: %w; remove it, or name another file in %s",
			path, err, PathVariable)
	}
	if t.Format != format {
		return nil, fmt.Errorf("%s is no table of tunings: its format is %.40q, wanted %q; "+
			"remove it, or name another file in %s", path, t.Format, format, PathVariable)
	}
	for k, e := range t.Entries {
		if err := e.Tuning.Check(); err != nil {
			return nil, fmt.Errorf("%s, entry %d: %w; remove the file", path, k+1, err)
		}
	}
	return t.Entries, nil
}

// Store puts an entry into the table at path, in place of that with the same key and
// of those that are void because the device has another driver or other kernels now.
// A file that Read refuses is left alone. Of programs that store at the same moment the
// last wins: the table is whole, and what the others found they find again.
func Store(path string, e Entry) error {
	if err := e.Tuning.Check(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("table of tunings: %w", err)
	}
	entries, err := Read(path)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(old Entry) bool {
		same := old.Platform == e.Platform && old.Device == e.Device
		return old.Key == e.Key || same && (old.Driver != e.Driver || old.Kernels != e.Kernels)
	})
	return atomicfile.Write(path, func(w io.Writer) error {
		text := json.NewEncoder(w)
		text.SetEscapeHTML(false)
		text.SetIndent("", "  ")
		return text.Encode(table{format, append(entries, e)})
	})
}

// Forget removes the table at path and returns how many entries it had. A file that
// Read refuses is left alone.
func Forget(path string) (entries int, err error) {
	found, err := Read(path)
	if err != nil {
		return 0, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("table of tunings: %w", err)
	}
	return len(found), nil
}
