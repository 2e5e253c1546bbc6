package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
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
			shares := []string{"1,2", "5,1,1", ""}[i]
			_, said := succeed(t, append(train, other, "--device", list, "--shares", shares)...)
			if !strings.Contains(said, []string{"shares of the examples: cpu 33.3 %, cpu:plain 66.7 %",
				"cpu 71.4 %, cpu 14.3 %, cpu:plain 14.3 %", "cpu 50 %, opencl:"}[i]) {
				t.Errorf("--device %s: said %s", list, said)
			}
			if what := differ(t, one, other); what != "" {
				t.Errorf("--learner %s --device %s: another %s", learner, list, what)
			}
		}
	}
	for _, c := range []struct {
		fragment string
		more     []string
	}{
		{`--shares "0"`, []string{"--device", "cpu+cpu", "--shares", "0,1"}},
		{"--shares 3 shares 2", []string{"--device", "cpu+cpu", "--shares", "1,1,1"}},
		{"--shares", []string{"--device", "cpu", "--shares", "1"}},
	} {
		fail(t, app.ExitUsage, c.fragment, append([]string{"train", "--data", data, "--model", other},
			c.more...)...)
	}
	for _, list := range []string{"cpu+auto", "cpu+nothing", "cpu+"} {
		fail(t, app.ExitNoDevice, "device", "train", "--data", data, "--model", other, "--device", list)
	}
}

// TestMeasuredShares: work for which measuring pays has shares by speed.
func TestMeasuredShares(t *testing.T) {
	var said strings.Builder
	d := &device.Device{Parts: []*device.Device{
		{Selection: device.Selection{CPU: device.Processors[0].New}},
		{Selection: device.Selection{CPU: device.Processors[1].New}}}}
	e, err := d.Open(app.Notes{W: &said}, device.Work{Features: 20, Classes: 3,
		Values: device.ProcessorValues})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !facts.Told(said.String(), "shares cpu") {
		t.Errorf("said %s", &said)
	}
	one := device.Processors[0].New()
	if got := device.SharesText([]engine.Driver{one, one, one, one}, slices.Repeat([]int{3},
		4)); !strings.Contains(got, "25 %") {
		t.Errorf("found %s", got)
	}
}
