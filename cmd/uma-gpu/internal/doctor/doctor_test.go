package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app/apptest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/gpu"
)

func TestDoctor(t *testing.T) {
	stdout, _, err := apptest.Run(t, New(Run), "--json")
	r := decode(t, stdout)
	found := slices.DeleteFunc(slices.Clone(r.Findings),
		func(f finding) bool { return f.About != "device" })
	if len(found) < 2 || found[0].Verdict != findingOK || !strings.HasPrefix(found[0].Text, "cpu ") {
		t.Errorf("found %+v", r.Findings)
	}
	bad := slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Verdict == findingBad })
	if bad != (err != nil) {
		t.Errorf("%v of %+v", err, r.Findings)
	}
}

// decode reads a report.
func decode(t *testing.T, text string) (r doctorReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
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
		{"no driver", nil, nil, "driver", findingNote, "no OpenCL driver is registered",
			"apt-get install pocl-opencl-icd"},
		{"a driver", map[string]string{"etc/OpenCL/vendors/a.icd": "liba.so\n"}, nil, "driver", findingOK,
			"a.icd names liba.so", ""},
		{"its library is gone", map[string]string{"etc/OpenCL/vendors/a.icd": "/opt/liba.so"}, nil,
			"driver", findingBad, "liba.so: no such file", "reinstall the package"},
		{"an empty file", map[string]string{"etc/OpenCL/vendors/a.icd": "\n"}, nil,
			"driver", findingBad, "is empty, wanted the name of a library", "remove the file"},
		{"a folder of others", map[string]string{"x/b.icd": "libb.so"},
			map[string]string{"OCL_ICD_VENDORS": "ROOT/x"}, "driver", findingOK, "names libb.so", ""},
		{"a GPU", map[string]string{"dev/dri/renderD128": ""}, nil, "GPU", findingOK,
			"renderD128 may be used", ""},
		{"a GPU of others", map[string]string{"dev/dri/renderD129": ""}, nil,
			"GPU", findingBad, "renderD129 may not be used: permission denied", "join the group"},
		{"no GPU", nil, nil, "GPU", findingNote, "none: ", ""},
		{"a cache", nil, map[string]string{"HOME": "ROOT"}, "cache", findingOK, ".cache/pocl/kcache", ""},
		{"a file for a cache", map[string]string{"file": ""},
			map[string]string{"POCL_CACHE_DIR": "ROOT/file"},
			"cache", findingBad, "cannot be kept in ", "POCL_CACHE_DIR"},
		{"no home", nil, nil, "cache", findingNote, "no folder of your own", "set HOME"},
		{"variables", nil, map[string]string{"POCL_MEMORY_LIMIT": "1"}, "variables", findingOK, `POCL_MEMORY_LIMIT="1"`, ""},
		{"a device that is not", nil, map[string]string{device.Variable: "quantum"},
			"variables", findingBad, "quantum", "unset " + device.Variable},
		{"a failing device", nil, nil, "device", findingBad, "opencl:0.0 Toy: step 3 is wrong",
			"update or reinstall"},
	} {
		root := place(t, c.files)
		s := surroundings{root: root,
			env: func(name string) string { return strings.ReplaceAll(c.env[name], "ROOT", root) },
			open: func(path string) error {
				if strings.HasSuffix(path, "129") {
					return fs.ErrPermission
				}
				return opens(path)
			}}
		listing := devices.DeviceListing{Devices: []devices.DeviceEntry{{ID: "opencl:0.0", Name: "Toy",
			SelfTest: "step 3 is wrong", Info: &gpu.Info{Name: "Toy"}}}}
		var out bytes.Buffer
		o := &Options{app.Common{Out: &out, JSON: true, Notes: app.Notes{W: io.Discard, Quiet: true}}}
		if err := o.diagnose(s, func(app.Notes) devices.DeviceListing { return listing }); err == nil {
			t.Errorf("%s: no error, though a device fails", c.name)
		}
		r := decode(t, out.String())
		if !slices.ContainsFunc(r.Findings, func(f finding) bool {
			return f.About == c.about && f.Verdict == c.verdict && strings.Contains(f.Text, c.text) &&
				strings.Contains(f.Mend, c.mend)
		}) {
			t.Errorf("%s: wanted %s %s %q, mend %q in\n%s", c.name, c.verdict, c.about, c.text, c.mend,
				out.String())
		}
	}
}
