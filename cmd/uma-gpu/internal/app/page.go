package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// page is all there is to say about a command: what help shows in a terminal and man as a manual.
type page struct {
	Name     string // uma-gpu train
	usage    string
	synopsis string
	text     []paragraph
	commands []Section
	Flags    []Section
}

// paragraph is running text, or lines that stay as they are.
type paragraph struct {
	lines    []string
	verbatim bool
}

// Section is a group of commands or flags.
type Section struct {
	Heading string
	Items   []Item
}

// Item is a command or a flag, and what it is about.
type Item struct{ Term, About string }

// appPage is the page of the program itself.
func appPage(app *cli.App) page {
	return page{Name: app.Name, usage: app.Usage, synopsis: app.Name + " COMMAND [options]",
		text: paragraphs(app.Description), commands: commandSections(app.Commands, CommandGroups)}
}

// CommandPage is the page of the command of that full name.
func CommandPage(name string, c *cli.Command) page {
	p := page{Name: name, usage: c.Usage, synopsis: name, text: paragraphs(c.Description),
		Flags: Sections(c.Flags), commands: commandSections(c.Subcommands, nil)}
	switch {
	case p.commands != nil:
		p.synopsis += " COMMAND [options]"
	case p.Flags != nil:
		p.synopsis += " [options]"
	}
	if c.ArgsUsage != "" {
		p.synopsis += " " + c.ArgsUsage
	}
	return p
}

// commandSections are the commands that help shows, in the order of their groups.
func commandSections(commands []*cli.Command, groups []Group) []Section {
	var names []string
	var all []Item
	for _, c := range commands {
		if !c.Hidden && c.Name != "help" {
			names, all = append(names, c.Name), append(all, Item{c.Name, c.Usage})
		}
	}
	return divided(names, all, groups, "Commands")
}

// Sections are the flags that help shows, in the order of their groups.
func Sections(flags []cli.Flag) []Section {
	var names []string
	var all []Item
	for _, f := range ShownFlags(flags) {
		names, all = append(names, f.Names()[0]), append(all, flagItem(f))
	}
	return divided(names, all, FlagGroups, "Other")
}

// divided puts the items of these names under the headings of their groups, and others under rest.
func divided(names []string, items []Item, groups []Group, rest string) (all []Section) {
	put := func(heading string, i Item) {
		if len(all) == 0 || all[len(all)-1].Heading != heading {
			all = append(all, Section{Heading: heading})
		}
		last := &all[len(all)-1]
		last.Items = append(last.Items, i)
	}
	for _, g := range groups {
		for _, member := range strings.Fields(g.Members) {
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

// ShownFlags are the flags that help shows.
func ShownFlags(flags []cli.Flag) (shown []cli.DocGenerationFlag) {
	for _, f := range flags {
		about, documented := f.(cli.DocGenerationFlag)
		v, hideable := f.(cli.VisibleFlag)
		if documented && (!hideable || v.IsVisible()) && f.Names()[0] != "help" {
			shown = append(shown, about)
		}
	}
	return shown
}

// flagItem tells a flag with all its names and its value, what it is about, and a default only
// where there is something to know. That no flag is set unless it is given goes without saying.
func flagItem(f cli.DocGenerationFlag) Item {
	var names []string
	for _, name := range f.Names() {
		names = append(names, strings.Repeat("-", min(2, len(name)))+name)
	}
	i := Item{strings.Join(names, ", "), strings.ReplaceAll(f.GetUsage(), "`", "")}
	if f.TakesValue() {
		i.Term += " " + valueName(f)
		i.About = strings.TrimPrefix(i.About, valueName(f)+": ")
		if text := strings.Trim(f.GetDefaultText(), `"`); text != "" && text != "0" {
			i.About += fmt.Sprintf(" (default: %s)", text)
		}
	}
	for _, name := range f.GetEnvVars() {
		i.About += " [$" + name + "]"
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
