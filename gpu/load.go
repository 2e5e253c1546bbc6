//go:build linux && cgo && !noopencl

package gpu

// #cgo CFLAGS: -DCL_TARGET_OPENCL_VERSION=120
// #cgo LDFLAGS: -Wl,--as-needed -ldl
// #include <stdlib.h>
// const char *uma_load_opencl(const char *library);
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// LibraryVariable names the environment variable that replaces libOpenCL.so.1 as
// the library to load, for loaders in unusual places.
const LibraryVariable = "UMA_GPU_OPENCL_LIBRARY"

// load finds the OpenCL loader, once.
var load = sync.OnceValue(func() error {
	if err := protectCache(); err != nil {
		return err
	}
	library := os.Getenv(LibraryVariable)
	if library == "" {
		library = "libOpenCL.so.1"
	}
	if err := openLibrary(library); err != nil {
		return err
	}
	// now the loader loads the drivers; devices asks again, and says what is wrong
	_, _ = cl.GetPlatforms()
	return nil
})

// protectCache gives PoCL a folder that only this user can enter if there is no home: it would load
// compiled kernels from a folder below /tmp, where anybody may have put them.
func protectCache() error {
	const variable = cacheVariable
	if cmp.Or(os.Getenv(variable), os.Getenv("XDG_CACHE_HOME"), os.Getenv("HOME")) != "" {
		return nil
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("uma-gpu-pocl-%d", os.Geteuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("folder for compiled kernels: %w; set HOME or %s", err, variable)
	}
	about, err := os.Lstat(dir) // a link is not followed
	if err != nil {
		return fmt.Errorf("folder for compiled kernels: %w; set HOME or %s", err, variable)
	}
	owner, known := about.Sys().(*syscall.Stat_t)
	if !about.IsDir() || about.Mode().Perm() != 0o700 || !known || int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("folder for compiled kernels: %s has mode %v, want drwx------ and you as its "+
			"owner; remove it, or set HOME or %s", dir, about.Mode(), variable)
	}
	return os.Setenv(variable, dir) // with cgo C's environment too, which PoCL reads
}

// cacheVariable names the folder where PoCL keeps compiled kernels.
const cacheVariable = "POCL_CACHE_DIR"

// checkCache returns an error if PoCL, which has no device then, cannot write to its folder.
func checkCache() error {
	dir := os.Getenv(cacheVariable)
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o700) // as PoCL does
	var f *os.File
	if err == nil {
		f, err = os.CreateTemp(dir, "")
	}
	if err != nil {
		return fmt.Errorf("%w: PoCL cannot keep compiled kernels in %s, which is %s: %w; name a folder "+
			"that you may write to, or unset it", ErrNoDevice, cacheVariable, dir, osfile.Cause(err))
	}
	f.Close() // nothing was written
	return os.Remove(f.Name())
}

// openLibrary loads the OpenCL loader.
func openLibrary(library string) error {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	if message := C.uma_load_opencl(name); message != nil {
		return fmt.Errorf("%w: %s; install one (Debian, Ubuntu: apt-get install ocl-icd-libopencl1) and "+
			"a driver (pocl-opencl-icd for the processor, or your GPU vendor's), or name the library in %s",
			ErrNoLoader, C.GoString(message), LibraryVariable)
	}
	return nil
}

// noPlatform says why the loader knows no platform.
func noPlatform() error {
	dir := cmp.Or(os.Getenv("OCL_ICD_VENDORS"), "/etc/OpenCL/vendors")
	drivers, _ := filepath.Glob(filepath.Join(dir, "*.icd")) // the pattern is well formed
	if len(drivers) == 0 {
		return fmt.Errorf("%w: no driver (ICD) is registered in %s; install one (Debian, Ubuntu: "+
			"apt-get install pocl-opencl-icd for the processor, or your GPU vendor's driver)", ErrNoPlatform,
			dir)
	}
	return fmt.Errorf("%w: none of the %d drivers registered in %s starts; run clinfo, and reinstall "+
		"the package of each driver (dpkg -S FILE names it) or remove its file", ErrNoPlatform,
		len(drivers), dir)
}
