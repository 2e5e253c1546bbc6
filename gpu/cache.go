//go:build linux && cgo && !noopencl

package gpu

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/jgillich/go-opencl/cl"
)

// cacheVariable tells PoCL where to keep the kernels that it compiled.
const cacheVariable = "POCL_CACHE_DIR"

var errNoCache = errors.New("found no safe place for the kernels that PoCL compiles")

const adviseCache = "set HOME or " + cacheVariable + " to a folder of your own"

// protectCache makes sure that nobody else can write where PoCL keeps compiled kernels,
// for it loads and runs what it finds there. Without a home folder it would take
// one below /tmp, which anybody may have made. Call it before OpenCL is loaded.
func protectCache() error {
	if os.Getenv(cacheVariable) != "" || private(poclsChoice(), os.Geteuid()) {
		return nil
	}
	dir, err := makeCache(os.TempDir(), os.Geteuid())
	if err != nil {
		return err
	}
	return os.Setenv(cacheVariable, dir) // with cgo C's environment too, which PoCL reads
}

// poclsChoice returns the cache folder that PoCL chooses by itself, "" for the one that
// it shares with everybody.
func poclsChoice() string {
	if base := os.Getenv("XDG_CACHE_HOME"); base != "" {
		return filepath.Join(base, "pocl", "kcache")
	}
	if home := os.Getenv("HOME"); home != "" {
		return filepath.Join(home, ".cache", "pocl", "kcache")
	}
	return ""
}

// makeCache returns a folder below temp that belongs to uid and that nobody else can
// enter, an old one if there is one. Others may have taken names first, so it
// tries some.
func makeCache(temp string, uid int) (string, error) {
	const attempts = 100
	if !sheltered(temp, uid) {
		return "", fmt.Errorf("%w: others can replace what lies in %s; %s", errNoCache, temp, adviseCache)
	}
	for k := range attempts {
		dir := filepath.Join(temp, fmt.Sprintf("uma-gpu-pocl-%d-%d", uid, k))
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("%w: %w; %s", errNoCache, err, adviseCache)
		}
		about, err := os.Lstat(dir) // a link is not followed
		if err == nil && about.IsDir() && owner(about) == uid && about.Mode().Perm() == 0o700 {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w: others have taken all %d names uma-gpu-pocl-%d-… in %s; %s",
		errNoCache, attempts, uid, temp, adviseCache)
}

// private reports whether dir, or if it is still to be made the folder to make it in,
// belongs to uid, and nobody else can write or replace it.
func private(dir string, uid int) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	for {
		about, err := os.Stat(dir)
		if err == nil {
			return about.IsDir() && owner(about) == uid && about.Mode().Perm()&0o022 == 0 && sheltered(dir,
				uid)
		}
		if _, noLink := os.Readlink(dir); !errors.Is(err, fs.ErrNotExist) || noLink == nil {
			return false // a link to nothing, or no way to tell
		}
		dir = filepath.Dir(dir)
	}
}

// sheltered reports whether nobody but uid and root can replace what uid makes in dir. Who
// owns / is root, or what stands for root in a container.
func sheltered(dir string, uid int) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return false
	}
	top, err := os.Lstat("/")
	if err != nil {
		return false
	}
	for {
		about, err := os.Lstat(dir)
		if err != nil || !about.IsDir() {
			return false
		}
		if o := owner(about); o != uid && o != 0 && o != owner(top) {
			return false
		}
		if about.Mode().Perm()&0o022 != 0 && about.Mode()&fs.ModeSticky == 0 {
			return false
		}
		if strings.Trim(dir, "/") == "" {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

// owner returns the user that a file belongs to, -1 for nobody.
func owner(about fs.FileInfo) int {
	if s, ok := about.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// programCache holds a context for each processor of PoCL and the programs compiled in it, until
// the process ends. PoCL reads a program's text for 45 ms although it has the machine code on
// disk, and an engine has several programs.
//
// Contexts and programs of a processor take nothing but memory of this process. Those of a GPU
// hold its memory: they belong to one engine and end with it. So do those of other drivers for
// processors, which nobody has found to be slow: Oclgrind's search for uninitialised
// values believes that all of a buffer is one if another was at its address in the same context.
type programCache struct {
	mu       sync.Mutex
	contexts map[string]*cl.Context // by Info.ID
	programs map[recipe]*cl.Program
}

// recipe is all that a program depends on.
type recipe struct {
	context *cl.Context
	sources [sha256.Size]byte
	options string
}

// poclPrograms is the cache of the process.
var poclPrograms = newProgramCache()

func newProgramCache() *programCache {
	return &programCache{contexts: map[string]*cl.Context{}, programs: map[recipe]*cl.Program{}}
}

// context returns the context of a device.
func (s *programCache) context(id string, device *cl.Device) (*cl.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return known(s.contexts, id, func() (*cl.Context, error) {
		return cl.CreateContext([]*cl.Device{device})
	})
}

// program returns the program that sources make, put one behind the other. compile makes it if
// there is none.
func (s *programCache) program(context *cl.Context, sources []string, options string,
	compile func() (*cl.Program, error)) (*cl.Program, error) {
	h := sha256.New()
	for _, text := range sources {
		fmt.Fprint(h, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return known(s.programs, recipe{context, [sha256.Size]byte(h.Sum(nil)), options}, compile)
}

// known returns a value of m, which fill makes if there is none.
func known[K comparable, V any](m map[K]V, key K, fill func() (V, error)) (V, error) {
	if v, there := m[key]; there {
		return v, nil
	}
	v, err := fill()
	if err == nil {
		m[key] = v
	}
	return v, err
}
