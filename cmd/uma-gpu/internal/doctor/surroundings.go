package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// surroundings reads the files below root, which is / but in tests, and the environment.
type surroundings struct {
	root string
	env  func(name string) string
	open func(path string) error // for reading and writing
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
		f := finding{"driver", findingOK, file + " names " + library, ""}
		if err != nil {
			f.Verdict, f.Text = findingBad, fmt.Sprintf("%s: %v", file, err)
			f.Mend = "reinstall the package that dpkg -S " + file + " names, or remove the file"
		}
		all = append(all, f)
	}
	return all
}

// nodes returns a finding for each device file of a GPU: whether the user may open it.
func (s surroundings) nodes() (all []finding) {
	for _, pattern := range []string{"dev/dri/renderD*", "dev/nvidia[0-9]*", "dev/nvidiactl",
		"dev/nvidia-uvm", "dev/kfd", "dev/dxg"} {
		paths, _ := filepath.Glob(filepath.Join(s.root, pattern)) // the pattern is well formed
		for _, path := range paths {
			f := finding{"GPU", findingOK, path + " may be used", ""}
			if err := s.open(path); err != nil {
				f.Verdict, f.Text = findingBad, fmt.Sprintf("%s may not be used: %v", path, err)
				f.Mend = "join the group of the file (ls -l), usually render or video, and log in again"
			}
			all = append(all, f)
		}
	}
	if all == nil {
		all = append(all, finding{"GPU", findingNote, "none: neither in /dev/dri nor NVIDIA's",
			"in a container, hand the device in (docker run --gpus all, or --device /dev/dri)"})
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
	f := finding{"cache", findingOK, "compiled kernels are kept in " + folder, ""}
	if err := writable(folder); err != nil {
		f.Verdict, f.Text = findingBad, fmt.Sprintf("compiled kernels cannot be kept in %s: %v", folder,
			err)
		f.Mend = "make room or get the right to write there, or set POCL_CACHE_DIR to another folder"
	}
	return f
}

// writable returns an error if no file can be written into a folder, or where it would be made.
func writable(folder string) error {
	for {
		f, err := os.CreateTemp(folder, ".uma-gpu-doctor")
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(folder) != folder {
			folder = filepath.Dir(folder)
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, 1<<16))
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
}
