package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
)

// TestSeveralDevices: devices joined by + compute together and give the same model as one device.
func TestSeveralDevices(t *testing.T) {
	dir := t.TempDir()
	data, one, other := synthetic(t, dir), filepath.Join(dir, "one.npz"), filepath.Join(dir,
		"other.npz")
	lists := []string{"cpu+cpu:plain", "CPU + cpu + cpu:plain"}
	if gpu.Built {
		lists = append(lists, "cpu+opencl")
	}
	for _, learner := range []string{"uma", "softmax", "pa"} {
		train := []string{"train", "--data", data, "--learner", learner, "--max-steps", "6", "--model"}
		succeed(t, append(train, one, "--device", "cpu")...)
		for i, list := range lists {
			_, said := succeed(t, append(train, other, "--device", list)...)
			if !strings.Contains(said, []string{"shares of the examples: cpu 50 %, cpu:plain 50 %",
				"cpu 33.3 %, cpu 33.3 %, cpu:plain 33.3 %", "cpu 50 %, opencl:"}[i]) {
				t.Errorf("--device %s: said %s", list, said)
			}
			if what := differ(t, one, other); what != "" {
				t.Errorf("--learner %s --device %s: another %s", learner, list, what)
			}
		}
	}
	for _, list := range []string{"cpu+auto", "cpu+nothing", "cpu+"} {
		fail(t, app.ExitNoDevice, "device", "train", "--data", data, "--model", other, "--device", list)
	}
}
