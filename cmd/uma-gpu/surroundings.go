package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// surroundings are what doctor looks at outside the program: the files below root, which is / but in tests.
type surroundings struct {
	root string
	env  func(name string) string
	open func(path string) error // for reading and writing
}

func (s surroundings) glob(pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(s.root, pattern)) // no pattern of ours is malformed
	return found
}

// text is that of a small file, "" if there is none.
func (s surroundings) text(path string) string {
	text, err := os.ReadFile(filepath.Join(s.root, path))
	if err != nil {
		return ""
	}
	return string(text)
}

func (s surroundings) has(path string) bool {
	_, err := os.Stat(filepath.Join(s.root, path))
	return err == nil
}

// drivers looks at the ICD files, each of which names the library of a driver.
func (s surroundings) drivers() (all []finding) {
	folder := filepath.Join(s.root, "etc/OpenCL/vendors")
	if set := s.env("OCL_ICD_VENDORS"); set != "" {
		folder = set
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.icd"))
	if strings.HasSuffix(folder, ".icd") {
		files = []string{folder}
	}
	if len(files) == 0 {
		return []finding{{"driver", findingNote, "no OpenCL driver is registered in " + folder,
			"apt-get install pocl-opencl-icd (processors), nvidia-opencl-icd, intel-opencl-icd or mesa-opencl-icd"}}
	}
	for _, file := range files {
		f := finding{"driver", findingOK, "", ""}
		library, err := s.driver(file)
		if f.Text = file + " names " + library; err != nil {
			f.Verdict, f.Text = findingBad, fmt.Sprintf("%s: %v", file, err)
			f.Mend = "reinstall the package that dpkg -S " + file + " names, or remove the file"
		}
		all = append(all, f)
	}
	return all
}

// driver returns the library that an ICD file names, and what is wrong with it.
func (s surroundings) driver(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if name == "" {
		return "", errors.New("is empty, wanted the name of a library")
	}
	path := s.library(name)
	if path == "" {
		return "", fmt.Errorf("names %s, which is not there", name)
	}
	return name, s.loadable(path)
}

// library returns the file that the dynamic linker takes for a name, "" if there is none.
func (s surroundings) library(name string) string {
	if strings.Contains(name, "/") {
		if path := filepath.Join(s.root, name); s.has(name) {
			return path
		}
		return ""
	}
	folders := filepath.SplitList(s.env("LD_LIBRARY_PATH"))
	for _, folder := range []string{"lib", "usr/lib", "lib64", "usr/lib64"} {
		folder = filepath.Join(s.root, folder)
		folders = append(folders, filepath.Join(folder, machines[runtime.GOARCH].folder), folder)
	}
	// Its cache has names and paths, each with a NUL behind it.
	cache, key := []byte(s.text("etc/ld.so.cache")), []byte("/"+name+"\x00")
	for at := bytes.Index(cache, key); at >= 0; at = bytes.Index(cache, key) {
		begin := bytes.LastIndexByte(cache[:at], 0) + 1
		folders = append(folders, filepath.Join(s.root, string(cache[begin:at])))
		cache = cache[at+len(key):]
	}
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); folder != "" && err == nil {
			return path
		}
	}
	return ""
}

// machines are the processors as ELF and as folders of libraries name them.
var machines = map[string]struct {
	elf    elf.Machine
	folder string
}{
	"amd64": {elf.EM_X86_64, "x86_64-linux-gnu"}, "arm64": {elf.EM_AARCH64, "aarch64-linux-gnu"},
	"riscv64": {elf.EM_RISCV, "riscv64-linux-gnu"}, "ppc64le": {elf.EM_PPC64, "powerpc64le-linux-gnu"},
}

// loadable says what keeps a library from being loaded, without loading it.
func (s surroundings) loadable(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is no library: %w", path, err)
	}
	defer f.Close() // of what was only read: nothing to lose
	if want := machines[runtime.GOARCH].elf; want != 0 && f.Machine != want {
		return fmt.Errorf("%s is for %v, wanted %v", path, f.Machine, want)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s is damaged: %w", path, err)
	}
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		if elsewhere, err := f.DynString(tag); err == nil && len(elsewhere) > 0 {
			return nil // where its own libraries lie is hard to tell
		}
	}
	for _, name := range needed {
		if s.library(name) == "" {
			return fmt.Errorf("%s needs %s, which is not there", path, name)
		}
	}
	return nil
}

