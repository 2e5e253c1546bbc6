//go:build linux && cgo && !noopencl

package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// openCL lists the OpenCL devices. None is a failure: a build with OpenCL is not
// tested without it.
func openCL(t *testing.T) []gpu.Info {
	t.Helper()
	infos, err := gpu.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

// Models of different devices differ in the device and in nothing else, also
// where the data are cut in many tiles.
func TestTrainSameWeightsOnAllDevices(t *testing.T) {
	infos := openCL(t)
	for name, set := range map[string]struct{ data, label, steps string }{
		"digits":    {digits, "last", "60"},
		"letter":    {letter, "first", "30"},
		"synthetic": {"", "last", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data := set.data
			if data == "" {
				data = filepath.Join(dir, "synthetic.csv")
				succeed(t, "synth", "--examples", "8000", "--features", "64", "--classes", "12", "--out", data)
			}
			data, c := noisy(t, dir, data, "--label-column", set.label)
			train := func(name, device string, more ...string) string {
				t.Helper()
				path := filepath.Join(dir, name)
				_, stderr := succeed(t, append([]string{"train", "--data", data, "--label-column", set.label,
					"--confusion", c, "--model", path, "--device", device, "--max-steps", set.steps}, more...)...)
				if !facts.Told(stderr, "device "+device) {
					t.Errorf("stderr does not name %s:\n%s", device, stderr)
				}
				return path
			}
			cpu := train("cpu.npz", "cpu")
			for _, i := range infos {
				path := train("opencl.npz", i.ID())
				device := load(t, path).Meta.Device
				if want := (engine.Device{Kind: "opencl", Name: i.Name, Platform: i.PlatformName,
					Driver: i.Driver}); device != want {
					t.Errorf("device %+v, want %+v", device, want)
				}
				for _, path := range []string{path, train("tiles.npz", i.ID(), "--max-alloc", "160K")} {
					wantSameModel(t, path, cpu)
				}
			}
		})
	}
}

// wantSameModel fails unless two models are equal but for the device.
func wantSameModel(t *testing.T, a, b string) {
	t.Helper()
	if what := clitest.Differ(t, a, b); what != "" {
		t.Errorf("%s: %s differs", filepath.Base(a), what)
	}
	if bytes.Equal(member(t, a, "meta.json"), member(t, b, "meta.json")) {
		t.Errorf("%s: meta.json does not name the device", filepath.Base(a))
	}
}

func TestPredictAndEvalOnAllDevices(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m.npz")
	succeed(t, "train", "--data", digits, "--model", m, "--max-steps", "30")
	wantNames, _ := succeed(t, "predict", "--model", m, "--data", digits)
	wantTable, _ := succeed(t, "predict", "--model", m, "--data", digits, "--probabilities")
	wantText, _ := succeed(t, "eval", "--model", m, "--data", digits)
	for _, i := range openCL(t) {
		args := []string{"--model", m, "--data", digits, "--device", i.ID()}
		if got, _ := succeed(t, append([]string{"predict"}, args...)...); got != wantNames {
			t.Errorf("%s predicts otherwise", i.ID())
		}
		got, _ := succeed(t, append([]string{"predict", "--probabilities"}, args...)...)
		if got != wantTable {
			t.Errorf("%s has other probabilities", i.ID())
		}
		if got, _ := succeed(t, append([]string{"eval"}, args...)...); got != wantText {
			t.Errorf("%s: found\n%s\nwant\n%s", i.ID(), got, wantText)
		}
	}
}

func TestDevicesListsOpenCL(t *testing.T) {
	infos := openCL(t)
	stdout, _ := succeed(t, "devices", "--json")
	l := decode[devices.DeviceListing](t, stdout)
	if len(l.Devices) != len(app.Processors)+len(infos) || l.OpenCLError != "" {
		t.Fatalf("found %+v", l)
	}
	for k, i := range infos {
		d := l.Devices[len(app.Processors)+k]
		if d.Info == nil || d.ID != i.ID() || d.Kind != "opencl" || d.Name != i.Name ||
			d.Driver != i.Driver ||
			d.PlatformName != i.PlatformName || d.Memory != i.Memory || d.MaxAlloc != i.MaxAlloc ||
			d.ComputeUnits != i.ComputeUnits || d.FP != i.FP || d.SelfTest != devices.Passed {
			t.Errorf("found %+v %+v, want %+v", d, d.Info, i)
		}
	}
	stdout, _ = succeed(t, "devices")
	for _, i := range infos {
		if !strings.Contains(stdout, "\n"+i.ID()+" ") || !strings.Contains(stdout, i.Name) ||
			!strings.Contains(stdout, "  passed") {
			t.Errorf("%s is not in\n%s", i.ID(), stdout)
		}
	}
}

// auto takes a GPU for much work, and never an OpenCL device that is the processor.
func TestAuto(t *testing.T) {
	accelerated := slices.ContainsFunc(openCL(t), func(i gpu.Info) bool {
		return app.IsGPU(i) || app.IsOtherAccelerator(i)
	})
	dir := t.TempDir()
	few, data := synthetic(t, dir), filepath.Join(dir, "many.csv")
	stdout, _ := succeed(t, "train", "--data", few, "--model", filepath.Join(dir, "m.npz"),
		"--max-steps", "2", "--device", "auto", "--json")
	if r := decode[train.Report](t, stdout); r.Device.Kind != "cpu" {
		t.Errorf("device %+v for few data", r.Device)
	}
	succeed(t, "synth", "--examples", "9000", "--features", "120", "--out", data)
	stdout, stderr := succeed(t, "train", "--data", data, "--model", filepath.Join(dir, "m.npz"),
		"--max-steps", "2", "--device", "auto", "--json")
	if r := decode[train.Report](t, stdout); (r.Device.Kind == "opencl") != accelerated ||
		!facts.Told(stderr, "device "+r.Device.ID) {
		t.Errorf("device %+v, stderr\n%s", r.Device, stderr)
	}
	// Too little memory for anything: auto says so and goes on, a device that was
	// asked for ends the command.
	stdout, stderr = succeed(t, "train", "--data", data, "--model", filepath.Join(dir, "m.npz"),
		"--max-steps", "2", "--device", "auto", "--max-alloc", "16", "--json")
	if r := decode[train.Report](t, stdout); r.Device.Kind != "cpu" ||
		strings.Contains(stderr, "warning: this device is passed over: ") != accelerated {
		t.Errorf("device %+v, stderr\n%s", r.Device, stderr)
	}
	for _, i := range openCL(t) {
		fail(t, app.ExitMemory, "allocation 16", "train", "--data", data, "--model",
			filepath.Join(dir, "n.npz"), "--device", i.ID(), "--max-alloc", "16")
	}
}
