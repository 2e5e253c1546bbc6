package app

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// Flags joins flags and lists of flags, in their order.
func Flags(parts ...any) (all []cli.Flag) {
	for _, part := range parts {
		switch part := part.(type) {
		case cli.Flag:
			all = append(all, part)
		case []cli.Flag:
			all = append(all, part...)
		default:
			panic("app: Flags: neither a flag nor a list of flags")
		}
	}
	return all
}

// Without returns the flags without the named ones.
func Without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool {
		return slices.Contains(names, f.Names()[0])
	})
}

// FlagNames are the first names of flags.
func FlagNames(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// SeedFlag returns the flag --seed, of what usage names.
func SeedFlag(into *uint64, of string) cli.Flag {
	*into = 1
	return Flag(into, umagpu.Parameter{Name: "seed", Value: "SEED", Sentence: "seed of " + of})
}

// CheckedFlag is a flag that is checked before its command runs, when all flags have their values.
type CheckedFlag struct {
	*cli.StringFlag
	Check func(c *cli.Context) error

	learner bool // it is a parameter of learners
}

// Checked returns a flag with a check.
func Checked(f *cli.StringFlag, check func(c *cli.Context) error) CheckedFlag {
	return CheckedFlag{StringFlag: f, Check: check}
}

// Unless returns the flag with what help has for its default.
func (f CheckedFlag) Unless(text string) CheckedFlag {
	f.DefaultText = text
	return f
}

// Size returns the flag of a number of bytes, 0 if it is not given, which help has as unless.
func Size(into *int64, name, unless, usage string) CheckedFlag {
	f := Text(new(string), name, "0", usage)
	return CheckedFlag{StringFlag: f, Check: func(c *cli.Context) (err error) {
		if !c.IsSet(name) {
			return nil
		}
		if *into, err = ParseBytes(*f.Destination); err != nil {
			return Usage("--%s: %v", name, err)
		}
		return nil
	}}.Unless(unless)
}

func Text(into *string, name, value, usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Value: value, Usage: usage, Destination: into}
}

func Switch(into *bool, name, usage string) cli.Flag {
	return &cli.BoolFlag{Name: name, Usage: usage, Destination: into}
}

// ParseCount reads a whole number, which may have an exponent.
func ParseCount(text string) (n int, err error) {
	p := umagpu.Parameter{Range: umagpu.Range{Least: math.MinInt}}.On(&n)
	err = p.Set(text)
	return n, err
}

// Required marks a flag that a command needs, and returns it.
func Required(f cli.Flag) cli.Flag {
	flagField(f, "Required").SetBool(true)
	return f
}

// takeRequired returns the names of the required flags. It takes the marks away: the cli package
// would print the help text as well.
func takeRequired(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		if mark := flagField(f, "Required"); mark.Bool() {
			mark.SetBool(false)
			names = append(names, f.Names()[0])
		}
	}
	return names
}

// FileFlag names a file that a command reads or writes, and FilesFlag several, so that checkFiles
// can protect them. - is standard input, or standard output where it is the default.
type (
	FileFlag struct {
		*cli.StringFlag
		Written bool
	}
	FilesFlag struct {
		*cli.StringSliceFlag
		Written bool
	}
)

func Input(into *string, name, usage string) cli.Flag {
	return FileFlag{Text(into, name, "", usage), false}
}

func Output(into *string, name, usage string) cli.Flag {
	return FileFlag{Text(into, name, "", usage), true}
}

// OutputOrStandard returns the flag of an output, which is standard output if it is - or not given.
func OutputOrStandard(into *string, name, usage string) cli.Flag {
	f := Text(into, name, "", usage)
	f.DefaultText = "-"
	return FileFlag{f, true}
}

func Inputs(into *cli.StringSlice, name, usage string) cli.Flag {
	return FilesFlag{&cli.StringSliceFlag{Name: name, Usage: usage, Destination: into,
		KeepSpace: true}, false}
}

