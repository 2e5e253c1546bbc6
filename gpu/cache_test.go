//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestCacheIsPrivate compiles a kernel by PoCL in processes of their own, since a process
// chooses a folder once, and looks where it went.
func TestCacheIsPrivate(t *testing.T) {
	const child = "UMA_GPU_TEST_CHILD"
	if os.Getenv(child) != "" {
		if err := compileOne(); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("cache=%s.\n", os.Getenv(cacheVariable))
		return
	}
	uid := os.Geteuid()
	first, second := fmt.Sprintf("uma-gpu-pocl-%d-0", uid), fmt.Sprintf("uma-gpu-pocl-%d-1", uid)
	for _, c := range []struct {
		name    string
		prepare func(dir string) error // before the process starts
		set     []string               // its environment, DIR stands for the temporary folder
		cache   string                 // where kernels should be, below DIR
		told    bool                   // by the environment
	}{
		{"no home", nil, nil, first, true},
		{"a folder that others can write", func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/"+first, 0o700), os.Chmod(dir+"/"+first, 0o777))
		}, nil, second, true},
		{"a link", func(dir string) error { return os.Symlink(dir+"/bait", dir+"/"+first) }, nil, second,
			true},
		{"a file", func(dir string) error { return os.WriteFile(dir+"/"+first, nil, 0o700) }, nil, second,
			true},
		{"a folder of our own", func(dir string) error { return os.Mkdir(dir+"/"+first, 0o700) }, nil,
			first, true},
		{"a home", func(dir string) error { return os.Mkdir(dir+"/home", 0o755) },
			[]string{"HOME=DIR/home"}, "home/.cache/pocl", false},
		{"a cache", nil, []string{"XDG_CACHE_HOME=DIR/bait", "HOME=/nowhere"}, "bait/pocl", false},
		{"a home for all", func(dir string) error { return os.Chmod(dir+"/bait", 0o777) },
			[]string{"HOME=DIR/bait"}, first, true},
		{"a home that cannot be", func(dir string) error { return os.WriteFile(dir+"/file", nil, 0o700) },
			[]string{"HOME=DIR/file/x"}, first, true},
		{"a wish", nil, []string{"POCL_CACHE_DIR=DIR/bait"}, "bait", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Mkdir(dir+"/bait", 0o700); err != nil {
				t.Fatal(err)
			}
			if c.prepare != nil {
				if err := c.prepare(dir); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(os.Args[0], "-test.run", "^TestCacheIsPrivate$")
			cmd.Env = []string{child + "=1", "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}
			for _, s := range c.set {
				cmd.Env = append(cmd.Env, strings.ReplaceAll(s, "DIR/", dir+"/"))
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.name, err, out)
			}
			want := "cache=.\n"
			if c.told {
				want = "cache=" + dir + "/" + c.cache + ".\n"
			}
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: found %s, want %s", c.name, out, want)
			}
			if got := folders(t, dir); !slices.Equal(got, []string{strings.SplitN(c.cache, "/", 2)[0]}) {
				t.Errorf("%s: kernels are in %q, want %s", c.name, got, c.cache)
			}
			about, err := os.Stat(filepath.Join(dir, c.cache))
			if err != nil || c.cache == first && about.Mode().Perm() != 0o700 {
				t.Errorf("%s: found %v, %v", c.name, about, err)
			}
		})
	}
}

// folders lists the folders of dir that are not empty.
func folders(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var filled []string
	for _, e := range entries {
		if below, err := os.ReadDir(filepath.Join(dir, e.Name())); err == nil && len(below) > 0 &&
			e.IsDir() {
			filled = append(filled, e.Name())
		}
	}
	return filled
}

// compileOne builds a kernel on each device.
func compileOne() error {
	all, err := devices()
	if err != nil {
		return err
	}
	for _, d := range all {
		context, err := cl.CreateContext([]*cl.Device{d.cl})
		if err != nil {
			return err
		}
		p, err := context.CreateProgramWithSource([]string{"__kernel void one(__global int *a) { a[0] " +
			"= 1; }"})
		if err != nil {
			return err
		}
		if err := p.BuildProgram([]*cl.Device{d.cl}, ""); err != nil {
			return err
		}
	}
	return nil
}

// What belongs to somebody else is no safe place, nor what somebody else can replace.
func TestForeignCache(t *testing.T) {
	me, dir := os.Geteuid(), t.TempDir()
	open, own := filepath.Join(dir, "open"), filepath.Join(dir, "open", "own")
	for _, err := range []error{
		os.Mkdir(open, 0o700), os.Mkdir(own, 0o700), os.Chmod(open, 0o777), os.Symlink(own,
			filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir  string
		uid  int
		want bool
	}{
		{dir, me, true}, {filepath.Join(dir, "new", "one"), me, true}, {dir, me + 1, false},
		{own, me, false}, {open, me, false}, {filepath.Join(dir, "link"), me, false},
		{"", me, false}, {"here", me, false}, {"/", me + 1, false},
	} {
		if got := private(c.dir, c.uid); got != c.want {
			t.Errorf("%q of user %d: found %v, want %v", c.dir, c.uid, got, c.want)
		}
	}
	at, err := makeCache(open, me)
	if !facts.Told(err, open) {
		t.Errorf("found %q, %v", at, err)
	}
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := makeCache(open, me); err != nil {
		t.Error(err)
	}
	// A process that makes all the names first keeps us from going on, not more.
	crowded := t.TempDir()
	for k := range 100 {
		if err := os.Symlink(own, filepath.Join(crowded, fmt.Sprintf("uma-gpu-pocl-%d-%d", me,
			k))); err != nil {
			t.Fatal(err)
		}
	}
	at, err = makeCache(crowded, me)
	if !facts.Told(err, "100 names") {
		t.Errorf("found %q, %v", at, err)
	}
}
