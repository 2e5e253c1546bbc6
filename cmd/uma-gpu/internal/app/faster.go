package app

import (
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// usualEvaluations is how many evaluations a fit of softmax makes, more or less.
const usualEvaluations = 50

// pays reports whether a device is faster than the processor for the work w, with the copy of the
// examples, and says so.
func pays(n Notes, device, processor engine.Driver, w host.Work) bool {
	var seconds [2]float64
	for k, e := range []engine.Driver{device, processor} {
		t, err := timesFor(e, w)
		if err != nil {
			n.Warn("the device and the processor cannot be compared: %v", err)
			return true
		}
		seconds[k] = t.Load + usualEvaluations*t.Evaluation
	}
	n.Say("predicted for %d evaluations and the copy: %s %.2g s, the processor %.2g s",
		usualEvaluations, device.Device().ID, seconds[0], seconds[1])
	return seconds[0] < seconds[1]
}

// timesFor returns the times of a driver for some work. A file in the user's cache keeps them by
// device, driver version and size of the work; missing times are measured and added to the file.
func timesFor(e engine.Driver, w host.Work) (t shard.Times, err error) {
	about := e.Device()
	columns, values := w.Seen()
	key := fmt.Sprintf("%s, %s, %s: 2^%d features, %d classes, 2^%d values", about.Name,
		about.Platform, about.Driver, bits.Len(uint(columns)), w.Classes, bits.Len(uint(values)))
	known, path := map[string]shard.Times{}, ""
	if folder, err := os.UserCacheDir(); err == nil {
		path = filepath.Join(folder, "uma-gpu", "times.json")
		if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &known) != nil {
			clear(known) // written by another version
		}
	}
	if t, measured := known[key]; measured {
		return t, nil
	}
	if t, err = shard.TimesFor(e, columns, w.Classes, values); err != nil || path == "" {
		return t, err
	}
	if known[key] = t; os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return t, nil // it is measured again the next time
	}
	osfile.Write(path, func(f io.Writer) error { return json.NewEncoder(f).Encode(known) }) // likewise
	return t, nil
}
