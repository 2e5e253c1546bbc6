package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
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
	if err := os.Setenv(app.DeviceVariable, "cpu"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Real data sets of the repository.
var digits, letter = clitest.Digits, clitest.Letter

// Command lines in this process, and what they leave.
var (
	command   = clitest.Run
	succeed   = clitest.Succeed
	fail      = clitest.Fail
	write     = clitest.Write
	read      = clitest.Read
	names     = clitest.Names
	member    = clitest.Member
	load      = clitest.Load
	differ    = clitest.Differ
	synthetic = clitest.Synthetic
	noisy     = clitest.Noisy
	interrupt = clitest.Interrupt
)

// decode decodes what a command printed with --json.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	return clitest.Decode[T](t, text)
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
		{append(train, "--alpha"), "argument -alpha"},
		{append(train, "more"), `"more"`},
		{append(train, "--verbose", "more"), `argument "more"`},
		{append(train, "--learner", "uma", "--alpha", "much"), `--alpha "much"`},
		{append(train, "--learner", "uma", "--alpha", "-1"), `--alpha "-1"`},
		{append(train, "--learner", "uma", "--alpha", "nan"), `--alpha "nan"`},
		{append(train, "--learner", "uma", "--alpha", "1e300"), `--alpha "1e300"`},
		{append(train, "--learner", "uma", "--tol", "-1"), `--tol "-1"`},
		{append(train, "--max-steps", "-1"), "--max-steps -1"},
		{append(train, "--max-steps", "1.5"), `--max-steps "1.5"`},
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
			"--max-steps STEPS, --epochs STEPS",
			"--kernel FUNCTION", "--gamma G", "Example: uma-gpu train"},
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
		"kpca fit":       {"--basis FILE", "--landmarks M", "Example: uma-gpu kpca fit"},
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
	v := decode[program.Versions](t, stdout)
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
	if without := len(l.Devices) == len(app.Processors); without != (l.OpenCLError != "") ||
		without != strings.Contains(stderr, "OpenCL: ") {
		t.Errorf("%d devices, opencl_error %q, stderr %q", len(l.Devices), l.OpenCLError, stderr)
	}
	stdout, _ = succeed(t, "devices")
	if !strings.Contains(stdout, "self-test") || !strings.Contains(stdout, "\ncpu ") {
		t.Errorf("found\n%s", stdout)
	}
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
		{"cv", "--data", data, "--try", "--max-steps=2"},
		{"issues", "--data", data, "--out", other + ".csv"},
		{"confusion", "inject", "--data", data, "--pairwise", "0.2", "--out", other},
		{"info", "--data", data},
		{"split", "--data", data, "--fractions", "0.5", "--out", other},
		{"convert", "--data", data, "--to", "csv", "--out", other},
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

// The device is judged before any file is read, and the flag wins over the
// environment.
func TestDeviceFlagAndVariable(t *testing.T) {
	dir := t.TempDir()
	data := synthetic(t, dir)
	m := dir + "/m.npz"
	for _, args := range [][]string{
		{"train", "--data", "unread.csv", "--model", m},
		{"predict", "--data", "unread.csv", "--model", m},
		{"eval", "--data", "unread.csv", "--model", m},
	} {
		fail(t, app.ExitNoDevice, `"no-such-device"`, append(args, "--device", "no-such-device")...)
	}
	t.Setenv(app.DeviceVariable, "not-there")
	fail(t, app.ExitNoDevice, `"not-there" UMA_GPU_DEVICE`, "train", "--data", data, "--model", m)
	if _, stderr := succeed(t, "train", "--data", data, "--model", m, "--max-steps", "1", "--device",
		"cpu"); !facts.Told(stderr, "device cpu") {
		t.Errorf("stderr %s", stderr)
	}
	t.Setenv(app.DeviceVariable, "cpu")
	if _, stderr := succeed(t, "train", "--data", data, "--model", m, "--max-steps", "1"); !facts.Told(
		stderr, "device cpu") {
		t.Errorf("stderr %s", stderr)
	}
}
