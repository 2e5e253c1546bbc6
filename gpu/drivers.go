//go:build linux && cgo && !noopencl

package gpu

// #include <stdlib.h>
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A driver that crashes when it is loaded, or asked for its devices, would end the program. So a
// child process asks first, in programs that call AskInChild. If the child does not survive,
// drivers are asked one by one, and the loader of this process sees only the drivers that
// answered.

// Between this process and its child.
const (
	askVariable = "UMA_GPU_ASK_DRIVERS" // names the library to load
	asking      = "uma-gpu asks the drivers\n"
	asked       = 75
)

// askLimit is how long drivers may take to answer.
var askLimit = time.Minute

// Variables of OpenCL's loaders: a folder of ICD files, or one of them, or the library of a
// driver; and, of Khronos's loader, more libraries.
const (
	vendorsVariable   = "OCL_ICD_VENDORS"
	filenamesVariable = "OCL_ICD_FILENAMES"
)

// asksInChild says that AskInChild was called.
var asksInChild atomic.Bool

// AskInChild lets this package start the program once more, to ask the drivers for their devices
// in that child process: a driver that crashes or hangs is then left out. Call it first in main:
// in the child it does not return. Without this call drivers are asked in this process.
func AskInChild() {
	if library := os.Getenv(askVariable); library != "" {
		answer(library)
	}
	asksInChild.Store(true)
}

// answer asks all drivers that library knows for their devices, and ends the process. Errors are
// for the parent process to find.
func answer(library string) {
	fmt.Print(asking)
	// without a core file, if that is allowed
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	if openLibrary(library) == nil {
		knownDevices()
	}
	os.Exit(asked)
}

// leftOut is what LeftOut returns.
var leftOut []error

// LeftOut says which drivers Devices has left out, since a process that asked them for their
// devices crashed or hung, and how to mend that. It is nil before Devices was called.
func LeftOut() []error { return slices.Clone(leftOut) }

// vendors is where the loader looks for drivers.
func vendors() string {
	if set := os.Getenv(vendorsVariable); set != "" {
		return set
	}
	return "/etc/OpenCL/vendors"
}

// driver is one that is known to the loader.
type driver struct {
	name string // of its ICD file, or of its library
	text string // of the ICD file
}

// registered returns the drivers that the loader knows. One whose file cannot be read is left out.
func registered() (all []driver) {
	files, _ := filepath.Glob(filepath.Join(vendors(), "*.icd")) // no pattern of ours is malformed
	libraries := filepath.SplitList(os.Getenv(filenamesVariable))
	if about, err := os.Stat(vendors()); err == nil && !about.IsDir() {
		if strings.HasSuffix(vendors(), ".icd") {
			files = []string{vendors()}
		} else {
			libraries = append(libraries, vendors())
		}
	}
	for _, file := range files {
		text, err := []byte(nil), errors.New("it is no file")
		// a pipe would not end
		if about, statErr := os.Stat(file); statErr != nil || about.Mode().IsRegular() {
			text, err = os.ReadFile(file)
		}
		if err != nil {
			leftOut = append(leftOut, fmt.Errorf("OpenCL driver %s is left out: %w; remove it", file, err))
			continue
		}
		all = append(all, driver{file, string(text)})
	}
	for _, library := range libraries {
		all = append(all, driver{library, library})
	}
	return all
}

// soundDrivers returns a new folder with the ICD files of the drivers that answer, or "" if all
// drivers that the loader library knows do, or if AskInChild was not called.
func soundDrivers(library string) (folder string, err error) {
	if !asksInChild.Load() || rehearse(library, "") == nil {
		return "", nil
	}
	if err := rehearseWith(library, nil); err != nil {
		return "", fmt.Errorf("%w that works: a process that loaded %s with no driver %w; reinstall it "+
			"(Debian, Ubuntu: apt-get install --reinstall ocl-icd-libopencl1), or name another in %s",
			ErrNoLoader, library, err, LibraryVariable)
	}
	var sound []driver
	for _, d := range registered() {
		with := append(slices.Clone(sound), d) // there are some that work alone
		err := rehearseWith(library, with)
		if err == nil {
			sound = with
			continue
		}
		named := strings.TrimSpace(d.text)
		leftOut = append(leftOut,
			fmt.Errorf("OpenCL driver %s is left out: it names %q, and a process that asked it for its "+
				"devices %w; update or reinstall the package that dpkg -S %[1]s names, or remove the "+
				"file", d.name, named[:min(len(named), 100)], err))
	}
	return show(sound)
}

// show makes a folder that shows a loader these drivers and no others.
func show(drivers []driver) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "uma-gpu-drivers-"); err != nil {
		return "", err
	}
	for k, d := range drivers {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d.icd", k)), []byte(d.text),
			0o600); err != nil {
			return "", errors.Join(err, os.RemoveAll(folder))
		}
	}
	return folder, nil
}

// rehearseWith is rehearse with these drivers alone.
func rehearseWith(library string, drivers []driver) error {
	folder, err := show(drivers)
	if err != nil {
		return err
	}
	return errors.Join(rehearse(library, folder), os.RemoveAll(folder))
}

// rehearse asks the drivers whose ICD files are in a folder, "" for all that the loader finds,
// in a process of its own, and returns how it ended if it did not end well. It returns nil, too,
// where there can be no such process.
func rehearse(library, folder string) error {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, self)
	c.Stdout, c.Stderr, c.WaitDelay = &stdout, &stderr, time.Second
	c.Env = append(os.Environ(), askVariable+"="+library)
	if folder != "" {
		c.Env = append(c.Env, vendorsVariable+"="+folder, filenamesVariable+"=")
	}
	err = c.Run()
	switch {
	// this package is part of a program that is not self
	case !strings.HasPrefix(stdout.String(), asking):
		return nil
	case c.ProcessState.ExitCode() == asked:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("did not end within %v", askLimit)
	case err == nil:
		err = errors.New("exit status 0")
	}
	words := strings.Join(strings.Fields(stderr.String()), " ")
	if words != "" {
		words = fmt.Sprintf(", and it said %q", words[:min(len(words), 300)])
	}
	// its exit code is not to be taken for this program's
	return fmt.Errorf("ended by %v%s", err, words)
}

// showLoader has the loader look for drivers in a folder and nowhere else. Go's own environment,
// which other programs inherit and messages quote, stays.
func showLoader(folder string) {
	for name, value := range map[string]string{vendorsVariable: folder, filenamesVariable: ""} {
		n, v := C.CString(name), C.CString(value)
		C.setenv(n, v, 1)
		C.free(unsafe.Pointer(n))
		C.free(unsafe.Pointer(v))
	}
}
