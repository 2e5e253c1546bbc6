package program_test

import (
	"fmt"
	"io"
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

// No flag is there for nothing: a user has to look through all of them.
func TestFlagSlots(t *testing.T) {
	slots, text := 0, ""
	eachCommand(func(words string, c *cli.Command) {
		slots += len(c.Flags)
		text += fmt.Sprintf("%s %d, ", words, len(c.Flags))
	})
	t.Logf("%d flag slots: %s", slots, text)
	if slots > 500 {
		t.Errorf("found %d flags of all commands, wanted at most 500: %s", slots, text)
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
		help, _ := clitest.Succeed(t, append(strings.Fields(words), "--help")...)
		for _, f := range c.VisibleFlags() {
			if !strings.Contains(help, "--"+f.Names()[0]) {
				t.Errorf("the help of %s lacks --%s", words, f.Names()[0])
			}
		}
	})
}

// A bare call shows how to begin, by commands that exist, and is wrong usage all the same.
func TestBareCallShowsHowToBegin(t *testing.T) {
	code, stdout, stderr := clitest.Run()
	if code != app.ExitUsage || stdout != "" || !strings.HasSuffix(stderr, "uma-gpu --help\n") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	shown := 0
	for line := range strings.Lines(stderr) {
		if words := strings.Fields(line); strings.HasPrefix(line, "  uma-gpu ") {
			clitest.Succeed(t, words[1], "--help")
			shown++
		}
	}
	if shown != 5 {
		t.Errorf("found %d commands, want 5:\n%s", shown, stderr)
	}
	if _, _, stderr := clitest.Run("confusion"); strings.Count(stderr, "\n") != 1 {
		t.Errorf("found %q, want one line", stderr)
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
		{[]string{"learners", "bmp"}, `"bmp" bpm`},
		{[]string{"info", "d.csv"}, `argument "d.csv" --data`},
	} {
		clitest.Fail(t, app.ExitUsage, c.want, c.args...)
	}
}

// Each command has a manual page, with its flags.
func TestMan(t *testing.T) {
	dir := t.TempDir()
	clitest.Succeed(t, "man", "--dir", dir)
	for name, want := range map[string]string{"uma-gpu": "confusion", "uma-gpu-train": "--learner",
		"uma-gpu-confusion": "inject", "uma-gpu-confusion-inject": "--pairwise"} {
		page := strings.ReplaceAll(string(clitest.Read(t, dir+"/"+name+".1")), `\-`, "-")
		if !strings.Contains(page, ".SH NAME") || !strings.Contains(page, want) {
			t.Errorf("%s.1 lacks %s:\n%s", name, want, page)
		}
	}
}
