package program_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
)

// eachCommand calls visit for each command that does something, with its words.
func eachCommand(visit func(words string, c *cli.Command)) {
	var walk func(prefix string, list []*cli.Command)
	walk = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			if len(c.Subcommands) == 0 {
				visit(prefix+c.Name, c)
			}
			walk(prefix+c.Name+" ", c.Subcommands)
		}
	}
	walk("", program.New(io.Discard, io.Discard).Commands)
}

// No flag is there for nothing: a user has to look through all of them. Flags that commands share,
// with one meaning in all, count once.
func TestFlagSlots(t *testing.T) {
	shared := map[string]bool{"device": true, "json": true, "quiet": true, "request": true,
		"safe-cells": true}
	slots, all, text := len(shared), 0, ""
	eachCommand(func(words string, c *cli.Command) {
		for _, f := range c.Flags {
			if !shared[f.Names()[0]] {
				slots++
			}
		}
		all += len(c.Flags)
		text += fmt.Sprintf("%s %d, ", words, len(c.Flags))
	})
	t.Logf("%d flag slots, %d with repetitions: %s", slots, all, text)
	if slots > 300 {
		t.Errorf("got %d flags of all commands, want at most 300: %s", slots, text)
	}
}

// No line of a help text is wider than the window, and each flag is shown.
func TestHelpIsNarrow(t *testing.T) {
	commands := []string{""}
	eachCommand(func(words string, c *cli.Command) {
		if !c.Hidden {
			commands = append(commands, words)
		}
	})
	for _, columns := range []int{60, 80, 110} {
		t.Setenv("COLUMNS", fmt.Sprint(columns))
		for _, command := range commands {
			help, _ := clitest.Succeed(t, append(strings.Fields(command), "--help")...)
			for line := range strings.Lines(help) {
				line = strings.TrimSuffix(line, "\n")
				if width := utf8.RuneCountInString(line); width > columns && !strings.HasPrefix(line, " ") {
					t.Errorf("help of %q has a line of %d columns, want at most %d:\n%s", command, width, columns,
						line)
				}
			}
		}
	}
	eachCommand(func(words string, c *cli.Command) {
		if c.Hidden {
			return
		}
		help, _ := clitest.Succeed(t, append(strings.Fields(words), "--help", "all")...)
		if !strings.Contains(help, "Example: uma-gpu "+words) {
			t.Errorf("the help of %s lacks an example", words)
		}
		for _, f := range c.VisibleFlags() {
			if !strings.Contains(help, "--"+f.Names()[0]) {
				t.Errorf("the help of %s lacks --%s", words, f.Names()[0])
			}
		}
	})
}

// The usual help of train fits two screens, and has the flags of the learner that is named.
func TestHelpIsShort(t *testing.T) {
	t.Setenv("COLUMNS", "100")
	help, _ := clitest.Succeed(t, "train", "--help")
	if lines := strings.Count(help, "\n"); lines > 48 {
		t.Errorf("got %d lines, want at most 48:\n%s", lines, help)
	}
	all, _ := clitest.Succeed(t, "train", "--learner", "uma", "--help", "all")
	if !strings.Contains(all, "--alpha") || strings.Contains(all, "--l2 ") {
		t.Errorf("want the flags of uma, --alpha and without --l2:\n%s", all)
	}
}

// A bare call is wrong usage, told in one line.
func TestBareCall(t *testing.T) {
	for _, command := range []string{"", "confusion"} {
		clitest.Fail(t, app.ExitUsage, "command missing "+command+" --help", strings.Fields(command)...)
	}
}

// Wrong words are answered by the nearest right ones.
func TestSuggestions(t *testing.T) {
	train := []string{"train", "--data", "d.csv", "--model", "m.npz"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"trian"}, `unknown command "trian" "train"`},
		{[]string{"confusion", "ijnect"}, `unknown command "ijnect" "inject"`},
		{append(train, "--confusoin", "C.csv"), "unknown flag --confusoin --confusion"},
		{append(train, "--max-steps", "1", "--lerner=uma"), "unknown flag --lerner=uma --learner"},
		{append(train, "--format", "cvs"), `--format "cvs" csv`},
		{append(train, "--learner", "sotfmax"), `--learner "sotfmax" softmax`},
		{[]string{"learners", "sotfmax"}, `"sotfmax" softmax`},
		{[]string{"info", "d.csv"}, `argument "d.csv" --data`},
	} {
		clitest.Fail(t, app.ExitUsage, c.want, c.args...)
	}
}

// The manual page has all commands, with their flags.
func TestMan(t *testing.T) {
	page, _ := clitest.Succeed(t, "man")
	page = strings.ReplaceAll(page, `\-`, "-")
	for _, want := range []string{".SH NAME", "confusion", "inject", "--learner", "--pairwise"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
}

// The scripts exist, and ask for words that the program prints.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, _ := clitest.Succeed(t, "completion", shell)
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
		words, _ := clitest.Succeed(t, os.Args[1:]...)
		if os.Args = args; !strings.Contains(words, c.want) {
			t.Errorf("%s: found %q, wanted %s", c.line, words, c.want)
		}
	}
	clitest.Fail(t, app.ExitUsage, `"tcsh"`, "completion", "tcsh")
}

// A flag of one value is given once, and not an empty one, as of a variable that is not set; a file
// of options gives the others.
func TestRepeatedAndEmptyFlags(t *testing.T) {
	for want, line := range map[string][]string{
		`--data is given twice, as "a.csv" and "b.csv"`: {"info", "--data", "a.csv", "--quiet",
			"--data=b.csv"},
		"--confusion has no value": {"train", "--data", "a.csv", "--confusion", "", "--model", "m.npz"},
		"--device has no value":    {"train", "--device=", "--data", "a.csv", "--model", "m.npz"},
	} {
		code, _, stderr := clitest.Exactly(line...)
		if code != app.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, %s, want %q", code, stderr, want)
		}
	}
}
