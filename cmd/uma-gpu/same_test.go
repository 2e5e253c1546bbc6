package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu"
)

// differ says in what two model files differ but for the device that meta.json tells of;
// "" if in nothing.
func differ(t *testing.T, a, b string) string {
	t.Helper()
	if bytes.Equal(read(t, a), read(t, b)) {
		return ""
	}
	membersA, membersB := members(t, a), members(t, b)
	if len(membersA) != len(membersB) {
		return "the number of members"
	}
	for k, m := range membersA {
		other := membersB[k]
		if m.name != other.name {
			return "member " + m.name + " or " + other.name
		}
		if m.name != "meta.json" && !bytes.Equal(m.data, other.data) {
			return m.name
		}
		if m.name == "meta.json" && !reflect.DeepEqual(withoutDevice(t, m.data), withoutDevice(t,
			other.data)) {
			return "meta.json\n" + string(m.data) + "\n" + string(other.data)
		}
	}
	return ""
}

// withoutDevice are the fields of meta.json but for the device, as they stand there.
func withoutDevice(t *testing.T, meta []byte) map[string]json.RawMessage {
	t.Helper()
	fields := decode[map[string]json.RawMessage](t, string(meta))
	if fields["device"] == nil {
		t.Fatalf("meta.json has no device: %s", meta)
	}
	delete(fields, "device")
	return fields
}

// archived is a member of a model file.
type archived struct {
	name string
	data []byte
}

// members are those of a model file, in order.
func members(t *testing.T, path string) (all []archived) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		all = append(all, archived{f.Name, member(t, path, f.Name)})
	}
	return all
}

// rewrite copies a model file with other bytes for one member; nil leaves it out.
func rewrite(t *testing.T, from, to, name string, data []byte) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	found := false
	for _, m := range members(t, from) {
		if m.name == name {
			found, m.data = true, data
		}
		if m.data == nil {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, bytes.NewReader(m.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil || !found {
		t.Fatalf("%s in %s: found %v, %v", name, from, found, err)
	}
}

// devicesHere are the names of the processor and, if there is OpenCL in the program, of
// its first device.
func devicesHere(t *testing.T) []string {
	t.Helper()
	all := []string{"cpu"}
	if gpu.Built {
		infos, err := gpu.Devices()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, infos[0].ID())
	}
	return all
}

// with is a command line with more at its end.
func with(args []string, more ...string) []string { return slices.Concat(args, more) }
