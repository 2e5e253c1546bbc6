package device

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
)

// listedDevices returns the names of a list of devices, such as cpu+opencl:0.0; nil if name is
// none, or the name of one device.
func listedDevices(name string, list lister) []string {
	names := strings.Split(name, "+")
	if len(names) == 1 {
		return nil
	}
	if _, err := Select(name, list); err == nil {
		return nil
	}
	return names
}

// chooseShards finds the devices of a list, each of which takes a share of the examples.
func (d *Device) chooseShards(text string, names []string, list lister) error {
	for _, name := range names {
		s, err := Select(name, list)
		if err == nil && s.Auto {
			err = fmt.Errorf("%w: %q is no device to stand beside others: name one", app.ErrNoSuchDevice,
				name)
		}
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, &Device{Selection: s, Options: d.Options, Audit: d.Audit})
	}
	shares, err := parseShares(text, len(names))
	if err != nil {
		return app.Usage("--shares: %v", err)
	}
	d.shares = shares
	return nil
}

// parseShares reads the shares of so many devices; nil if they are to be measured.
func parseShares(text string, count int) (shares []int, err error) {
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || v < 1 || v > 1000000 {
			return nil, fmt.Errorf("found %q, wanted whole numbers from 1 to 1000000 with commas between",
				part)
		}
		shares = append(shares, v)
	}
	if len(shares) != count {
		return nil, fmt.Errorf("found %d shares, wanted %d, one for each of the devices of --device",
			len(shares), count)
	}
	return shares, nil
}

// openShards opens all devices of the list, and those of all ranks, as one engine.
func (d *Device) openShards(n app.Notes, w Work) (_ engine.Engine, err error) {
	var engines []engine.Engine
	defer func() {
		if err != nil {
			for _, e := range engines {
				err = errors.Join(err, e.Close())
			}
		}
	}()
	parts := d.Parts
	if parts == nil {
		parts = []*Device{d}
	}
	for _, part := range parts {
		e, err := part.openOne(n, w)
		if err != nil {
			return nil, err
		}
		engines = append(engines, e)
	}
	shares := d.shares
	if shares == nil && !w.processorSuffices() && !(w.Shared && len(engines) == 1) {
		if shares, err = shard.Measure(engines, w.Features, w.Classes, w.Values, w.sparse); err != nil {
			return nil, err
		}
	}
	if Launch.Ranks > 1 {
		n.Say("rank %d of %d", Launch.Rank, Launch.Ranks)
		return d.joinRanks(engines, shares, w)
	}
	e, err := shard.New(engines, shares)
	if err != nil {
		return nil, err
	}
	n.Say("shares of the examples: %s", SharesText(engines, shares))
	return e, nil
}

// SharesText says how much each engine takes; nil shares are equal.
func SharesText(engines []engine.Engine, shares []int) string {
	total, texts := 0, make([]string, len(engines))
	for i := range engines {
		if shares == nil {
			total++
		} else {
			total += shares[i]
		}
	}
	for i, e := range engines {
		share := 1
		if shares != nil {
			share = shares[i]
		}
		texts[i] = fmt.Sprintf("%s %.3g %%", e.Device().ID, 100*float64(share)/float64(total))
	}
	return strings.Join(texts, ", ")
}

// reopenShards opens the devices of the list a second time, with another limit of memory for all
// that are OpenCL's.
func (d *Device) reopenShards(limit int64) (_ engine.Engine, err error) {
	var engines []engine.Engine
	for _, part := range d.Parts {
		e := engine.Engine(nil)
		if part.CPU != nil {
			e = part.CPU(d.Options.NoBounds)
		} else if e, err = part.Reopen(part.Try[0].ID(), limit/int64(len(d.Parts))); err != nil {
			break
		}
		engines = append(engines, e)
	}
	if err == nil {
		var all engine.Engine
		if all, err = shard.New(engines, d.shares); err == nil {
			return all, nil
		}
	}
	for _, e := range engines {
		err = errors.Join(err, e.Close())
	}
	return nil, err
}

// Reopen opens the OpenCL device with this id a second time, with another limit
// of memory.
func (d *Device) Reopen(id string, limit int64) (engine.Engine, error) {
	if d.Parts != nil {
		return d.reopenShards(limit)
	}
	for _, i := range d.Try {
		if i.ID() == id {
			o := d.Options
			o.MemoryLimit = limit
			return gpu.Open(i, o)
		}
	}
	return nil, fmt.Errorf("%w: %q cannot be opened again", app.ErrNoSuchDevice, id)
}
