package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/gpu"
)

var runs = flag.Int("runs", 16, "how many trainings TestMetamorphic compares")

// TestMetamorphic trains by random recipes, each in several ways that must not change a
// byte of the model but the bytes that name the device: other formats of the data, storages,
// devices, tiles, limits of memory, numbers of processors, sizes of work-groups, without
// bounds, verified, and stopped and gone on with.
func TestMetamorphic(t *testing.T) {
	r := newRandom(t)
	dir := keptFolder(t)
	all := corpora(t, dir)
	want, got, kept := filepath.Join(dir, "want.npz"), filepath.Join(dir, "got.npz"),
		filepath.Join(dir, "kept.npz")
	made := map[string]int{}
	for n := 0; n < shortly(*runs) && !t.Failed(); {
		c := newRecipe(t, r, pick(r, all...))
		plain := c.train(want)
		code, _, said := command(plain...)
		if code != app.ExitOK {
			t.Errorf("uma-gpu %s: exit code %d\n%s", strings.Join(plain, " "), code, said)
		}
		for range 4 {
			lines := []variant{newVariant(t, r, c, got)}
			if r.IntN(3) == 0 { // in two parts, which need not be alike
				every := fmt.Sprint(1 + r.IntN(c.steps))
				first := newVariant(t, r, c, got)
				first.args = append(first.args, "--checkpoint", kept, "--every", every)
				lines[0].args = clitest.Resumed(lines[0].args, kept)
				lines = []variant{first, lines[0]}
			}
			for _, v := range lines {
				if code, said := v.run(t); code != app.ExitOK {
					t.Errorf("%s: exit code %d\n%s", v, code, said)
				}
				for _, a := range append(v.env, v.args...) {
					if name, _, _ := strings.Cut(a, "="); strings.HasPrefix(a, "--") || name != a {
						made[name]++
					}
				}
			}
			n += len(lines)
			if t.Failed() {
				break
			}
			if what := differ(t, got, want); what != "" {
				t.Errorf("%s differs between\numa-gpu %s\nand%s", what, strings.Join(plain, " "), join(lines))
				break
			}
		}
	}
	var counts []string
	for name, n := range made {
		counts = append(counts, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(counts)
	t.Logf("options and how often they were taken: %s", strings.Join(counts, ", "))
}

// variant is a command line that makes the model of a recipe.
type variant struct {
	env  []string // NAME=VALUE; processes of their own take them
	args []string
}

// newVariant makes up a command line that is to write the model of c.
func newVariant(t *testing.T, r *rand.Rand, c recipe, model string) variant {
	t.Helper()
	var v variant
	sometimes := func(args ...string) {
		if r.IntN(3) == 0 {
			v.args = append(v.args, args...)
		}
	}
	v.args = slices.Concat([]string{"train", "--model", model, "--quiet", "--data", pick(r,
		c.files...)}, c.args)
	device := pick(r, append(devicesHere(t), "cpu", "cpu:plain")...)
	if r.IntN(3) == 0 {
		device += pick(r, "+cpu", "+cpu:plain", "+cpu+cpu:plain+cpu")
	}
	v.args = append(v.args, "--device", device)
	sometimes("--audit", "full")
	// Landmarks lie in a model as the examples lay in memory.
	storages := []string{"dense", "dense", "auto"}
	if !c.mapped && !c.dense {
		storages = append(storages, "sparse", "sparse")
	}
	sometimes("--storage", pick(r, storages...))
	v.env = append(v.env, fmt.Sprint("GOMAXPROCS=", 1+r.IntN(4)))
	if gpu.Built && !strings.HasPrefix(device, "cpu") {
		// The landmarks of a kernel map, and its values at all digits, are one allocation each.
		allocations, limits := []string{"160K", "200K"}, []string{"1M", "2M", "64M"}
		if c.mapped {
			allocations, limits = []string{"1M", "2M"}, []string{"16M", "64M"}
		}
		sometimes("--max-alloc", pick(r, allocations...))
		sometimes("--memory-limit", pick(r, limits...))
		if r.IntN(3) == 0 {
			v.env = append(v.env, fmt.Sprint("POCL_MAX_WORK_GROUP_SIZE=", pick(r, 1, 16, 64)))
		}
	}
	return v
}

// run runs v, in a process of its own if anything in the environment asks for that.
func (v variant) run(t *testing.T) (code int, stderr string) {
	t.Helper()
	var processors int
	if _, err := fmt.Sscanf(v.env[0], "GOMAXPROCS=%d", &processors); err == nil && len(v.env) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		code, _, stderr = command(v.args...)
		return code, stderr
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, v.args...)
	c.Env = append(slices.Concat(os.Environ(), v.env), runVariable+"=1")
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), said.String()
}

func (v variant) String() string {
	return strings.Join(slices.Concat(v.env, []string{"uma-gpu"}, v.args), " ")
}

// join writes command lines below each other.
func join(lines []variant) string {
	var b strings.Builder
	for _, v := range lines {
		fmt.Fprintf(&b, "\n%s", v)
	}
	return b.String()
}
