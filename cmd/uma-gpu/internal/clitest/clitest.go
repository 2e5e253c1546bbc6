// Package clitest runs command lines in the process of a test, on the processor unless a flag names
// another device.
package clitest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func init() {
	if err := os.Setenv(app.DeviceVariable, "cpu"); err != nil {
		panic(err)
	}
}

// Real data sets of the repository.
var (
	Digits = testdata("digits.csv.gz")
	Letter = testdata("letter.csv.gz")
)

// testdata returns the path of a file in the repository's testdata, seen from any folder of it.
func testdata(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		return name // of a program that runs in a folder that is gone
	}
	for {
		path := filepath.Join(dir, "testdata", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		return name // no test of this folder needs it
	}
}

// Run runs a command line, in which a later flag replaces an earlier one: tests vary lines.
func Run(args ...string) (code int, stdout, stderr string) {
	return Exactly(Varied(args)...)
}

// Exactly runs a command line as it is.
func Exactly(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = program.Start(args, &out, &err)
	return code, out.String(), err.String()
}

// Varied returns a command line without the flags that a later one of the same name replaces.
func Varied(args []string) (varied []string) {
	place := map[string]int{} // of a flag in varied
	for k := 0; k < len(args); k++ {
		n := 1
		if k+1 < len(args) && (args[k] == "--try" || !strings.HasPrefix(args[k+1], "--")) {
			n = 2
		}
		name, _, _ := strings.Cut(args[k], "=")
		if !strings.HasPrefix(name, "--") {
			n = 1
		}
		several := name == "--try" || name == "--answers" || args[0] == "split" && name == "--out"
		if n == 1 && !strings.HasPrefix(name, "--") || several {
			varied = append(varied, args[k:k+n]...)
			k += n - 1
			continue
		}
		if at, twice := place[name]; twice {
			old := 1
			if at+1 < len(varied) && !strings.HasPrefix(varied[at+1], "--") {
				old = 2
			}
			varied = slices.Delete(varied, at, at+old)
			for other, p := range place {
				if p > at {
					place[other] = p - old
				}
			}
		}
		place[name] = len(varied)
		varied = append(varied, args[k:k+n]...)
		k += n - 1
	}
	return varied
}

