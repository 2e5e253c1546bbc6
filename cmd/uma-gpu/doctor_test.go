package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/gpu"
)

func TestDoctor(t *testing.T) {
	code, stdout, stderr := command("doctor", "--json")
	r := decode[doctorReport](t, stdout)
	devices := slices.DeleteFunc(slices.Clone(r.Findings), func(f finding) bool { return f.About != "device" })
	if len(devices) < 2 || devices[0].Verdict != findingOK || !strings.HasPrefix(devices[0].Text, "cpu ") {
		t.Errorf("found %+v", r.Findings)
	}
	bad := slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Verdict == findingBad })
	if bad != (code == app.ExitFailure) || bad != strings.Contains(stderr, "findings are bad") {
		t.Errorf("exit code %d, %q of %+v", code, stderr, r.Findings)
	}
}

// place makes the files of a root folder; what begins with -> is a link.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if to, link := strings.CutPrefix(text, "->"); link {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o660), os.Chmod(path, 0o660))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Each thing that may be wrong with a machine is found, and its mend said.
func TestDoctorFindings(t *testing.T) {
	for _, c := range []struct {
		name                 string
		files                map[string]string
		env                  map[string]string
		about, verdict, text string
		mend                 string
	}{
		{"no driver", nil, nil, "driver", findingNote, "no OpenCL driver is registered", "apt-get install pocl-opencl-icd"},
		{"a driver", map[string]string{"etc/OpenCL/vendors/a.icd": "liba.so\n"}, nil, "driver", findingOK, "a.icd names liba.so", ""},
		{"its library is gone", map[string]string{"etc/OpenCL/vendors/a.icd": "/opt/liba.so"}, nil,
			"driver", findingBad, "liba.so: no such file", "reinstall the package"},
		{"an empty file", map[string]string{"etc/OpenCL/vendors/a.icd": "\n"}, nil,
			"driver", findingBad, "is empty, wanted the name of a library", "remove the file"},
		{"a folder of others", map[string]string{"x/b.icd": "libb.so"}, map[string]string{"OCL_ICD_VENDORS": "ROOT/x"},
			"driver", findingOK, "names libb.so", ""},
		{"a GPU", map[string]string{"dev/dri/renderD128": ""}, nil, "GPU", findingOK, "renderD128 may be used", ""},
		{"a GPU of others", map[string]string{"dev/dri/renderD129": ""}, nil,
			"GPU", findingBad, "renderD129 may not be used: permission denied", "join the group"},
		{"no GPU", nil, nil, "GPU", findingNote, "none: ", ""},
		{"a cache", nil, map[string]string{"HOME": "ROOT"}, "cache", findingOK, ".cache/pocl/kcache", ""},
		{"a file for a cache", map[string]string{"file": ""}, map[string]string{"POCL_CACHE_DIR": "ROOT/file"},
			"cache", findingBad, "cannot be kept in ", "POCL_CACHE_DIR"},
		{"no home", nil, nil, "cache", findingNote, "no folder of your own", "set HOME"},
		{"variables", nil, map[string]string{"POCL_MEMORY_LIMIT": "1"}, "variables", findingOK, `POCL_MEMORY_LIMIT="1"`, ""},
		{"a device that is not", nil, map[string]string{device.Variable: "quantum"},
			"variables", findingBad, "quantum", "unset " + device.Variable},
		{"a failing device", nil, nil, "device", findingBad, "opencl:0.0 Toy: step 3 is wrong", "update or reinstall"},
	} {
		root := place(t, c.files)
		s := surroundings{root: root, env: func(name string) string { return strings.ReplaceAll(c.env[name], "ROOT", root) },
			open: func(path string) error {
				if strings.HasSuffix(path, "129") {
					return fs.ErrPermission
				}
				return opens(path)
			}}
		listing := deviceListing{Devices: []deviceEntry{{ID: "opencl:0.0", Name: "Toy", SelfTest: "step 3 is wrong",
			Info: &gpu.Info{Name: "Toy"}}}}
		var out bytes.Buffer
		program := newApp(&out, io.Discard)
		program.Commands = []*cli.Command{{Name: "doctor", Flags: []cli.Flag{app.JSONFlag()}, Action: func(c *cli.Context) error {
			return diagnose(c, s, func(app.Notes) deviceListing { return listing })
		}}}
		if err := program.Run([]string{"uma-gpu", "doctor", "--json"}); err == nil {
			t.Errorf("%s: no error, though a device fails", c.name)
		}
		r := decode[doctorReport](t, out.String())
		if !slices.ContainsFunc(r.Findings, func(f finding) bool {
			return f.About == c.about && f.Verdict == c.verdict && strings.Contains(f.Text, c.text) &&
				strings.Contains(f.Mend, c.mend)
		}) {
			t.Errorf("%s: wanted %s %s %q, mend %q in\n%s", c.name, c.verdict, c.about, c.text, c.mend, out.String())
		}
	}
}
