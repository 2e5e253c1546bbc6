package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

func TestSelectDevice(t *testing.T) {
	intel := gpu.Info{Platform: 0, Device: 0, Name: "Xeon 8480",
		PlatformName: "Portable Computing Language", Type: "CPU"}
	a100 := gpu.Info{Platform: 1, Device: 0, Name: "NVIDIA A100", PlatformName: "NVIDIA CUDA",
		Type: "GPU"}
	a100big := gpu.Info{Platform: 1, Device: 1, Name: "NVIDIA A100 80GB", PlatformName: "NVIDIA CUDA",
		Type: "GPU"}
	shared := gpu.Info{Platform: 2, Device: 0, Name: "on the chip", Type: "Accelerator",
		SharesMemory: true}
	card := gpu.Info{Platform: 2, Device: 1, Name: "card", Type: "Accelerator"}
	integrated := gpu.Info{Platform: 3, Device: 0, Name: "Arc", Type: "GPU", SharesMemory: true}
	one, mixed, two := []gpu.Info{intel}, []gpu.Info{intel, a100}, []gpu.Info{intel, a100, a100big}
	for _, c := range []struct {
		name string
		all  []gpu.Info
		want string // devices to try, or facts of the error
	}{
		{"cpu", nil, "cpu"},
		{"CPU", two, "cpu"},
		{"CPU:plain", two, "cpu:plain"},
		{"cpu:fast", two, `"cpu:fast" none`},
		{"auto", nil, "cpu"},
		{"auto", one, "cpu"},
		{"auto", mixed, "opencl:1.0 cpu"},
		{"auto", []gpu.Info{intel, shared, card, integrated}, "opencl:3.0 opencl:2.1 cpu"},
		{"", two, "opencl:1.0 opencl:1.1 cpu"},
		{"opencl", one, "opencl:0.0"},
		{"opencl", mixed, "opencl:1.0"},
		{"opencl", two, `"opencl" 3 devices`},
		{"opencl:1.1", two, "opencl:1.1"},
		{"OpenCL:0.0", two, "opencl:0.0"},
		{"opencl:2.0", two, `"opencl:2.0" none`},
		{"opencl:01.1", two, `"opencl:01.1" none`},
		{"opencl:1", two, `"opencl:1" none`},
		{"xeon", two, "opencl:0.0"},
		{"portable", two, "opencl:0.0"},
		{"cuda", mixed, "opencl:1.0"},
		{"cuda", two, `"cuda" 2 devices`},
		{"nvidia a100", two, "opencl:1.0"}, // the whole name of one
		{"80gb", two, "opencl:1.1"},
		{"radeon", two, `"radeon" none`},
	} {
		asked := false
		s, err := device.Select(c.name, func() ([]gpu.Info, error) { asked = true; return c.all, nil })
		if asked && s.Auto {
			t.Errorf("%q asked OpenCL before anybody knew whether that is worth it", c.name)
		}
		s.Look()
		var got []string
		for _, i := range s.Try {
			got = append(got, i.ID())
		}
		if s.CPU != nil {
			got = append(got, s.CPU().Device().ID)
		}
		if err != nil {
			got = []string{err.Error()}
			if !errors.Is(err, app.ErrNoSuchDevice) || app.ExitCode(err) != app.ExitNoDevice {
				t.Errorf("%q: %v is not errNoSuchDevice", c.name, err)
			}
			for _, i := range c.all {
				if !facts.Told(err, "\n  "+i.ID()+"  "+i.Name) {
					t.Errorf("%q: the error does not list %s:\n%v", c.name, i.ID(), err)
				}
			}
			if !facts.Told(err, "cpu") || !facts.Told(err, "cpu:plain") {
				t.Errorf("%q: the error does not list the processor:\n%v", c.name, err)
			}
		}
		if text := strings.Join(got, " "); text != c.want && !facts.Told(err, c.want) {
			t.Errorf("%q of %d: found %s, want %s", c.name, len(c.all), text, c.want)
		}
		if (strings.EqualFold(c.name, "cpu") || strings.EqualFold(c.name, "cpu:plain")) == asked {
			t.Errorf("%q: OpenCL asked: %v", c.name, asked)
		}
	}
}

// many is work that auto does not leave to the processor.
var many = device.Work{Features: 1, Classes: 3, Values: device.ProcessorValues}