func Outputs(into *cli.StringSlice, name, usage string) cli.Flag {
	return FilesFlag{&cli.StringSliceFlag{Name: name, Usage: usage, Destination: into,
		KeepSpace: true}, true}
}

// filesOf returns the files that a flag names, if it is of files, and whether they are written.
func filesOf(c *cli.Context, f cli.Flag) (paths []string, written bool) {
	switch f := f.(type) {
	case RequestFlag:
		return []string{c.String(f.Name)}, false
	case FilesFlag:
		return c.StringSlice(f.Name), f.Written
	case FileFlag:
		path := c.String(f.Name)
		if path != "-" || !f.Written || f.Value != "-" && f.DefaultText != "-" {
			return []string{path}, f.Written
		}
	}
	return nil, false
}

// checkFiles checks, before any work, that each output file can be written and that no other flag
// names it.
func checkFiles(c *cli.Context) error {
	type namedFile struct {
		flag, path string
		written    bool
	}
	var files []namedFile
	for _, f := range c.Command.Flags {
		paths, written := filesOf(c, f)
		for _, path := range paths {
			if path != "" {
				files = append(files, namedFile{f.Names()[0], path, written})
			}
		}
	}
	for k, a := range files {
		for _, b := range files[:k] {
			out, other := a, b
			if !out.written {
				out, other = b, a
			}
			if out.written && !mayReplace(out.flag, other.flag) &&
				SamePlace(c.App.Reader, out.path, other.path) {
				return Usage("--%s is the same file as --%s, %s; give another name", out.flag, other.flag,
					other.path)
			}
		}
	}
	for _, f := range files {
		if f.written && f.path == "-" {
			return Usage("--%s: got -, want the name of a file (./- if that is its name)", f.flag)
		}
		if f.written {
			if err := osfile.CheckWritable(f.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayReplace reports whether the file of flag out may replace the file of flag other: a training
// reads the whole checkpoint that it resumes from first.
func mayReplace(out, other string) bool {
	return other == "resume" && (out == "checkpoint" || out == "model")
}

// SamePlace reports whether a file written at path a would take the place of b, whatever links lead
// there. Neither needs to exist; b may be - for stdin.
func SamePlace(stdin io.Reader, a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if in, ok := stdin.(*os.File); ok && b == "-" {
		infoB, errB = in.Stat()
	}
	if errA == nil || errB == nil {
		return errA == nil && errB == nil && os.SameFile(infoA, infoB)
	}
	// Not by cleaned paths: .. after a link leads elsewhere.
	folderA, nameA := filepath.Split(a)
	folderB, nameB := filepath.Split(b)
	infoA, errA = os.Stat(folderA + ".")
	infoB, errB = os.Stat(folderB + ".")
	return nameA == nameB && errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// InstallChecks completes a command and its subcommands: it wraps their descriptions for help, and
// checks the declared flags and files before the command runs.
func InstallChecks(c *cli.Command) {
	c.OnUsageError = OnUsageError
	c.Description = reflow(c.Description)
	c.HideHelpCommand = true // a word after a command is never a help topic
	if len(c.Subcommands) > 0 {
		c.Action = NeedCommand
		for _, s := range c.Subcommands {
			InstallChecks(s)
		}
		return
	}
	needed := takeRequired(c.Flags)
	action := c.Action
	c.Action = func(c *cli.Context) error {
		err := once(c)
		for _, f := range c.Command.Flags {
			if f, ok := f.(RequestFlag); ok && err == nil {
				err = f.load(c)
			}
		}
		if err == nil {
			err = checkFiles(c)
		}
		if err == nil {
			err = checkFlags(c, needed)
		}
		if err == nil {
			err = forRank(c)
		}
		if err != nil {
			return OfCommand(c, tell(c, err))
		}
		forPeople(c)
		if m, ok := c.App.ErrWriter.(*Meter); ok {
			m.Still(c.Bool("quiet"), c.Bool("verbose"))
		}
		return action(c)
	}
}

// several reports whether a flag may be given several times.
func several(f cli.Flag) bool {
	return flagField(f, "Destination").Type() == reflect.TypeFor[*cli.StringSlice]()
}

// once returns an error if a flag of one value is given twice, or given an empty one: it may be of
// a variable of the shell that is not set, and its default is not what was asked for.
func once(c *cli.Context) error {
	words, _ := c.App.Metadata["args"].([]string)
	seen := map[string]string{}
	for k := 0; k < len(words) && words[k] != "--"; k++ {
		name, value, has := strings.Cut(strings.TrimLeft(words[k], "-"), "=")
		if name == words[k] {
			continue
		}
		at := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool {
			return slices.Contains(f.Names(), name)
		})
		if at < 0 {
			continue
		}
		f := c.Command.Flags[at]
		takes, ok := f.(cli.DocGenerationFlag)
		valued := ok && takes.TakesValue()
		if valued && !has && k+1 < len(words) {
			k++
			value = words[k]
		}
		first := f.Names()[0]
		if valued && value == "" && !several(f) {
			return Usage("--%s has no value, wanted one; without the flag its default counts", first)
		}
		if before, twice := seen[first]; twice && !several(f) {
			return Usage("--%s is given twice, as %q and %q; give one", first, before, value)
		}
		seen[first] = value
	}
	return nil
}

// checkFlags makes the checks that flags declare, and checks that needed flags are given and that
// there are no unexpected arguments.
func checkFlags(c *cli.Context, needed []string) error {
	if word := c.Args().First(); word != "" && c.Command.ArgsUsage == "" {
		for _, name := range []string{"data", "model"} {
			if slices.Contains(FlagNames(c.Command.Flags), name) && !c.IsSet(name) {
				return Usage("unexpected argument %q, wanted --%s %s", word, name, Quoted(word))
			}
		}
		return Usage("unexpected argument %q", word)
	}
	for _, f := range c.Command.Flags {
		switch f := f.(type) {
		case CheckedFlag:
			if err := f.Check(c); err != nil {
				return err
			}
		case SwitchFlag:
			if c.IsSet(f.Name) {
				if err := f.set(strconv.FormatBool(c.Bool(f.Name))); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range needed {
		if text := c.String(name); text == "" || text == "0" && !c.IsSet(name) {
			return Missing(name)
		}
	}
	return nil
}

// The parts of help texts.
const (
	helpHead = `{{wrap (printf "%s - %s" .HelpName .Usage) 2}}

Usage: {{.HelpName}}{{if .VisibleCommands}} COMMAND{{end}}{{if .VisibleFlags}} [options]{{end}}{{with .ArgsUsage}} {{.}}{{end}}
{{if .Description}}
{{wrap .Description 0}}
{{end}}{{define "commands"}}{{range .}}
  {{.Name}}{{"\t"}}{{.Usage}}{{end}}
{{end}}{{define "flags"}}{{range .}}
{{.String}}{{end}}
{{end}}`
	helpFlags = `{{if .VisibleFlagCategories}}{{range .VisibleFlagCategories}}
{{or .Name "Options"}}:{{template "flags" .Flags}}{{end}}{{else if .VisibleFlags}}
Options:{{template "flags" .VisibleFlags}}{{end}}`
)

func init() {
	cli.AppHelpTemplate = helpHead + `{{range .VisibleCategories}}{{if .Name}}
{{.Name}}:{{template "commands" .VisibleCommands}}{{end}}{{end}}` + helpFlags
	cli.SubcommandHelpTemplate = helpHead + `{{with .VisibleCommands}}
Commands:{{template "commands" .}}{{end}}` + helpFlags
	cli.CommandHelpTemplate = cli.SubcommandHelpTemplate
	cli.HelpPrinter = func(w io.Writer, template string, about any) {
		cli.HelpPrinterCustom(w, template, about, map[string]any{"wrapAt": helpColumns})
	}
	cli.FlagStringer = flagText
}

// flagText is what help says of a flag: its name with the value that its usage has in backquotes,
// and beside it the usage, second names and the default.
func flagText(f cli.Flag) string {
	doc := f.(cli.DocGenerationFlag)
	name, names := "  --"+f.Names()[0], f.Names()[1:]
	before, rest, _ := strings.Cut(doc.GetUsage(), "`")
	value, after, takes := strings.Cut(rest, "`")
	if takes {
		name += " " + value
	}
	about := before + value + after
	if takes && before == "" && strings.HasPrefix(after, ": ") {
		about = after[2:]
	}
	for _, other := range names {
		about += " (or " + strings.Repeat("-", min(2, len(other))) + other + ")"
	}
	if text := doc.GetDefaultText(); text != "" && text != "0" && text != "false" {
		about += " (default: " + strings.Trim(text, `"`) + ")"
	}
	for _, variable := range doc.GetEnvVars() {
		about += " [$" + variable + "]"
	}
	return beside(name, strings.Fields(about), helpColumns())
}

// beside returns a text to the right of a name, in lines of a width; below it if the name is long.
func beside(name string, words []string, width int) string {
	const indent = 28
	var b strings.Builder
	b.WriteString(name)
	at := utf8.RuneCountInString(name)
	if at >= indent {
		at = width
	}
	for k, word := range words {
		n := utf8.RuneCountInString(word) + 1
		switch {
		case k == 0 && at < width:
			b.WriteString(strings.Repeat(" ", indent-at-1))
			at = indent - 1
		case at+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent-1))
			at = indent - 1
		}
		b.WriteString(" " + word)
		at += n
	}
	return b.String()
}

// more is the heading of flags that --help leaves to --help all.
const more = "More options"

// Rest puts flags but the named ones below a heading that --help leaves to --help all.
func Rest(flags []cli.Flag, usual ...string) []cli.Flag {
	for _, f := range flags {
		if !slices.Contains(usual, f.Names()[0]) {
			flagField(f, "Category").SetString(more)
		}
	}
	return flags
}

// Abridge leaves out of the help of a command, and of its subcommands, the flags of Rest, and of
// their descriptions all but the first paragraph and the examples.
func Abridge(c *cli.Command) {
	for _, s := range c.Subcommands {
		Abridge(s)
	}
	if !slices.ContainsFunc(c.Flags, func(f cli.Flag) bool {
		return flagField(f, "Category").String() == more
	}) {
		return
	}
	for _, f := range c.Flags {
		heading := flagField(f, "Category")
		flagField(f, "Hidden").SetBool(heading.String() == more)
		heading.SetString("") // one list takes fewer lines
	}
	first, _, _ := strings.Cut(c.Description, "\n\n")
	at := strings.Index(c.Description, "Example:")
	c.Description = fmt.Sprintf("%s\n\n%s\nThe rest: %s --help all", first,
		strings.TrimSpace(c.Description[at:]), cmp.Or(c.HelpName, "uma-gpu "+c.Name))
}

// helpColumns returns the width of help texts: the terminal's, or COLUMNS, but from 40 to 110.
func helpColumns() int {
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if n, _, terminal := term.GetSize(int(os.Stdout.Fd())); terminal == nil {
		columns = n
	} else if err != nil {
		columns = 80
	}
	return min(max(columns, 40), 110)
}

// Grouped returns flags, below a heading in help texts.
func Grouped(heading string, parts ...any) []cli.Flag {
	flags := Flags(parts...)
	for _, f := range flags {
		flagField(f, "Category").SetString(heading)
	}
	return flags
}

// flagField returns a field that all flag types of the cli package have.
func flagField(f cli.Flag, name string) reflect.Value {
	return reflect.Indirect(reflect.ValueOf(f)).FieldByName(name)
}

// flowing is a line break inside a paragraph, where the next line is no example.
var flowing = regexp.MustCompile(`([^\n])\n([^\n \x00])`)

// reflow joins the lines of each paragraph, which help wraps to its width. Examples, and lines that
// begin with a space, stay as they are.
func reflow(text string) string {
	text = strings.ReplaceAll(strings.Trim(text, "\n"), "\nExample:", "\n\x00Example:")
	return strings.ReplaceAll(flowing.ReplaceAllString(text, "$1 $2"), "\x00", "")
}
