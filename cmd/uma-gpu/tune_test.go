package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/tuned"
)

func TestTuneUsage(t *testing.T) {
	t.Setenv(tuned.PathVariable, filepath.Join(t.TempDir(), "t.json"))
	fail(t, app.ExitNoDevice, "tune wants an OpenCL device", "tune", "--device", "cpu")
	fail(t, app.ExitUsage, "--classes is 1, wanted at least 2", "tune", "--classes", "1")
	fail(t, app.ExitUsage, "--repeat is 0", "tune", "--repeat", "0")
	fail(t, app.ExitUsage, "--data and --features exclude each other", "tune", "--data", digits, "--features", "3")
	fail(t, app.ExitUsage, "--normalize", "tune", "--normalize", "sideways")
	_, stderr := succeed(t, "tune", "--forget")
	if !strings.Contains(stderr, "forgot 0 tunings of ") {
		t.Errorf("stderr %s", stderr)
	}
	path := write(t, t.TempDir(), "letter.json", "Dear table,")
	t.Setenv(tuned.PathVariable, path)
	fail(t, app.ExitFailure, "is no table of tunings", "tune", "--forget")
	fail(t, app.ExitFailure, "is no table of tunings", "tune", "--device", "cpu")
	if text := read(t, path); string(text) != "Dear table," {
		t.Errorf("the letter became %q", text)
	}
}

// A tuning that does not open gives way to the default, with a warning.
func TestTuningThatDoesNotOpen(t *testing.T) {
	entry := tuned.Entry{Tuning: gpu.Tuning{Group: 4}, Date: time.Unix(0, 0).UTC()}
	for _, works := range []bool{false, true} {
		var said strings.Builder
		var tried []gpu.Options
		d := &device.Device{Tuning: device.DefaultTuning, Options: gpu.Options{MaxAlloc: 7, AllowNonconforming: true}}
		_, err := d.OpenWith(app.Notes{W: &said}, entry, func(o gpu.Options) (engine.Engine, error) {
			tried = append(tried, o)
			if !works && o.Tuning != (gpu.Tuning{}) {
				return nil, errors.New("self-test: score differs")
			}
			return simd.New(), nil
		})
		want := "tuned 1970-01-01"
		if !works {
			want = device.DefaultTuning
		}
		if err != nil || d.Tuning != want ||
			strings.Contains(said.String(), "warning: the tuning of 1970-01-01 is not used: self-test: "+
				"score differs") == works {
			t.Errorf("%v, tuning %q, said %q", err, d.Tuning, &said)
		}
		if tried[0].Tuning != entry.Tuning || tried[0].AllowNonconforming || (!works && !tried[1].AllowNonconforming) {
			t.Errorf("tried %+v", tried)
		}
	}
}