// vendors of GPUs, by their number on the PCI bus, and the packages of their drivers.
var vendors = map[string]struct{ name, node, driver, mend string }{
	"0x10de": {"NVIDIA", "dev/nvidia[0-9]*", "nvidia", "apt-get install nvidia-driver nvidia-opencl-icd"},
	"0x1002": {"AMD", "dev/dri/renderD*", "", "apt-get install mesa-opencl-icd, or AMD's ROCm"},
	"0x8086": {"Intel", "dev/dri/renderD*", "", "apt-get install intel-opencl-icd"},
}

// nodes looks for GPUs, and whether the user may use them.
func (s surroundings) nodes() (all []finding) {
	for _, class := range s.glob("sys/bus/pci/devices/*/class") {
		about, err := os.ReadFile(class)
		if err != nil || !strings.HasPrefix(string(about), "0x03") {
			continue // no display controller
		}
		id, err := os.ReadFile(filepath.Join(filepath.Dir(class), "vendor"))
		v, known := vendors[strings.TrimSpace(string(id))]
		if err == nil && known && len(s.glob(v.node)) == 0 {
			all = append(all, finding{"GPU", findingNote, fmt.Sprintf("a GPU of %s is on the PCI bus (%s), but the system "+
				"has no device for it", v.name, filepath.Base(filepath.Dir(class))), v.mend +
				"; in a container, hand the device in (docker run --gpus all, or --device /dev/dri)"})
		}
	}
	found := 0
	for _, pattern := range []string{"dev/dri/renderD*", "dev/nvidia[0-9]*", "dev/nvidiactl", "dev/nvidia-uvm", "dev/kfd",
		"dev/dxg"} {
		for _, path := range s.glob(pattern) {
			f := finding{"GPU", findingOK, path + " may be used", ""}
			if err := s.open(path); err != nil {
				f.Verdict, f.Text = findingBad, fmt.Sprintf("%s may not be used: %v", path, err)
				f.Mend = mendNode(path)
			}
			found++
			all = append(all, f)
		}
	}
	if found == 0 && all == nil {
		all = append(all, finding{"GPU", findingNote, "none: neither in /dev/dri, nor NVIDIA's, nor on the PCI bus", ""})
	}
	return all
}

// mendNode says who may use a device.
func mendNode(path string) string {
	group := groupThatMay(path)
	if group == "" {
		return "reinstall the GPU's driver, or ask who runs the machine to let you use it"
	}
	return "its group may: sudo usermod -aG " + group + " $USER, and log in again (docker run --group-add " + group + ")"
}

// confinement tells of containers and of Linux within Windows.
func (s surroundings) confinement() (all []finding) {
	var in string
	for _, sign := range []struct {
		name string
		seen bool
	}{
		{"Docker", s.has(".dockerenv")}, {"Podman", s.has("run/.containerenv")},
		{"Kubernetes", s.env("KUBERNETES_SERVICE_HOST") != ""}, {"Singularity", s.env("SINGULARITY_NAME") != ""},
		{s.env("container"), s.env("container") != ""},
	} {
		if sign.seen && in == "" {
			in = sign.name
		}
	}
	if in != "" {
		all = append(all, finding{"container", findingNote, "this is a container (" + in + "): it has the devices and " +
			"drivers that it was given", "for a GPU: docker run --gpus all with NVIDIA's container toolkit and " +
			"NVIDIA_DRIVER_CAPABILITIES=compute,utility, or --device /dev/dri; and a driver (ICD) within"})
	}
	if strings.Contains(strings.ToLower(s.text("proc/sys/kernel/osrelease")), "microsoft") {
		f := finding{"WSL", findingNote, "this is Linux within Windows: GPUs have OpenCL here only where their driver " +
			"brings it for WSL", "take the processor (pocl-opencl-icd), or run a build for Windows"}
		if !s.has("dev/dxg") {
			f.Verdict, f.Text = findingBad, "this is Linux within Windows, without GPUs: /dev/dxg is not there"
			f.Mend = "wsl --update, and WSL 2 for this distribution: wsl --set-version NAME 2"
		}
		all = append(all, f)
	}
	return all
}

// cache looks whether PoCL can keep what it compiles.
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
		f.Verdict, f.Text = findingBad, fmt.Sprintf("compiled kernels cannot be kept in %s: %v", folder, err)
		f.Mend = "make room or get the right to write there, or set POCL_CACHE_DIR to another folder"
	}
	return f
}

// writable tries to write into a folder, or where it would be made.
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
