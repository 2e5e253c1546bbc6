// Package doctor is the command that finds out what keeps devices from working.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Options are the options of the command.
type Options struct{ app.Common }

// New returns the command, which calls run.
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
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Run looks at this machine and prints what it finds.
func Run(_ context.Context, o *Options) error {
	return o.diagnose(surroundings{root: "/", env: os.Getenv, open: opens}, devices.Test)
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

// diagnose prints all findings. test lists the devices and says how their self-test went.
func (o *Options) diagnose(s surroundings, test func(app.Notes) devices.DeviceListing) error {
	all := []finding{programFinding()}
	all = append(all, s.drivers()...)
	all = append(all, s.nodes()...)
	listing := test(app.Notes{W: io.Discard, Quiet: true})
	all = append(all, deviceFindings(listing)...)
	all = append(all, s.cache()) // gpu may have chosen another one by now
	all = append(all, memoryFinding(), s.variables(listing))
	bad := 0
	for _, f := range all {
		if f.Verdict == findingBad {
			bad++
		}
	}
	err := o.Print(doctorReport{all}, func(w io.Writer) error {
		printFindings(w, all)
		return nil
	})
	if err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d findings are bad; see their mends", bad, len(all))
	}
	return nil
}

func printFindings(w io.Writer, all []finding) {
	columns := app.UsualColumns
	if s, ok := w.(app.Screen); ok {
		columns = s.Columns
	}
	for _, f := range all {
		fmt.Fprintf(w, "%-5s %-10s %s\n", f.Verdict, f.About, app.Hang(f.Text, columns, 17))
		if f.Mend != "" {
			fmt.Fprintf(w, "%17s%s\n", "", app.Hang("mend: "+f.Mend, columns, 17))
		}
	}
}

func programFinding() finding {
	f := finding{"program", findingOK, fmt.Sprintf("uma-gpu %s, %s, %s/%s, OpenCL built in",
		app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH), ""}
	if !gpu.Built {
		f.Verdict, f.Text = findingNote, strings.Replace(f.Text, "built in", "not built in", 1)
		f.Mend = "build with cgo and without -tags noopencl; make build does so"
	}
	return f
}

// deviceFindings says which devices work. The processor has to.
func deviceFindings(listing devices.DeviceListing) (all []finding) {
	for _, d := range listing.Devices {
		f := finding{"device", findingOK, d.ID + " " + d.Name + ": self-test passed", ""}
		if d.SelfTest != devices.Passed {
			f.Verdict, f.Text = findingBad, d.ID+" "+d.Name+": "+d.SelfTest
			f.Mend = "update or reinstall its driver; until then choose another --device"
		}
		all = append(all, f)
	}
	for _, broken := range listing.LeftOut {
		text, mend, _ := strings.Cut(broken, "; ")
		all = append(all, finding{"driver", findingBad, text, mend})
	}
	if listing.OpenCLError != "" && listing.LeftOut == nil {
		all = append(all, finding{"OpenCL", findingNote, listing.OpenCLError,
			"nothing to do, if the processor suffices: all commands compute on it"})
	}
	return all
}

// little is how many bytes of memory are hardly enough for a device's kernels.
const little = 512 << 20

func memoryFinding() finding {
	left, by, advice := memory.Limit()
	f := finding{"memory", findingOK, fmt.Sprintf("%s may be taken, by %s", devices.BytesText(left),
		by), ""}
	if left < little {
		f.Verdict, f.Mend = findingNote, advice
	}
	return f
}

// variables tells which of the environment's variables change what the program does.
func (s surroundings) variables(listing devices.DeviceListing) finding {
	var set []string
	for _, name := range []string{device.Variable, "UMA_GPU_OPENCL_LIBRARY", "OCL_ICD_VENDORS",
		"OCL_ICD_FILENAMES", "POCL_CACHE_DIR", "POCL_DEVICES", "POCL_MEMORY_LIMIT",
		"POCL_MAX_WORK_GROUP_SIZE",
		"RUSTICL_ENABLE", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "LD_PRELOAD", "GOMEMLIMIT"} {
		if value := s.env(name); value != "" {
			set = append(set, fmt.Sprintf("%s=%q", name, value))
		}
	}
	f := finding{"variables", findingOK, "none that matters is set", ""}
	if set != nil {
		f.Text = strings.Join(set, ", ")
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
		f.Verdict, f.Text = findingBad, err.Error()
		f.Mend = "unset " + device.Variable + ", or name one of uma-gpu devices"
	}
	return f
}

// opens reports why a file cannot be read and written, nil if it can.
func opens(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
