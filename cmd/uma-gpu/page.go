package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// page is all there is to say about a command: what help shows in a terminal and man as a manual.
type page struct {
	name     string // uma-gpu train
	usage    string
	synopsis string
	text     []paragraph
	commands []section
	flags    []section
}

// paragraph is running text, or lines that stay as they are.
type paragraph struct {
	lines    []string
	verbatim bool
}

// section is a group of commands or flags.
type section struct {
	heading string
	items   []item
}

// item is a command or a flag, and what it is about.
type item struct{ term, about string }

// appPage is the page of the program itself.
func appPage(app *cli.App) page {
	return page{name: app.Name, usage: app.Usage, synopsis: app.Name + " COMMAND [options]",
		text: paragraphs(app.Description), commands: commandSections(app.Commands, commandGroups)}
}

// commandPage is the page of the command of that full name.
func commandPage(name string, c *cli.Command) page {
	p := page{name: name, usage: c.Usage, synopsis: name, text: paragraphs(c.Description), flags: sections(c.Flags),
		commands: commandSections(c.Subcommands, nil)}
	switch {
	case p.commands != nil:
		p.synopsis += " COMMAND [options]"
	case p.flags != nil:
		p.synopsis += " [options]"
	}
	if c.ArgsUsage != "" {
		p.synopsis += " " + c.ArgsUsage
	}
	return p
}

// commandSections are the commands that help shows, in the order of their groups.
func commandSections(commands []*cli.Command, groups []group) []section {
	var names []string
	var all []item
	for _, c := range commands {
		if !c.Hidden && c.Name != "help" {
			names, all = append(names, c.Name), append(all, item{c.Name, c.Usage})
		}
	}
	return divided(names, all, groups, "Commands")
}

// sections are the flags that help shows, in the order of their groups.
func sections(flags []cli.Flag) []section {
	var names []string
	var all []item
	for _, f := range shownFlags(flags) {
		names, all = append(names, f.Names()[0]), append(all, flagItem(f))
	}
	return divided(names, all, flagGroups, "Other")
}

// divided puts the items of these names under the headings of their groups, and others under rest.
func divided(names []string, items []item, groups []group, rest string) (all []section) {
	put := func(heading string, i item) {
		if len(all) == 0 || all[len(all)-1].heading != heading {
			all = append(all, section{heading: heading})
		}
		last := &all[len(all)-1]
		last.items = append(last.items, i)
	}
	for _, g := range groups {
		for _, member := range strings.Fields(g.members) {
			if k := slices.Index(names, member); k >= 0 {
				put(g.heading, items[k])
			}
		}
	}
	for k, name := range names {
		if groupOf(name, groups) == "" {
			put(rest, items[k])
		}
	}
	return all
}

// shownFlags are the flags that help shows.
func shownFlags(flags []cli.Flag) (shown []cli.DocGenerationFlag) {
	for _, f := range flags {
		about, documented := f.(cli.DocGenerationFlag)
		v, hideable := f.(cli.VisibleFlag)
		if documented && (!hideable || v.IsVisible()) && f.Names()[0] != "help" {
			shown = append(shown, about)
		}
	}
	return shown
}

// flagItem tells a flag with all its names and its value, what it is about, and a default only where there is
// something to know. That no flag is set unless it is given goes without saying.
func flagItem(f cli.DocGenerationFlag) item {
	var names []string
	for _, name := range f.Names() {
		names = append(names, strings.Repeat("-", min(2, len(name)))+name)
	}
	i := item{strings.Join(names, ", "), strings.ReplaceAll(f.GetUsage(), "`", "")}
	if f.TakesValue() {
		i.term += " " + valueName(f)
		i.about = strings.TrimPrefix(i.about, valueName(f)+": ")
		if text := strings.Trim(f.GetDefaultText(), `"`); text != "" && text != "0" {
			i.about += fmt.Sprintf(" (default: %s)", text)
		}
	}
	for _, name := range f.GetEnvVars() {
		i.about += " [$" + name + "]"
	}
	return i
}

// valueName is what the help text calls the value of a flag.
func valueName(f cli.DocGenerationFlag) string {
	if _, rest, found := strings.Cut(f.GetUsage(), "`"); found {
		if name, _, found := strings.Cut(rest, "`"); found {
			return name
		}
	}
	return "VALUE"
}

// paragraphs cuts a description. Lines that begin with a space, and examples, stay as they are.
func paragraphs(description string) (all []paragraph) {
	for block := range strings.SplitSeq(strings.Trim(description, "\n"), "\n\n") {
		first := true
		for line := range strings.SplitSeq(block, "\n") {
			verbatim := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "Example")
			if first || all[len(all)-1].verbatim != verbatim {
				all = append(all, paragraph{verbatim: verbatim})
			}
			first = false
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}