// Succeed runs a command line that must succeed.
func Succeed(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := Run(args...)
	if code != app.ExitOK {
		t.Fatalf("uma-gpu %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout, stderr
}

// Fail runs a command line that must fail with the code, state the facts in its last message, and
// print nothing on stdout.
func Fail(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := Run(args...)
	_, message, said := strings.Cut("\n"+stderr, "\numa-gpu: ")
	if got != code || !said || !facts.Told(message, want) || stdout != "" {
		t.Errorf("uma-gpu %s:\nexit code %d, want %d\nstderr %swant the facts %s\nstdout %q, want none",
			strings.Join(args, " "), got, code, stderr, want, stdout)
	}
}

// Resumed returns the command line that goes on with a training from a checkpoint: its data and
// files, without the settings, which the checkpoint has.
func Resumed(args []string, checkpoint string) []string {
	files := []string{"--data", "--confusion", "--annotators", "--no-labels", "--model",
		"--checkpoint", "--every", "--device", "--max-steps", "--storage", "--quiet", "--verbose",
		"--audit"}
	resumed := []string{"train", "--resume", checkpoint}
	for k := 1; k < len(args); k++ {
		n := 1
		if k+1 < len(args) && !strings.HasPrefix(args[k+1], "--") {
			n = 2
		}
		if slices.Contains(files, args[k]) {
			resumed = append(resumed, args[k:k+n]...)
		}
		k += n - 1
	}
	return resumed
}

// Decode decodes what a command printed with --json.
func Decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// Write writes a file and returns its path.
func Write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Read returns the content of a file.
func Read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Names lists a folder.
func Names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Member returns the content of a member of a model file.
func Member(t *testing.T, path, name string) []byte {
	t.Helper()
	for _, m := range Members(t, path) {
		if m.Name == name {
			return m.Data
		}
	}
	t.Fatalf("%s has no member %s", path, name)
	return nil
}

// Load reads a model.
func Load(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Synthetic writes a data set of 300 examples, 5 features and 3 classes.
func Synthetic(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "small.csv")
	Succeed(t, "synth", "--examples", "300", "--features", "5", "--classes", "3", "--out", path)
	return path
}

// Noisy writes a copy of a data file with corrupted labels, and its confusion matrix.
func Noisy(t *testing.T, dir, data string, more ...string) (copyPath, matrix string) {
	t.Helper()
	copyPath, matrix = filepath.Join(dir, "noisy.csv"), filepath.Join(dir, "C.csv")
	Succeed(t, append([]string{"confusion", "inject", "--data", data, "--pairwise", "0.4",
		"--out", copyPath, "--write-confusion", matrix}, more...)...)
	return copyPath, matrix
}

// SmallNoisy writes 500 digits, right in part.csv and with two labels in five wrong, and the
// matrix.
func SmallNoisy(t *testing.T, dir string) (noisy, matrix string) {
	t.Helper()
	part := filepath.Join(dir, "part.csv")
	Succeed(t, "split", "--data", Digits, "--counts", "500", "--out", part)
	return Noisy(t, dir, part)
}

// NoisyParts splits the digits in three, corrupts the labels of two parts, and returns the folder
// of train.csv, held.csv, test.csv, C.csv, and of right.csv and righttoo.csv with right labels.
func NoisyParts(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	Succeed(t, "split", "--data", Digits, "--fractions", "0.5,0.25,0.25", "--out", file("right.csv"),
		"--out", file("righttoo.csv"), "--out", file("test.csv"))
	Succeed(t, "confusion", "inject", "--data", file("right.csv"), "--pairwise", "0.4", "--seed", "1",
		"--out", file("train.csv"), "--write-confusion", file("C.csv"))
	Succeed(t, "confusion", "inject", "--data", file("righttoo.csv"), "--pairwise", "0.4", "--seed",
		"2", "--out", file("held.csv"))
	return dir
}

// Differ says in what two model files differ, apart from the device in meta.json; "" if in nothing.
func Differ(t *testing.T, a, b string) string {
	t.Helper()
	if bytes.Equal(Read(t, a), Read(t, b)) {
		return ""
	}
	membersA, membersB := Members(t, a), Members(t, b)
	if len(membersA) != len(membersB) {
		return "the number of members"
	}
	for k, m := range membersA {
		other := membersB[k]
		if m.Name != other.Name {
			return "member " + m.Name + " or " + other.Name
		}
		if m.Name != "meta.json" && !bytes.Equal(m.Data, other.Data) {
			return m.Name
		}
		if m.Name == "meta.json" && !reflect.DeepEqual(withoutDevice(t, m.Data), withoutDevice(t,
			other.Data)) {
			return "meta.json\n" + string(m.Data) + "\n" + string(other.Data)
		}
	}
	return ""
}

// withoutDevice returns the fields of meta.json without the device.
func withoutDevice(t *testing.T, meta []byte) map[string]json.RawMessage {
	t.Helper()
	fields := Decode[map[string]json.RawMessage](t, string(meta))
	if fields["device"] == nil {
		t.Fatalf("meta.json has no device: %s", meta)
	}
	delete(fields, "device")
	return fields
}

// Archived is a member of a model file.
type Archived struct {
	Name string
	Data []byte
}

// Members returns the members of a model file, in their order.
func Members(t *testing.T, path string) (all []Archived) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Archived{f.Name, data})
	}
	return all
}

// canceller cancels a context when a line with a word goes by.
type canceller struct {
	bytes.Buffer
	word   string
	cancel context.CancelFunc
}

func (c *canceller) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(c.word)) {
		c.cancel()
	}
	return c.Buffer.Write(line)
}

// Interrupt runs a command line and interrupts it when it says a word on stderr,
// at once if that is "".
func Interrupt(t *testing.T, word string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if word == "" {
		cancel()
	}
	var out bytes.Buffer
	e := &canceller{word: word, cancel: cancel}
	code = program.Run(ctx, args, &out, e)
	return code, out.String(), e.String()
}