// auto takes what computes faster than the processor, for work that is worth it: by what
// the learner will see, which after a kernel is not what the file holds.
func TestAutoIsForMuchWork(t *testing.T) {
	few := dataset.Examples{N: 4000, D: 10, X: make([]float32, 40000)}
	wide := dataset.Examples{N: 4000, D: 300, X: make([]float32, 1200000)}
	kernel := func(x dataset.Examples, components int, variance float64, landmarks int) device.Work {
		k := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Components: components,
			Variance: variance, Landmarks: landmarks}
		o := training.Options{Train: host.Options{Kernel: k, Learner: catalog.All()[0].New()}}
		return o.Work(&dataset.Dataset{Examples: x, Classes: []string{"a", "b", "c"}})
	}
	// which is seen to be tried by its warning
	gone := gpu.Info{Platform: 99, Device: 9, Name: "gone", Type: "GPU"}
	for _, c := range []struct {
		name  string
		work  device.Work
		tried bool
	}{
		{"few values", device.WorkOn(few, 3), false},
		{"many", device.WorkOn(wide, 3), true},
		{"many, most of them 0", device.WorkOn(wide.Compressed(), 3), false},
		{"few values, many components", kernel(few, 500, 0, 0), true},
		{"many values, few components", kernel(wide, 20, 0, 0), false},
		{"components by variance", kernel(few, 0, 0.9, 0), true},
		{"components by variance of few landmarks", kernel(wide, 0, 0.9, 100), false},
		{"no kernel", (&training.Options{}).Work(&dataset.Dataset{Examples: wide, Classes: []string{"a",
			"b", "c"}}), true},
	} {
		var said strings.Builder
		d := &device.Device{Selection: device.Selection{Try: []gpu.Info{gone}, CPU: simd.NewDriver,
			Auto: true}}
		e, err := d.Open(app.Notes{W: &said}, c.work)
		if err != nil || e.Device().ID != "cpu" || strings.Contains(said.String(),
			"passed over") != c.tried {
			t.Errorf("%s: %v, %v, said %q", c.name, e, err, said.String())
		}
	}
}

// Without OpenCL only auto goes on, and says why; everything else is exit code 3.
func TestSelectDeviceWithoutOpenCL(t *testing.T) {
	for _, kind := range []error{gpu.ErrNotBuilt, gpu.ErrNoLoader, gpu.ErrNoPlatform,
		gpu.ErrNoDevice} {
		list := func() ([]gpu.Info, error) { return nil, fmt.Errorf("%w: install it", kind) }
		s, err := device.Select("auto", list)
		if s.Look(); err != nil || s.CPU == nil || s.Try != nil || !errors.Is(s.Problem, kind) {
			t.Errorf("auto: %+v, %v", s, err)
		}
		var said strings.Builder
		e, err := (&device.Device{Selection: s}).Open(app.Notes{W: &said, Quiet: true}, many)
		if err != nil || e.Device().ID != "cpu" || !facts.Told(said.String(),
			"warning OpenCL device "+kind.Error()) {
			t.Errorf("auto opens %v, %v and says %q", e, err, said.String())
		}
		for _, name := range []string{"opencl", "opencl:0.0", "nvidia"} {
			if _, err := device.Select(name, list); !errors.Is(err, kind) ||
				app.ExitCode(err) != app.ExitNoDevice || !facts.Told(err, "install") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A device that does not open ends the command, but for auto, which takes the
// next one and says so.
func TestDeviceThatDoesNotOpen(t *testing.T) {
	gone := gpu.Info{Platform: 99, Device: 9, Name: "gone"}
	var said strings.Builder
	n := app.Notes{W: &said}
	if e, err := (&device.Device{Selection: device.Selection{Try: []gpu.Info{gone}}}).Open(n,
		many); err == nil {
		t.Errorf("opened %v", e)
	}
	e, err := (&device.Device{Selection: device.Selection{Try: []gpu.Info{gone}, CPU: simd.NewDriver,
		Auto: true}}).Open(n, many)
	if err != nil || e.Device().ID != "cpu" {
		t.Errorf("auto: %v, %v", e, err)
	}
	if !facts.Told(said.String(), "warning device") || !facts.Told(said.String(), "device cpu") {
		t.Errorf("it says %q", said.String())
	}
}

// The device is judged before any file is read, and the flag wins over the
// environment.
func TestDeviceFlagAndVariable(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	m := dir + "/m.npz"
	for _, args := range [][]string{
		{"train", "--data", "unread.csv", "--model", m},
		{"predict", "--data", "unread.csv", "--model", m},
		{"eval", "--data", "unread.csv", "--model", m},
	} {
		fail(t, app.ExitNoDevice, `"no-such-device"`, append(args, "--device", "no-such-device")...)
	}
	t.Setenv(device.Variable, "not-there")
	fail(t, app.ExitNoDevice, `"not-there" UMA_GPU_DEVICE`, "train", "--data", data, "--model", m)
	if _, stderr := succeed(t, "train", "--data", data, "--model", m, "--max-steps", "1", "--device",
		"cpu"); !facts.Told(stderr, "device cpu") {
		t.Errorf("stderr %s", stderr)
	}
	t.Setenv(device.Variable, "cpu")
	if _, stderr := succeed(t, "train", "--data", data, "--model", m, "--max-steps", "1"); !facts.Told(
		stderr, "device cpu") {
		t.Errorf("stderr %s", stderr)
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "65536": 65536, "64K": 65536, "64k": 65536,
		"3M": 3 << 20, "2G": 2 << 30} {
		if got, err := app.ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "K", "-1", "+1", "1.5G", "1KB", "1 K", "1T", "0x10",
		"9223372036854775808", "9007199254740992K"} {
		if got, err := app.ParseBytes(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}
