package device

import (
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/tuned"
)

// DefaultTuning is what device.tuning says of the default.
const DefaultTuning = "default"

// openTuned opens an OpenCL device with the tuning that is stored for such work,
// or with the default: where there is none, and with a warning where it is of no use.
// What is stored is never a reason to fail.
func (d *Device) openTuned(n app.Notes, i gpu.Info, w Work) (engine.Engine, error) {
	d.Tuning, d.Options.Tuning = DefaultTuning, gpu.Tuning{}
	entry, err := storedTuning(i, w)
	if err != nil && !d.noTuning {
		n.Warn("stored tunings are not used: %v", err)
	}
	if d.noTuning {
		entry = tuned.Entry{}
	}
	return d.OpenWith(n, entry, func(o gpu.Options) (engine.Engine, error) { return gpu.Open(i, o) })
}

// OpenWith calls open with the tuning of an entry, and if that fails without it.
func (d *Device) OpenWith(
	n app.Notes, entry tuned.Entry, open func(gpu.Options) (engine.Engine, error),
) (engine.Engine, error) {
	if entry.Tuning == (gpu.Tuning{}) {
		return open(d.Options)
	}
	o := d.Options
	o.Tuning, o.AllowNonconforming = entry.Tuning, false
	e, err := open(o)
	if err != nil {
		n.Warn("the tuning of %s is not used: %v", date(entry), err)
		return open(d.Options)
	}
	d.Tuning, d.Options.Tuning = "tuned "+date(entry), entry.Tuning
	return e, nil
}

func date(e tuned.Entry) string { return e.Date.Format("2006-01-02") }

// storedTuning looks a tuning up; where there is none the entry is empty.
func storedTuning(i gpu.Info, w Work) (entry tuned.Entry, err error) {
	entries, err := StoredTunings(i)
	shape := w.Shape()
	for _, e := range entries {
		if e.Shape == shape {
			entry = e
		}
	}
	return entry, err
}

// StoredTunings returns those of a device, its driver and these kernels.
func StoredTunings(i gpu.Info) (entries []tuned.Entry, err error) {
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

func (w Work) Shape() string { return tuned.Shape(w.sparse, w.Features, w.Classes, w.Values) }
