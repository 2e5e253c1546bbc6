package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/completion"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestHelpIsNarrow: no line of a help text is wider than the window, or than is read with ease;
// every flag is there; and no default is told that says nothing, or twice.
func TestHelpIsNarrow(t *testing.T) {
	commands := []string{""}
	var collect func(prefix string, list []*cli.Command)
	collect = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			if !c.Hidden {
				commands = append(commands, prefix+c.Name)
				collect(prefix+c.Name+" ", c.Subcommands)
			}
		}
	}
	top := program.New(nil, nil)
	collect("", top.Commands)
	if len(commands) < 15 {
		t.Fatalf("found only the commands %q", commands)
	}
	for _, columns := range []int{40, 80, 110, 300} {
		t.Setenv("COLUMNS", fmt.Sprint(columns))
		for _, command := range commands {
			if columns != 80 && command != "" && command != "train" {
				continue
			}
			help, _ := succeed(t, append(strings.Fields(command), "--help")...)
			for line := range strings.Lines(help) {
				line = strings.TrimSuffix(line, "\n")
				width := utf8.RuneCountInString(line)
				if most := min(columns, 110); width > most && len(strings.Fields(line)) > 1 {
					t.Errorf("help of %q has a line of %d columns, want at most %d:\n%s", command, width, most,
						line)
				}
			}
		}
	}
	defaults := 0
	eachCommand(func(words []string, c *cli.Command) {
		p := app.CommandPage(strings.Join(words, " "), c)
		for _, s := range p.Flags {
			for _, i := range s.Items {
				defaults += strings.Count(i.About, "(default")
				if strings.Contains(i.About, "(default: false)") || strings.Contains(i.About, "(default: 0)") ||
					strings.Count(i.About, "default") > 1 {
					t.Errorf("%s: %s tells a default that is none, or two: %s", p.Name, i.Term, i.About)
				}
			}
		}
	})
	if defaults < 50 {
		t.Errorf("found only %d defaults", defaults)
	}
}

// The help of train has what matters first, options of the usual learner among it, and says where
// the others are.
func TestHelpOfTrainIsShort(t *testing.T) {
	t.Setenv("COLUMNS", "100")
	help, _ := succeed(t, "train", "--help")
	for _, flag := range []string{"--data", "--confusion", "--model", "--correction RULE",
		"--learn-confusion", "--l2 RULE", "--rounds N",
		"more options: uma-gpu man --markdown train",
		"Kernel:\n  --kernel", "Device:\n  --device"} {
		if !strings.Contains(help, flag) {
			t.Errorf("the help of train lacks %q:\n%s", flag, help)
		}
	}
	_, options, _ := strings.Cut(help, "Data:\n")
	if n := strings.Count(options, "\n  --"); n > 32 {
		t.Errorf("found %d options, wanted at most 32", n)
	}
	all, _ := succeed(t, "man", "--markdown", "train")
	if !strings.Contains(all, "--landmarks M") || !strings.Contains(all, "--tolerance NUMBER") {
		t.Error("the page of train lacks options")
	}
}

