// Package doctor is the command that finds out what keeps devices from working.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

type Options struct{ app.Common }

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "doctor",
		Usage: "find out what keeps devices from working, and say how to mend it",
		Description: `Looks at the OpenCL library, the registered drivers, the permissions of GPUs, the
folder for compiled kernels and the memory that is left. Then it opens each device, which runs the
self-test.

A line is ok, a note (less than there could be), or bad. If one is bad, the exit code is 1, and the
mend stands below. Without OpenCL all commands compute on the processor, so that this is a note.

Example: uma-gpu doctor`,
		Flags:  app.Flags(o.JSONFlag()),
		Action: app.Action(o, run),
	}
}

// The verdicts of findings.
const (
	findingOK   = "ok"
	findingNote = "note"
	findingBad  = "bad"
)

// finding is what was found about one thing.
type finding struct {
	About   string `json:"about"`
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
	Mend    string `json:"mend,omitempty"`
}

// doctorReport is what doctor --json prints.
type doctorReport struct {
	Findings []finding `json:"findings"`
}

// tested returns the finding ok with its text, or if err is not nil bad, with err and the mend.
func tested(about, ok string, err error, bad, mend string) finding {
	if err == nil {
		return finding{about, findingOK, ok, ""}
	}
	return finding{about, findingBad, fmt.Sprintf("%s: %v", bad, err), mend}
}

// surroundings reads the files below root, which is / but in tests, and the environment.
type surroundings struct {
	root string
	env  func(name string) string
	open func(path string) error // for reading and writing
}

// Run looks at this machine and prints what it finds.
func Run(_ context.Context, o *Options) error {
	return o.diagnose(surroundings{root: "/", env: os.Getenv, open: opens}, devices.Test)
}

