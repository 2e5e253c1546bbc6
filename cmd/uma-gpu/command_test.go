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
		{"predict", "--data", data, "--model", m, "--probabilities"},
		{"predict", "--data", data, "--model", m, "--scores"},
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
		{"predict", "--data", data, "--model", m, "--probabilities", "--out", other},
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
