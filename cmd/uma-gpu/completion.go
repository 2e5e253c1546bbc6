package main

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// shellScripts ask the hidden command __complete what could come next.
//
//go:embed completion
var shellScripts embed.FS

// shells are those that have a script.
var shells = []string{"bash", "zsh", "fish"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that has a shell complete commands, flags, their values and files",
		ArgsUsage: strings.Join(shells, "|"),
		Description: "Packages and make install put the scripts where the shells look for them. By hand:\n\n" +
			"  source <(uma-gpu completion bash)                                       in ~/.bashrc\n" +
			"  source <(uma-gpu completion zsh)                   behind compinit, in ~/.zshrc\n" +
			"  uma-gpu completion fish > ~/.config/fish/completions/uma-gpu.fish       once\n\n" +
			"Example: uma-gpu completion bash",
		Action: func(c *cli.Context) error {
			if c.Args().Len() > 1 {
				return usagef(c, "unexpected argument %q", c.Args().Get(1))
			}
			shell := c.Args().First()
			if !slices.Contains(shells, shell) {
				return usagef(c, "found %q for a shell, wanted %s", shell, orList(shells))
			}
			script, err := shellScripts.ReadFile("completion/uma-gpu." + shell)
			if err == nil {
				_, err = c.App.Writer.Write(script)
			}
			return err
		},
	}
}

// filesFollow is the last line of what __complete prints if files are as good.
const filesFollow = ":files"

// completeCommand prints what could stand in place of its last argument, after the others: lines of a word, a tab
// and what it is about.
func completeCommand() *cli.Command {
	return &cli.Command{
		Name: "__complete", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words, files := complete(c.App.Commands, c.Args().Slice())
			for _, i := range words {
				fmt.Fprintf(c.App.Writer, "%s\t%s\n", i.term, i.about)
			}
			if files {
				fmt.Fprintln(c.App.Writer, filesFollow)
			}
			return nil
		},
	}
}

// complete returns what could stand in place of the last word of a command line, and whether files could.
func complete(commands []*cli.Command, words []string) (found []item, files bool) {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	var command *cli.Command
	for len(before) > 0 && commands != nil {
		k := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(before[0]) })
		if k < 0 {
			return nil, false
		}
		command, before = commands[k], before[1:]
		commands = command.Subcommands
	}
	defer func() {
		found = slices.DeleteFunc(found, func(i item) bool { return !strings.HasPrefix(i.term, last) })
	}()
	if command == nil || len(command.Subcommands) > 0 {
		for _, s := range commandSections(commands, nil) {
			found = append(found, s.items...)
		}
		return found, false
	}
	flags := append(shownFlags(command.Flags), ownFlags(command, before)...)
	if name, value, isFlag := strings.Cut(last, "="); isFlag && strings.HasPrefix(name, "-") {
		if f := findFlag(flags, name); f != nil {
			found, files = completeValue(f, value)
			for k := range found {
				found[k].term = name + "=" + found[k].term
			}
		}
		return found, files
	}
	if len(before) > 0 {
		if f := findFlag(flags, before[len(before)-1]); f != nil && f.TakesValue() {
			return completeValue(f, last)
		}
	}
	if command.ArgsUsage != "" && !strings.HasPrefix(last, "-") {
		return argumentsOf(command), strings.Contains(command.ArgsUsage, "FILE")
	}
	for _, f := range flags {
		for _, name := range flagWords([]cli.Flag{f}) {
			if !slices.Contains(before, name) || strings.HasSuffix(fmt.Sprintf("%T", f), "sFlag") {
				found = append(found, item{name, flagItem(f).about})
			}
		}
	}
	return append(found, item{"--help", "show help"}), false
}

// findFlag returns the flag of a word such as --data; nil if there is none.
func findFlag(flags []cli.DocGenerationFlag, word string) cli.DocGenerationFlag {
	for _, f := range flags {
		if slices.Contains(flagWords([]cli.Flag{f}), word) {
			return f
		}
	}
	return nil
}

// completeValue returns the values of a flag that lists them, each behind what a comma list has already.
func completeValue(f cli.DocGenerationFlag, begun string) (found []item, files bool) {
	if own, ok := f.(*learnerFlag); ok {
		for _, c := range own.choices {
			found = append(found, item{c.Value, c.About})
		}
		return found, false
	}
	head := ""
	if strings.HasPrefix(f.GetUsage(), "comma ") {
		head = begun[:strings.LastIndexByte(begun, ',')+1]
	}
	for _, value := range valuesOf(f) {
		found = append(found, item{head + value, ""})
	}
	name := valueName(f)
	return found, name == "FILE" || name == "FOLDER"
}

// valuesOf are the values of a flag with few: those that its help text lists behind a colon, as "a, b or c".
func valuesOf(f cli.DocGenerationFlag) []string {
	switch f.Names()[0] {
	case "learner":
		return learnerNames()
	case "device":
		return []string{"auto", "cpu", "cpu:plain", "opencl"}
	case "strategy":
		return strategyNames()
	}
	_, list, _ := strings.Cut(parenthesis.ReplaceAllString(f.GetUsage(), ""), ": ")
	var values []string
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ';' }) {
		for _, word := range strings.Split(strings.TrimSpace(word), " or ") {
			word = strings.TrimPrefix(strings.TrimSpace(word), "or ")
			if word, _, _ = strings.Cut(word, "["); isValue.MatchString(word) {
				values = append(values, word)
			}
		}
	}
	return values
}

var (
	parenthesis = regexp.MustCompile(` *\([^)]*\)`)
	isValue     = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]*$`)
)

// ownFlags are the flags of the learner that a command line names, if the command takes them.
func ownFlags(command *cli.Command, words []string) (own []cli.DocGenerationFlag) {
	k := slices.Index(words, "--learner")
	if k < 0 || k+1 == len(words) || findFlag(shownFlags(command.Flags), "--learner") == nil {
		return nil
	}
	d, err := catalog.Find(words[k+1])
	if err != nil {
		return nil
	}
	for _, p := range d.New().Parameters() {
		if p.Kind == learners.Switch {
			own = append(own, &cli.BoolFlag{Name: parameterFlag(p.Name), Usage: usageOf(p)})
		} else {
			own = append(own, &learnerFlag{cli.StringFlag{Name: parameterFlag(p.Name), Usage: usageOf(p),
				DefaultText: p.String()}, p.Choices})
		}
	}
	return own
}

// learnerFlag is the flag of a learner's parameter, with the values that have names.
type learnerFlag struct {
	cli.StringFlag
	choices []learners.Choice
}

// argumentsOf are the words that may follow a command, where these are few.
func argumentsOf(command *cli.Command) (found []item) {
	switch command.Name {
	case "learners":
		for _, d := range catalog.All() {
			found = append(found, item{d.Name, d.Summary})
		}
	case "completion":
		for _, shell := range shells {
			found = append(found, item{shell, ""})
		}
	}
	return found
}
