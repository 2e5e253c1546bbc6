package main

import (
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/gpu/tuned"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// defaultTuning is what device.tuning says of the default.
const defaultTuning = "default"

// openTuned opens an OpenCL device with the tuning that is stored for such examples,
// or with the default: where there is none, and with a warning where it is of no use.
// What is stored is never a reason to fail.
func (d *device) openTuned(n notes, i gpu.Info, x dataset.Examples, classes int) (engine.Engine, error) {
	d.tuning, d.options.Tuning = defaultTuning, gpu.Tuning{}
	entry, found, err := storedTuning(i, x, classes)
	if err != nil && !d.noTuning {
		n.warn("stored tunings are not used: %v", err)
	}
	if !found || d.noTuning || entry.Tuning == (gpu.Tuning{}) {
		return gpu.Open(i, d.options)
	}
	o := d.options
	o.Tuning, o.AllowNonconforming = entry.Tuning, false
	e, err := gpu.Open(i, o)
	if err != nil {
		n.warn("the tuning of %s is not used: %v", date(entry), err)
		return gpu.Open(i, d.options)
	}
	d.tuning, d.options.Tuning = "tuned "+date(entry), entry.Tuning
	return e, nil
}

func date(e tuned.Entry) string { return e.Date.Format("2006-01-02") }

// storedTuning looks a tuning up.
func storedTuning(i gpu.Info, x dataset.Examples, classes int) (entry tuned.Entry, found bool, err error) {
	path, err := tuned.Path()
	if err != nil {
		return entry, false, nil // no folder for it, and so no table
	}
	entries, err := tuned.Read(path)
	if err != nil || len(entries) == 0 {
		return entry, false, err
	}
	key, err := tuned.NewKey(i, shapeOf(x, classes))
	if err != nil {
		return entry, false, err
	}
	entry, found = tuned.Find(entries, key)
	return entry, found, nil
}

func shapeOf(x dataset.Examples, classes int) string {
	return tuned.Shape(x.Sparse(), x.D, classes, x.Stored())
}