// A bare call shows how to begin, by commands that there are, and is wrong usage all the same.
func TestBareCallShowsHowToBegin(t *testing.T) {
	code, stdout, stderr := command()
	if code != app.ExitUsage || stdout != "" || !strings.HasSuffix(stderr, "uma-gpu --help\n") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	shown := 0
	for line := range strings.Lines(stderr) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  uma-gpu ") {
			succeed(t, words[1], "--help")
			shown++
		}
	}
	if shown != 5 {
		t.Errorf("found %d commands, want 5:\n%s", shown, stderr)
	}
	if _, _, stderr := command("confusion"); strings.Count(stderr, "\n") != 1 {
		t.Errorf("found %q, want one line", stderr)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ found, want string }{
		{app.Wrap("one two three", 7, 0), "one two\nthree"},
		{app.Wrap("one two three", 8, 2), "one two\n  three"},
		{app.Wrap("ÄÄÄ ÖÖÖ", 7, 0), "ÄÄÄ ÖÖÖ"},
		{app.Wrap("", 7, 0), ""},
		{app.Wrap("incomprehensible", 7, 0), "incomprehensible"},
		{app.WrapLine("  a.csv   what it is about", 20), "  a.csv   what it is\n          about"},
		{app.WrapLine("Example: uma-gpu info --data train.csv", 30),
			"Example: uma-gpu info \\\n    --data train.csv"},
		{app.WrapLine("  short  enough", 20), "  short  enough"},
	} {
		if c.found != c.want {
			t.Errorf("found %q, want %q", c.found, c.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	train := []string{"train", "--data", "d.csv", "--model", "m.npz"}
	for _, c := range []struct {
		args []string
		want string // "" is no question
	}{
		{[]string{"trian"}, "mean train"},
		{[]string{"confusion", "ijnect"}, "mean inject"},
		{[]string{"help", "evla"}, "mean eval"},
		{[]string{"something"}, ""},
		{append(train, "--confusoin", "C.csv"), "mean --confusion"},
		{append(train, "--temperature", "3"), "mean --temperature-folds"},
		{append(train, "--max-steps", "many"), ""},
		{append(train, "--bogus"), ""},
		{append(train, "--format", "cvs"), "mean csv"},
		{append(train, "--format", "nothing-of-this"), ""},
		{append(train, "--learner", "sotfmax"), "mean softmax"},
		{append(train, "--learner", "uma", "--select", "randm"), "mean random"},
		{append(train, "--learner", "uma", "--weights", "avrage"), "mean average"},
		{[]string{"learners", "bmp"}, "mean bpm"},
	} {
		code, _, stderr := command(c.args...)
		if code != app.ExitUsage || !facts.Told(stderr, c.want) || c.want == "" &&
			strings.Contains(stderr, "mean") {
			t.Errorf("%q: exit code %d, %q, wanted %q", c.args, code, stderr, c.want)
		}
	}
}

// Each command has a manual page, with its flags.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	succeed(t, "man", "--dir", dir)
	files := names(t, dir)
	for _, want := range []string{"uma-gpu.1", "uma-gpu-train.1", "uma-gpu-confusion.1",
		"uma-gpu-confusion-inject.1"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is missing in %q", want, files)
		}
	}
	page, _ := succeed(t, "man", "confusion", "inject")
	if page != string(read(t, dir+"/uma-gpu-confusion-inject.1")) {
		t.Error("the page that is printed is not the one that is written")
	}
	for _, want := range []string{".SH NAME", "--pairwise", "class q becomes"} {
		if !strings.Contains(strings.ReplaceAll(page, "\\-", "-"), want) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
	fail(t, app.ExitUsage, "command uma-gpu trian", "man", "trian")
}

// The completion scripts are made, and ask for words that the program prints.
func TestCompletion(t *testing.T) {
	for _, shell := range completion.Shells {
		script, _ := succeed(t, "completion", shell)
		if !strings.Contains(script, "uma-gpu") {
			t.Errorf("%s: found %q", shell, script)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"--generate-bash-completion", "train"},
		{"confusion --generate-bash-completion", "inject"},
		{"train --da --generate-bash-completion", "--data"},
	} {
		args := os.Args
		os.Args = append([]string{"uma-gpu"}, strings.Fields(c.line)...) // the cli package reads it
		words, _ := succeed(t, os.Args[1:]...)
		if os.Args = args; !strings.Contains(words, c.want) {
			t.Errorf("%s: found %q, wanted %s", c.line, words, c.want)
		}
	}
	fail(t, app.ExitUsage, `"tcsh"`, "completion", "tcsh")
}

// Whole numbers may have an exponent, and have to be whole.
func TestCounts(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "300": 300, "-2": -2, "1e3": 1000, "1E3": 1000,
		"2.5e+2": 250, "0x10": 16, "1_000": 1000, "12e0": 12, "9e18": 9e18} {
		if n, err := app.ParseCount(text); err != nil || n != want {
			t.Errorf("%q: found %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "1.5", "1.0", "1e-3", "1.25e1", "1e19", "1e99", "1e999999999",
		"e3", "1e", "nan", "1/1e1", "99999999999999999999", " 1e3", "١e3"} {
		if n, err := app.ParseCount(text); err == nil {
			t.Errorf("%q: found %d, want an error", text, n)
		}
	}
	dir := t.TempDir()
	data, m := synthetic(t, dir), dir+"/m.npz"
	succeed(t, "synth", "--examples", "1.2e2", "--features", "5", "--out", dir+"/n.csv")
	if n := strings.Count(string(read(t, dir+"/n.csv")), "\n"); n != 120 {
		t.Errorf("found %d lines, want 120", n)
	}
	succeed(t, "train", "--data", data, "--model", m, "--max-steps", "0.2e1", "--every", "1e3",
		"--checkpoint", dir+"/c.npz")
	if steps := load(t, m).Meta.Steps; steps != 2 {
		t.Errorf("%d steps were made, want 2", steps)
	}
	a, _ := succeed(t, "train", "--data", data, "--model", m, "--learner", "copa", "--epochs", "3e0",
		"--json")
	b, _ := succeed(t, "train", "--data", data, "--model", m, "--learner", "copa", "--max-steps", "3",
		"--json")
	if !strings.Contains(a, `"steps": 3`) || !strings.Contains(b, `"steps": 3`) {
		t.Errorf("found %s and %s", a, b)
	}
	fail(t, app.ExitUsage, `"1.5e0" -max-steps 1.5e0 1.50`, "train", "--data", data, "--model", m,
		"--max-steps", "1.5e0")
}

// Who types what is no more is told what does it now.
func TestRetired(t *testing.T) {
	fail(t, app.ExitUsage, "--clean TABLE", "train", "--data", digits, "--clean", "prune")
	fail(t, app.ExitUsage, `"bootstrap" train predict --learn-confusion`, "bootstrap", "--labelled", digits)
}

// A file without a flag is answered by the flag that takes it.
func TestFileWithoutFlag(t *testing.T) {
	fail(t, app.ExitUsage, "--data "+digits, "info", digits)
	fail(t, app.ExitUsage, "--model "+digits, "inspect", digits)
}