// diagnose prints all findings. test lists the devices and says how their self-test went.
func (o *Options) diagnose(s surroundings, test func(app.Notes) devices.DeviceListing) error {
	all := append([]finding{programFinding()}, s.drivers()...)
	all = append(all, s.nodes()...)
	listing := test(app.Notes{W: io.Discard, Quiet: true})
	all = append(all, deviceFindings(listing)...)
	all = append(all, s.cache(), memoryFinding(), s.variables(listing)) // gpu may have chosen a cache
	err := o.Print(doctorReport{all}, func(w io.Writer) error {
		for _, f := range all {
			fmt.Fprintf(w, "%-5s %-10s %s\n", f.Verdict, f.About, f.Text)
			if f.Mend != "" {
				fmt.Fprintf(w, "%17s%s\n", "", "mend: "+f.Mend)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	bad := 0
	for _, f := range all {
		if f.Verdict == findingBad {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d findings are bad; see their mends", bad, len(all))
	}
	return nil
}

func programFinding() finding {
	text := fmt.Sprintf("uma-gpu %s, %s, %s/%s, OpenCL ", app.Version, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	if !gpu.Built {
		return finding{"program", findingNote, text + "not built in",
			"build with cgo and without -tags noopencl; make build does so"}
	}
	return finding{"program", findingOK, text + "built in", ""}
}

// drivers returns a finding for each ICD file, which names the library of a driver.
func (s surroundings) drivers() (all []finding) {
	folder := filepath.Join(s.root, "etc/OpenCL/vendors")
	if set := s.env("OCL_ICD_VENDORS"); set != "" {
		folder = set
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.icd")) // the pattern is well formed
	if strings.HasSuffix(folder, ".icd") {
		files = []string{folder}
	}
	if len(files) == 0 {
		return []finding{{"driver", findingNote, "no OpenCL driver is registered in " + folder,
			"apt-get install pocl-opencl-icd (processors), nvidia-opencl-icd, intel-opencl-icd or " +
				"mesa-opencl-icd"}}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		library, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		if err == nil && library == "" {
			err = errors.New("is empty, wanted the name of a library")
		}
		if err == nil && strings.Contains(library, "/") {
			_, err = os.Stat(filepath.Join(s.root, library))
		}
		all = append(all, tested("driver", file+" names "+library, err, file,
			"reinstall the package that dpkg -S "+file+" names, or remove the file"))
	}
	return all
}

// nodes returns a finding for each device file of a GPU: whether the user may open it.
func (s surroundings) nodes() (all []finding) {
	for _, pattern := range []string{"dev/dri/renderD*", "dev/nvidia[0-9]*", "dev/nvidiactl",
		"dev/nvidia-uvm", "dev/kfd", "dev/dxg"} {
		paths, _ := filepath.Glob(filepath.Join(s.root, pattern)) // the pattern is well formed
		for _, path := range paths {
			all = append(all, tested("GPU", path+" may be used", s.open(path), path+" may not be used",
				"join the group of the file (ls -l), usually render or video, and log in again"))
		}
	}
	if all == nil {
		all = append(all, finding{"GPU", findingNote, "none: neither in /dev/dri nor NVIDIA's",
			"in a container, hand the device in (docker run --gpus all, or --device /dev/dri)"})
	}
	return all
}

// deviceFindings says which devices work. The processor has to.
func deviceFindings(listing devices.DeviceListing) (all []finding) {
	for _, d := range listing.Devices {
		var err error
		if d.SelfTest != devices.Passed {
			err = errors.New(d.SelfTest)
		}
		name := d.ID + " " + d.Name
		all = append(all, tested("device", name+": self-test passed", err, name,
			"update or reinstall its driver; until then choose another --device"))
	}
	for _, broken := range listing.LeftOut {
		all = append(all, finding{"driver", findingBad, broken,
			"reinstall the driver, or remove its file"})
	}
	if listing.OpenCLError != "" && listing.LeftOut == nil {
		all = append(all, finding{"OpenCL", findingNote, listing.OpenCLError,
			"nothing to do, if the processor suffices: all commands compute on it"})
	}
	return all
}

// cache returns a finding of the folder in which PoCL keeps what it compiles.
func (s surroundings) cache() finding {
	folder := s.env("POCL_CACHE_DIR")
	if base := s.env("XDG_CACHE_HOME"); folder == "" && base != "" {
		folder = filepath.Join(base, "pocl", "kcache")
	}
	if home := s.env("HOME"); folder == "" && home != "" {
		folder = filepath.Join(home, ".cache", "pocl", "kcache")
	}
	if folder == "" {
		return finding{"cache", findingNote, "there is no folder of your own for compiled kernels",
			"set HOME, or POCL_CACHE_DIR to a folder of your own"}
	}
	return tested("cache", "compiled kernels are kept in "+folder, writable(folder),
		"compiled kernels cannot be kept in "+folder,
		"make room or get the right to write there, or set POCL_CACHE_DIR to another folder")
}

// writable returns an error if no file can be written into a folder, or where it would be made.
func writable(folder string) error {
	f, err := os.CreateTemp(folder, ".uma-gpu-doctor")
	if parent := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && parent != folder {
		return writable(parent)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 1<<16))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// little is how many bytes of memory are hardly enough for a device's kernels.
const little = 512 << 20

func memoryFinding() finding {
	left, by, advice := memory.Limit()
	text := fmt.Sprintf("%s may be taken, by %s", app.BytesText(left), by)
	if left < little {
		return finding{"memory", findingNote, text, advice}
	}
	return finding{"memory", findingOK, text, ""}
}

// variables tells which of the environment's variables change what the program does.
func (s surroundings) variables(listing devices.DeviceListing) finding {
	var set []string
	for _, name := range []string{device.Variable, "UMA_GPU_OPENCL_LIBRARY", "OCL_ICD_VENDORS",
		"OCL_ICD_FILENAMES", "POCL_CACHE_DIR", "POCL_DEVICES", "POCL_MEMORY_LIMIT",
		"POCL_MAX_WORK_GROUP_SIZE", "RUSTICL_ENABLE", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH",
		"LD_PRELOAD", "GOMEMLIMIT"} {
		if value := s.env(name); value != "" {
			set = append(set, fmt.Sprintf("%s=%q", name, value))
		}
	}
	var infos []gpu.Info
	for _, d := range listing.Devices {
		if d.Info != nil {
			infos = append(infos, *d.Info)
		}
	}
	_, err := device.Select(s.env(device.Variable), func() ([]gpu.Info, error) {
		if infos == nil {
			return nil, errors.New("there is no OpenCL device")
		}
		return infos, nil
	})
	if s.env(device.Variable) != "" && err != nil {
		return finding{"variables", findingBad, err.Error(),
			"unset " + device.Variable + ", or name one of uma-gpu devices"}
	}
	if set == nil {
		set = []string{"none that matters is set"}
	}
	return finding{"variables", findingOK, strings.Join(set, ", "), ""}
}

// opens reports why a file cannot be read and written, nil if it can.
func opens(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
