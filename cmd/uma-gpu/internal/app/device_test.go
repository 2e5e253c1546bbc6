package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/internal/facts"
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
		s, err := selectDevice(c.name, func() ([]gpu.Info, error) { asked = true; return c.all, nil })
		if asked && s.auto() {
			t.Errorf("%q asked OpenCL before anybody knew whether that is worth it", c.name)
		}
		var got []string
		if s.devices != nil {
			try, _ := s.devices()
			for _, i := range try {
				got = append(got, i.ID())
			}
		}
		if s.cpu != nil {
			got = append(got, s.cpu().Device().ID)
		}
		if err != nil {
			got = []string{err.Error()}
			if !errors.Is(err, ErrNoSuchDevice) || ExitCode(err) != ExitNoDevice {
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
var many = work(dataset.Examples{N: ProcessorValues}, 1)

// work returns the work on examples of three classes, after a map to components unless they are 0.
func work(x dataset.Examples, components int) host.Work {
	return host.Work{Data: &dataset.Dataset{Examples: x}, Components: components, Classes: 3}
}

// trying returns a device that tries one that is not there, then the processor if auto.
func trying(auto bool) *Device {
	s := selection{devices: func() ([]gpu.Info, error) {
		return []gpu.Info{{Platform: 99, Device: 9, Name: "gone", Type: "GPU"}}, nil
	}}
	if auto {
		s.cpu = simd.NewDriver
	}
	return &Device{parts: []selection{s}}
}

// auto takes what computes faster than the processor, for work that is worth it: by what
// the learner will see, which after a kernel is not what the file holds.
func TestAutoIsForMuchWork(t *testing.T) {
	few := dataset.Examples{N: 4000, D: 10, X: make([]float32, 40000)}
	wide := dataset.Examples{N: 4000, D: 300, X: make([]float32, 1200000)}
	for _, c := range []struct {
		name  string
		work  host.Work
		tried bool
	}{
		{"few values", work(few, 0), false},
		{"many", work(wide, 0), true},
		{"many, most of them 0", work(wide.Compressed(), 0), false},
		{"few values, many components", work(few, 500), true},
		{"many values, few components", work(wide, 20), false},
	} {
		var said strings.Builder
		e, err := trying(true).Open(Notes{W: &said}, c.work)
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
		s, err := selectDevice("auto", list)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		e, err := (&Device{parts: []selection{s}}).Open(Notes{W: &said, Quiet: true}, many)
		if err != nil || e.Device().ID != "cpu" || !facts.Told(said.String(),
			"warning OpenCL device "+kind.Error()) {
			t.Errorf("auto opens %v, %v and says %q", e, err, said.String())
		}
		for _, name := range []string{"opencl", "opencl:0.0", "nvidia"} {
			if _, err := selectDevice(name, list); !errors.Is(err, kind) ||
				ExitCode(err) != ExitNoDevice || !facts.Told(err, "install") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A device that does not open ends the command, but for auto, which takes the
// next one and says so.
func TestDeviceThatDoesNotOpen(t *testing.T) {
	var said strings.Builder
	n := Notes{W: &said}
	if e, err := trying(false).Open(n, many); err == nil {
		t.Errorf("opened %v", e)
	}
	e, err := trying(true).Open(n, many)
	if err != nil || e.Device().ID != "cpu" {
		t.Errorf("auto: %v, %v", e, err)
	}
	if !facts.Told(said.String(), "warning device") || !facts.Told(said.String(), "device cpu") {
		t.Errorf("it says %q", said.String())
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "65536": 65536, "64K": 65536, "64k": 65536,
		"3M": 3 << 20, "2G": 2 << 30} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "K", "-1", "+1", "1.5G", "1KB", "1 K", "1T", "0x10",
		"9223372036854775808", "9007199254740992K"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

// Work for which measuring pays has shares by speed.
func TestMeasuredShares(t *testing.T) {
	parts, err := selectDevices("cpu + cpu:plain", func() ([]gpu.Info, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	e, err := (&Device{parts: parts}).Open(Notes{W: &said},
		work(dataset.Examples{N: ProcessorValues / 16}, 16))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !facts.Told(said.String(), "shares cpu") {
		t.Errorf("said %s", &said)
	}
	one := Processors[0].New()
	if got := sharesText([]engine.Driver{one, one, one, one}, slices.Repeat([]int{3},
		4)); !strings.Contains(got, "25 %") {
		t.Errorf("found %s", got)
	}
}

// ranksOf is a rank among ranks whose identities are known.
type ranksOf struct {
	shard.Reducer
	rank int
	all  []identity
}

func (r ranksOf) Rank() (rank, ranks int) { return r.rank, len(r.all) }

func (r ranksOf) Sum(_ context.Context, v []int64) error {
	for rank, one := range r.all {
		copy(v[rank*len(one):], one[:])
	}
	return nil
}

// Each rank says which rank has another program, another contract or other data than rank 0.
func TestIdentities(t *testing.T) {
	same := identity{1 << 62, 2, -3}
	for _, c := range []struct {
		odd  identity
		want string
	}{
		{same, ""},
		{identity{5, 2, -3}, "rank 1 program rank 0"},
		{identity{1 << 62, 3, -3}, "rank 1 contract rank 0"},
		{identity{1 << 62, 2, 3}, "rank 1 data rank 0"},
	} {
		all := []identity{same, c.odd, same}
		for rank, mine := range all {
			err := compareIdentities(ranksOf{rank: rank, all: all}, mine)
			if c.want == "" && err == nil {
				continue
			}
			if !errors.Is(err, shard.ErrDiffers) || !facts.Told(err, c.want) {
				t.Errorf("rank %d of %v: found %v, wanted %q", rank, c.odd, err, c.want)
			}
		}
	}
}
