package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
)

// Each command and each flag that help shows has a group, and one only; no group has a name that
// nothing has.
func TestGroups(t *testing.T) {
	check := func(what string, groups []app.Group, used map[string]string) {
		listed := map[string]bool{}
		for _, g := range groups {
			for _, name := range strings.Fields(g.Members) {
				if listed[name] {
					t.Errorf("help.go has %s %s twice", what, name)
				}
				if listed[name] = true; used[name] == "" {
					t.Errorf("help.go has %s %s, which there is not", what, name)
				}
			}
		}
		for name, by := range used {
			if !listed[name] {
				t.Errorf("%s %s (%s) has no group: write its name into one in help.go", what, name, by)
			}
		}
	}
	commands, flags := map[string]string{}, map[string]string{}
	for _, c := range program.New(io.Discard, io.Discard).Commands {
		if !c.Hidden {
			commands[c.Name] = c.Usage
		}
	}
	eachCommand(func(words []string, c *cli.Command) {
		for _, f := range app.ShownFlags(c.Flags) {
			flags[f.Names()[0]] = strings.Join(words, " ")
		}
	})
	check("command", app.CommandGroups, commands)
	check("flag", app.FlagGroups, flags)
	if headings := app.Sections(train.New(train.Run).Flags); !slices.ContainsFunc(headings,
		func(s app.Section) bool {
			return s.Heading == "Kernel" && slices.ContainsFunc(s.Items,
				func(i app.Item) bool { return i.Term == "--gamma G" })
		}) {
		t.Errorf("train has no group Kernel with --gamma: %+v", headings)
	}
}
