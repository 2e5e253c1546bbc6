package main

import (
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/tuned"
)

// defaultTuning is what device.tuning says of the default.
const defaultTuning = "default"

// openTuned opens an OpenCL device with the tuning that is stored for such work,
// or with the default: where there is none, and with a warning where it is of no use.
// What is stored is never a reason to fail.
func (d *device) openTuned(n notes, i gpu.Info, w work) (engine.Engine, error) {
	d.tuning, d.options.Tuning = defaultTuning, gpu.Tuning{}
	entry, err := storedTuning(i, w)
	if err != nil && !d.noTuning {
		n.warn("stored tunings are not used: %v", err)
	}
	if d.noTuning {
		entry = tuned.Entry{}
	}
	return d.openWith(n, entry, func(o gpu.Options) (engine.Engine, error) { return gpu.Open(i, o) })
}

// openWith calls open with the tuning of an entry, and if that fails without it.
func (d *device) openWith(
	n notes, entry tuned.Entry, open func(gpu.Options) (engine.Engine, error),
) (engine.Engine, error) {
	if entry.Tuning == (gpu.Tuning{}) {
		return open(d.options)
	}
	o := d.options
	o.Tuning, o.AllowNonconforming = entry.Tuning, false
	e, err := open(o)
	if err != nil {
		n.warn("the tuning of %s is not used: %v", date(entry), err)
		return open(d.options)
	}
	d.tuning, d.options.Tuning = "tuned "+date(entry), entry.Tuning
	return e, nil
}

func date(e tuned.Entry) string { return e.Date.Format("2006-01-02") }

// storedTuning looks a tuning up; where there is none the entry is empty.
func storedTuning(i gpu.Info, w work) (entry tuned.Entry, err error) {
	entries, err := storedTunings(i)
	shape := w.shape()
	for _, e := range entries {
		if e.Shape == shape {
			entry = e
		}
	}
	return entry, err
}

// storedTunings returns those of a device, its driver and these kernels.
func storedTunings(i gpu.Info) (entries []tuned.Entry, err error) {
	path, err := tuned.Path()
	if err != nil {
		return nil, nil // no folder for a table, and so no table
	}
	all, err := tuned.Read(path)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	key, err := tuned.NewKey(i, "")
	for _, e := range all {
		if key.Shape = e.Shape; e.Key == key {
			entries = append(entries, e)
		}
	}
	return entries, err
}

func (w work) shape() string { return tuned.Shape(w.sparse, w.features, w.classes, w.values) }
