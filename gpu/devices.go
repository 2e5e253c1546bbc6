//go:build linux && cgo && !noopencl

package gpu

import (
	"fmt"
	"strings"
	"sync"

	"github.com/jgillich/go-opencl/cl"
)

// Built says whether this build knows OpenCL.
const Built = true

// Devices lists the OpenCL devices of all platforms. An empty list is never
// returned: ErrNoLoader, ErrNoPlatform or ErrNoDevice say what is missing.
func Devices() ([]Info, error) {
	found, err := devices()
	infos := make([]Info, len(found))
	for i, f := range found {
		infos[i] = f.info
	}
	return infos, err
}

// device is a device with what is known of it.
type device struct {
	info Info
	cl   *cl.Device
}

// CL_DEVICE_SINGLE_FP_CONFIG, which the binding leaves out.
const singleFPConfig = 0x101B

// listing is held while the drivers are asked: PoCL crashes, or knows no device, where two threads
// are the first to ask.
var listing sync.Mutex

func devices() ([]device, error) {
	listing.Lock()
	defer listing.Unlock()
	if err := load(); err != nil {
		return nil, err
	}
	return knownDevices()
}

// knownDevices lists the devices of all platforms that the loader knows.
func knownDevices() ([]device, error) {
	platforms, err := cl.GetPlatforms()
	if len(platforms) == 0 {
		return nil, noPlatform() // the loader says so by a bare -1001, or by an empty list
	}
	if err != nil {
		return nil, fmt.Errorf("list OpenCL platforms: %w", err)
	}
	var all []device
	var names []string
	for p, platform := range platforms {
		found, err := platform.GetDevices(cl.DeviceTypeAll)
		if err != nil && err != cl.ErrDeviceNotFound {
			return nil, fmt.Errorf("list the devices of OpenCL platform %d: %w", p, err)
		}
		for d, device := range found {
			described, err := describe(p, d, platform, device)
			if err != nil {
				return nil, fmt.Errorf("describe opencl:%d.%d: %w", p, d, err)
			}
			all = append(all, described)
		}
		if name, err := recovered(platform.Name); err == nil {
			names = append(names, name)
		}
	}
	if len(all) == 0 {
		if err := checkCache(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: the drivers (%s) know none; is the device there, and may you use it "+
			"(groups video, render)?", ErrNoDevice, strings.Join(names, ", "))
	}
	return all, nil
}

func describe(p, d int, platform *cl.Platform, dev *cl.Device) (device, error) {
	return recovered(func() device {
		fp := cl.FPConfig(0)
		if bits, err := dev.GetInfoUlong(singleFPConfig); err == nil {
			fp = cl.FPConfig(bits)
		}
		shares, err := recovered(dev.HostUnifiedMemory)
		i := Info{
			SharesMemory: err == nil && shares,
			Platform:     p, Device: d,
			PlatformName: platform.Name(), Name: dev.Name(), Vendor: dev.Vendor(),
			Type: dev.Type().String(), Version: dev.Version(), Driver: dev.DriverVersion(),
			Memory: dev.GlobalMemSize(), MaxAlloc: dev.MaxMemAllocSize(),
			ComputeUnits: dev.MaxComputeUnits(),
		}
		i.FP.Denormals, i.FP.InfNaN = fp&cl.FPConfigDenorm != 0, fp&cl.FPConfigInfNaN != 0
		i.FP.RoundToNearest, i.FP.FMA = fp&cl.FPConfigRoundToNearest != 0, fp&cl.FPConfigFMA != 0
		return device{cl: dev, info: i}
	})
}

// recovered turns the binding's panics, which are how its getters fail, into errors.
func recovered[T any](get func() T) (value T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return get(), nil
}
