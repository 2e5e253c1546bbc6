package main

import (
	"context"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

const root = "../.."

// pagesOfDocs returns the pages of the documentation, at least a given number.
func pagesOfDocs(t *testing.T) []docPage {
	t.Helper()
	pages, err := docPages(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 20 {
		t.Fatalf("found %d pages", len(pages))
	}
	return pages
}

// TestDocsNameWhatThereIs: each command of the documentation, in blocks and in sentences, is one
// that there is, with flags that it has; so is each target of make and each file that a command
// names as a program.
func TestDocsNameWhatThereIs(t *testing.T) {
	commands, spans := 0, 0
	for _, p := range pagesOfDocs(t) {
		found, err := p.Commands()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			for _, call := range docCalls(c.Text) {
				commands++
				if problem := judgeCall(t, call); problem != "" {
					t.Errorf("%s:%d: %s: %s", p.Path, c.Line, c.Text, problem)
				}
			}
		}
		if p.Path == "RATIONALE.md" {
			continue // tells of flags that there were
		}
		for _, s := range p.Spans() {
			problem, judged := judgeSpan(t, s.Text)
			if problem != "" {
				t.Errorf("%s:%d: `%s`: %s", p.Path, s.Line, s.Text, problem)
			}
			if judged {
				spans++
			}
		}
	}
	if commands < 130 || spans < 250 {
		t.Errorf("judged %d commands in blocks and %d in sentences", commands, spans)
	}
}

// others are the programs that commands of pages call besides ours.
const others = "apt apt-get awk cat curl cut do done dpkg for gzip head paste pip python3 sed " +
	"sort tail zcat"

// judgeCall returns what is wrong with the call of a program.
func judgeCall(t *testing.T, call []string) string {
	name, args := call[0], call[1:]
	switch {
	case name == "uma-gpu" || name == "build/uma-gpu":
		return judgeArguments(args)
	case name == "mpirun": // programs behind its own flags, with colons between
		for part := range strings.SplitSeq(strings.Join(args, " "), " : ") {
			_, own, _ := strings.Cut(part, "uma-gpu ")
			if problem := judgeArguments(strings.Fields(own)); problem != "" {
				return problem
			}
		}
		return ""
	case name == "sudo":
		return judgeCall(t, args)
	case name == "make":
		for _, target := range args {
			if problem := judgeTarget(t, target); problem != "" {
				return problem
			}
		}
		return ""
	case name == "go":
		for _, word := range args {
			if folder, ok := strings.CutPrefix(word, "./"); ok && !isThere(folder) {
				return "there is no " + word
			}
		}
		return ""
	case strings.Contains(name, "/"):
		if !isThere(name) && name != "env/bin/pip" { // of a line before
			return "there is no " + name
		}
		return ""
	case slices.Contains(strings.Fields(others), name):
		return ""
	}
	return "that is no program that pages call; see judgeCall"
}

// judgeSpan returns what is wrong with code in a sentence, and whether it is of a kind that can be
// judged: calls of the program and of make, and flags.
func judgeSpan(t *testing.T, code string) (problem string, judged bool) {
	for _, call := range docCalls(code) {
		switch {
		case (call[0] == "uma-gpu" || call[0] == "make") && len(call) > 1:
			problem, judged = judgeCall(t, call), true
		case strings.HasPrefix(call[0], "--"):
			judged = true
			for _, w := range call {
				if name, ok := strings.CutPrefix(w, "--"); ok && !allFlags()[strings.SplitN(name, "=", 2)[0]] {
					problem = "no command has the flag " + w
				}
			}
		}
		if problem != "" {
			break
		}
	}
	return problem, judged
}

// What is not there is found, in blocks and in sentences.
func TestDocsJudgeRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"uma-gpu trian --data a.csv":                     "unknown command",
		"uma-gpu confusion guess":                        "unknown command",
		"uma-gpu train --data a.csv --faster":            "not defined: -faster",
		"zcat a.gz | uma-gpu train --data - --faster":    "not defined: -faster",
		"mpirun -n 2 uma-gpu train : -n 1 uma-gpu trian": "unknown command",
		"uma-gpu train --learner uma --softness 1":       "softness",
		"uma-gpu train --learner svn":                    "svn",
		"uma-gpu train --max-steps many":                 "many",
		"uma-gpu info a.csv":                             "unexpected argument",
		"make tset":                                      "no target tset",
		"sudo make instal":                               "no target instal",
		"bench/none.sh build/uma-gpu":                    "there is no bench/none.sh",
		"go run ./cmd/none":                              "there is no ./cmd/none",
		"error rate 0.1":                                 "no program that pages call",
	} {
		problem := ""
		for _, call := range docCalls(line) {
			problem += judgeCall(t, call)
		}
		if !strings.Contains(problem, want) {
			t.Errorf("%s: found %q, wanted %q in it", line, problem, want)
		}
	}
	for code, judged := range map[string]bool{
		"--faster 3": true, "make tset": true, "uma-gpu trian": true, "C.csv": false,
	} {
		if problem, is := judgeSpan(t, code); is != judged || (problem != "") != judged {
			t.Errorf("`%s`: judged %v, %q", code, is, problem)
		}
	}
}

