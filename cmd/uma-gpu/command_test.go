package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/version"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// runVariable, if set, makes the test binary behave like uma-gpu, for tests of
// what only a process of its own has: signals, limits, closed pipes.
const runVariable = "UMA_GPU_TEST_RUN"

// The tests compute on the processor unless they name a device.
func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		main()
	}
	if err := os.Setenv(device.Variable, "cpu"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// digits and letter are the real data sets of the repository.
const (
	digits = "../../testdata/digits.csv.gz"
	letter = "../../testdata/letter.csv.gz"
)

// command runs a command line.
func command(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = program.Start(args, &out, &err)
	return code, out.String(), err.String()
}

// succeed runs a command line that must succeed.
func succeed(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := command(args...)
	if code != app.ExitOK {
		t.Fatalf("uma-gpu %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout, stderr
}

// fail runs a command line that must fail with the code, state the facts in its last message, and
// print nothing on stdout.
func fail(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := command(args...)
	_, message, said := strings.Cut("\n"+stderr, "\numa-gpu: ")
	if got != code || !said || !facts.Told(message, want) || stdout != "" {
		t.Errorf("uma-gpu %s:\nexit code %d, want %d\nstderr %swant the facts %s\nstdout %q, want none",
			strings.Join(args, " "), got, code, stderr, want, stdout)
	}
}

// decode decodes what a command printed with --json.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// write makes a file and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// names lists a folder.
func names(t *testing.T, dir string) []string {
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

// member returns the bytes of a member of a model file.
func member(t *testing.T, path, name string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func load(t *testing.T, path string) *model.Model {
	t.Helper()
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// synthetic writes a small set of 5 features and 3 classes.
func synthetic(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "small.csv")
	succeed(t, "synth", "--examples", "300", "--features", "5", "--classes", "3", "--out", path)
	return path
}

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	train := []string{"train", "--data", "d.csv", "--model", filepath.Join(dir, "m.npz")}
	inject := []string{"confusion", "inject", "--data", "d.csv", "--out", filepath.Join(dir, "o.csv")}
	for _, c := range []struct {
		args     []string
		fragment string
	}{
		{nil, "command missing --help"},
		{[]string{"trian"}, `"trian" --help`},
		{[]string{"--json", "version"}, "--json --help"},
		{[]string{"help", "trian"}, "'trian'"},
		{[]string{"confusion"}, "command missing uma-gpu confusion --help"},
		{[]string{"confusion", "shwo"}, `"shwo" --help`},
		{[]string{"train"}, "--data missing --help"},
		{[]string{"train", "--data", "d.csv"}, "--model missing"},
		{append(train, "--bogus"), "--bogus --help"},
		{append(train, "--alpha"), "missing --alpha"},
		{append(train, "more"), `"more"`},
		{append(train, "--verbose", "more"), `"more" --verbose value`},
		{append(train, "--learner", "uma", "--alpha", "much"), `--alpha "much"`},
		{append(train, "--learner", "uma", "--alpha", "-1"), `--alpha "-1"`},
		{append(train, "--learner", "uma", "--alpha", "nan"), `--alpha "nan"`},
		{append(train, "--learner", "uma", "--alpha", "1e300"), `--alpha "1e300"`},
		{append(train, "--learner", "uma", "--tol", "-1"), `--tol "-1"`},
		{append(train, "--max-steps", "-1"), "--max-steps -1"},
		{append(train, "--max-steps", "1.5"), `"1.5" -max-steps`},
		{append(train, "--seed", "-1"), `"-1" -seed`},
		{append(train, "--learner", "uma", "--select", "worst"), `--select "worst"`},
		{append(train, "--learner", "uma", "--weights", "first"), `"first"`},
		{append(train, "--learner", "knn"), `"knn"`},
		{append(train, "--normalize", "l3"), `"l3"`},
		{append(train, "--format", "xml"), `--format "xml"`},
		{append(train, "--header", "maybe"), `--header "maybe"`},
		{append(train, "--confusion", "C.csv", "--confusion-axes", "rows"), `--confusion-axes "rows"`},
		{append(train, "--confusion-axes", "true-rows"), "--confusion-axes --confusion"},
		{append(train, "--quiet", "--verbose"), "--quiet --verbose exclude"},
		{append(train, "--max-alloc", "big"), `--max-alloc "big"`},
		{append(train, "--max-alloc", "9999999999G"), `--max-alloc "9999999999G"`},
		{append(train, "--max-alloc", "-1"), `--max-alloc "-1"`},
		{[]string{"predict", "--data", "d.csv"}, "--model missing --help"},
		{[]string{"eval", "--model", "m.npz"}, "--data missing --help"},
		{inject, "0 confusion"},
		{append(inject, "--pairwise", "0.1", "--symmetric", "0.1"), "2 confusion"},
		{append(inject, "--pairwise", "0.1", "--confusion", "C.csv"), "2 confusion"},
		{append(inject, "--pairwise", "1.5"), "--pairwise 1.5 0 1"},
		{append(inject, "--random", "nan"), "--random NaN"},
		{append(inject, "--symmetric", "-0.1"), "--symmetric -0.1"},
		{append(inject, "--pairwise", "0.1", "--confusion-axes", "true-rows"),
			"--confusion-axes --confusion"},
		{[]string{"confusion", "inject", "--data", digits, "--pairwise", "0.1", "--out", digits},
			"--out --data"},
		{append(inject, "--pairwise", "0.1", "--write-confusion", inject[5]), "--write-confusion --out"},
		{[]string{"train", "--data", digits, "--model", digits}, "--model --data"},
		{[]string{"predict", "--data", "d.csv", "--model", digits, "--out", digits}, "--out --model"},
		{[]string{"synth", "--examples", "9", "--out", "s.parquet"}, "s.parquet parquet"},
		{[]string{"split", "--data", "d.csv", "--counts", "1", "--out", "s.idx"}, "s.idx idx"},
		{[]string{"info"}, "--data missing --help"},
		{[]string{"split"}, "--data missing --help"},
		{[]string{"convert", "--data", "d.csv"}, "--out missing --help"},
		{[]string{"confusion", "show"}, "file missing"},
		{[]string{"confusion", "show", "C.csv", "--json"}, "flags file"},
		{[]string{"synth", "--out", "s.csv"}, "--examples missing"},
		{[]string{"synth", "--examples", "0", "--out", "s.csv"}, "--examples 0 1"},
		{[]string{"synth", "--examples", "9", "--classes", "1", "--out", "s.csv"}, "--classes 1 2"},
		{[]string{"devices", "all"}, `"all"`},
		{[]string{"version", "--all"}, "--all --help"},
	} {
		fail(t, app.ExitUsage, c.fragment, c.args...)
	}
	if left := names(t, dir); left != nil {
		t.Errorf("wrong usage left %q", left)
	}
}

func TestHelp(t *testing.T) {
	for command, words := range map[string][]string{
		"": {"train", "predict", "eval", "confusion", "devices", "version", "Exit codes"},
		"train": {"--data FILE", "--confusion FILE", "--device DEVICE", "$UMA_GPU_DEVICE",
			"--max-steps, --epochs STEPS",
			"--kernel FUNCTION", "--gamma G", "Examples: uma-gpu train"},
		"predict": {"--out FILE", "--no-labels", "--proba", "--scores",
			"Example: uma-gpu predict"},
		"eval":      {"--json", "--confusion FILE", "Example: uma-gpu eval"},
		"calibrate": {"--confusion FILE", "--out FILE", "Example: uma-gpu calibrate"},
		"confusion": {"inject", "show"},
		"confusion inject": {"--pairwise RATE", "--write-confusion FILE",
			"Example: uma-gpu confusion inject"},
		"confusion show": {"--classes NAMES", "Example: uma-gpu confusion show"},
		"info":           {"--data FILE", "--no-labels", "Example: uma-gpu info"},
		"split":          {"--fractions LIST", "--counts LIST", "Example: uma-gpu split"},
		"convert":        {"--to FORMAT", "Example: uma-gpu convert"},
		"synth":          {"--examples N", "Example: uma-gpu synth"},
		"kpca":           {"fit", "transform"},
		"kpca fit":       {"--basis FILE", "--landmark-choice RULE", "Example: uma-gpu kpca fit"},
		"kpca transform": {"--basis FILE", "--out FILE", "Example: uma-gpu kpca transform"},
		"devices":        {"--json", "Example: uma-gpu devices"},
		"version":        {"--json", "Example: uma-gpu version"},
	} {
		stdout, stderr := succeed(t, append(strings.Fields(command), "--help")...)
		for _, w := range words {
			if !strings.Contains(stdout, w) {
				t.Errorf("help of %q lacks %q:\n%s", command, w, stdout)
			}
		}
		if stderr != "" {
			t.Errorf("help of %q on stderr: %s", command, stderr)
		}
	}
}

// full is a writer with no room left.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostOutputIsAFailure(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	m := filepath.Join(dir, "m.npz")
	succeed(t, "train", "--data", data, "--model", m, "--max-steps", "3")
	for _, args := range [][]string{
		{"--help"},
		{"version"},
		{"devices"},
		{"train", "--data", data, "--model", m, "--max-steps", "3"},
		{"predict", "--data", data, "--model", m},
		{"predict", "--data", data, "--model", m, "--proba"},
		{"predict", "--data", data, "--model", m, "--scores", "--to", "jsonl"},
		{"predict", "--data", data, "--model", m, "--scores", "--to", "npy"},
		{"eval", "--data", data, "--model", m, "--json"},
	} {
		var stderr bytes.Buffer
		if code := program.Start(args, full{}, &stderr); code != app.ExitFailure ||
			!facts.Told(stderr.String(), "uma-gpu write output space") {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr.String())
		}
	}
}

func TestVersion(t *testing.T) {
	stdout, _ := succeed(t, "version", "--json")
	v := decode[version.VersionReport](t, stdout)
	if v.Version != app.Version || v.Contract != 1 || !strings.HasPrefix(v.Go, "go1.") ||
		!strings.Contains(v.System, "/") {
		t.Errorf("found %+v", v)
	}
	stdout, _ = succeed(t, "version")
	for _, want := range []string{"uma-gpu " + app.Version, "numerics contract 1", "OpenCL "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q lacks %q", stdout, want)
		}
	}
}

func TestDevicesListsTheProcessor(t *testing.T) {
	stdout, stderr := succeed(t, "devices", "--json")
	l := decode[devices.DeviceListing](t, stdout)
	if plain := l.Devices[1]; plain.ID != "cpu:plain" || plain.Kind != "cpu" ||
		plain.SelfTest != devices.Passed {
		t.Errorf("found %+v", plain)
	}
	if cpu := l.Devices[0]; cpu.ID != "cpu" || cpu.Kind != "cpu" || cpu.SelfTest != devices.Passed ||
		cpu.ComputeUnits < 1 {
		t.Errorf("found %+v first", cpu)
	}
	// Either there are OpenCL devices, or it says why not.
	if without := len(l.Devices) == len(device.Processors); without != (l.OpenCLError != "") ||
		without != strings.Contains(stderr, "OpenCL: ") {
		t.Errorf("%d devices, opencl_error %q, stderr %q", len(l.Devices), l.OpenCLError, stderr)
	}
	stdout, _ = succeed(t, "devices")
	if !strings.Contains(stdout, "self-test") || !strings.Contains(stdout, "\ncpu ") {
		t.Errorf("found\n%s", stdout)
	}
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

// interrupt runs a command line and interrupts it when it says a word on stderr,
// at once if that is "".
func interrupt(t *testing.T, word string, args ...string) (code int, stdout, stderr string) {
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

func TestInterruptBeforeTheWork(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	m := filepath.Join(dir, "m.npz")
	succeed(t, "train", "--data", data, "--model", m, "--max-steps", "3")
	before := names(t, dir)
	other := filepath.Join(dir, "other")
	for _, args := range [][]string{
		{"train", "--data", data, "--model", other},
		{"predict", "--data", data, "--model", m, "--out", other},
		{"predict", "--data", data, "--model", m, "--proba", "--out", other},
		{"calibrate", "--data", data, "--model", m, "--out", other},
		{"cv", "--data", data},
		{"compare", "--data", data},
		{"issues", "--data", data, "--out", other + ".csv"},
		{"confusion", "inject", "--data", data, "--pairwise", "0.2", "--out", other},
		{"info", "--data", data},
		{"split", "--data", data, "--fractions", "0.5", "--out", other},
		{"convert", "--data", data, "--to", "csv", "--out", other},
		{"train", "--data", data, "--dry-run"},
		{"synth", "--examples", "10", "--out", other},
	} {
		for _, word := range []string{"", "data:"} {
			if word != "" && args[0] == "synth" {
				continue // it reads nothing
			}
			code, stdout, stderr := interrupt(t, word, args...)
			if code != app.ExitInterrupted || stdout != "" || !facts.Told(stderr, "uma-gpu interrupted") ||
				!facts.Told(stderr, "nothing written") {
				t.Errorf("%s interrupted at %q: exit code %d, stdout %q\n%s", args[0], word, code, stdout,
					stderr)
			}
		}
	}
	if after := names(t, dir); !slices.Equal(after, before) {
		t.Errorf("found %q, want %q", after, before)
	}
}