// allFlags are the names of the flags of all commands.
var allFlags = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"help": true, "version": true, "mca": true} // the last is of mpirun
	eachCommand(func(_ []string, c *cli.Command) {
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				all[name] = true
			}
		}
	})
	for _, d := range catalog.All() {
		for _, p := range d.Parameters {
			all[app.FlagOf(p.Name)] = true
		}
	}
	return all
})

// judgeArguments returns what the program itself finds wrong with a command and its flags, before
// it does anything.
func judgeArguments(args []string) string {
	// Placeholders are left out: an ellipsis, and the word NAME.
	args = slices.DeleteFunc(slices.Clone(args), func(w string) bool {
		return w == "…" || w == "NAME"
	})
	top := program.New(io.Discard, io.Discard, args...)
	reached := false
	var disarm func(list []*cli.Command)
	disarm = func(list []*cli.Command) {
		for _, c := range list {
			if disarm(c.Subcommands); len(c.Subcommands) > 0 {
				continue
			}
			settings, common := new(umagpu.Settings), new(app.Common)
			own := append(app.LearnerFlags(settings), app.ParameterFlags(settings, "learner")...)
			chooses := false
			for k, f := range c.Flags {
				if i := slices.IndexFunc(own, func(o cli.Flag) bool {
					return o.Names()[0] == f.Names()[0]
				}); i >= 0 {
					c.Flags[k], chooses = own[i], true
				}
			}
			action := app.Action(common, func(context.Context, *app.Common) error {
				reached = true
				if len(common.Args) > 0 && c.ArgsUsage == "" {
					return app.Usage("unexpected argument %q", common.Args[0])
				}
				if chooses {
					_, err := settings.Choose()
					return err
				}
				return nil
			})
			c.Action = func(c *cli.Context) error {
				for _, f := range c.Command.Flags { // but devices, which the reader may have
					if f, ok := f.(app.CheckedFlag); ok && f.Name != "device" {
						if err := f.Check(c); err != nil {
							return err
						}
					}
				}
				return action(c)
			}
		}
	}
	disarm(top.Commands)
	err := top.RunContext(context.Background(), append([]string{"uma-gpu"}, args...))
	switch {
	case isGroup(top.Commands, args):
		return ""
	case err != nil:
		return err.Error()
	case !reached && !slices.Contains(args, "--help"):
		return "there is no such command"
	}
	return ""
}

// isGroup reports whether the words name commands that have others below them.
func isGroup(list []*cli.Command, words []string) bool {
	for k, w := range words {
		at := slices.IndexFunc(list, func(c *cli.Command) bool { return c.Name == w })
		if at < 0 {
			return false
		}
		if list = list[at].Subcommands; k == len(words)-1 {
			return len(list) > 0
		}
	}
	return false
}

// judgeTarget returns what is wrong with a word behind make.
func judgeTarget(t *testing.T, word string) string {
	if strings.Contains(word, "=") {
		return ""
	}
	target := regexp.MustCompile(`(?m)^([a-z-]+ )*` + regexp.QuoteMeta(word) + `( [a-z-]+)*:`)
	if !target.Match(read(t, root+"/Makefile")) {
		return "the Makefile has no target " + word
	}
	return ""
}

func isThere(path string) bool {
	_, err := os.Stat(root + "/" + path)
	return err == nil || path == "build/uma-gpu" || path == "build/papers"
}
