package app

import (
	"errors"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// The parts of help texts.
const (
	helpHead = `{{wrap (printf "%s - %s" .HelpName .Usage) 2}}

Usage: {{.HelpName}}{{if .VisibleCommands}} COMMAND{{end}}{{if .VisibleFlags}} [options]{{end}}{{with .ArgsUsage}} {{.}}{{end}}
{{if .Description}}
{{wrap .Description 0}}
{{end}}{{define "commands"}}{{range .}}
  {{.Name}}{{"\t"}}{{.Usage}}{{end}}
{{end}}{{define "flags"}}{{range .}}
  {{wrap .String 6}}{{end}}
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
	text := cli.FlagStringer
	cli.FlagStringer = func(f cli.Flag) string { // the description below the flag
		flag := strings.Replace(text(f), "\t", "\n", 1)
		return strings.TrimSuffix(strings.TrimSuffix(flag, " (default: 0)"), " (default: false)")
	}
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

// reflow joins the lines of each paragraph, which help wraps to its width. Examples, and lines that
// begin with a space, stay as they are.
func reflow(text string) string {
	var b strings.Builder
	before := ""
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		flows := func(line string) bool {
			return line != "" && line[0] != ' ' && !strings.HasPrefix(line, "Example")
		}
		switch {
		case b.Len() == 0:
		case flows(before) && flows(line):
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		before = line
	}
	return b.String()
}

// Page is a manual page.
type Page struct{ Name, Roff string }

// Pages returns the manual pages of the program and of each command.
func (o *Common) Pages() (pages []Page, err error) {
	var add func(name string, c *cli.Command) error
	add = func(name string, c *cli.Command) error {
		about := &cli.App{Name: name, Usage: c.Usage, Description: c.Description, Flags: c.Flags,
			UsageText: name + " [options] " + c.ArgsUsage}
		for _, s := range c.Subcommands {
			if !s.Hidden && s.Name != "help" {
				about.UsageText = name + " COMMAND [options]"
				about.Commands = append(about.Commands, &cli.Command{Name: s.Name, Usage: s.Usage})
			}
		}
		roff, err := about.ToManWithSection(1)
		pages = append(pages, Page{name, roff})
		for _, s := range c.Subcommands {
			if !s.Hidden && s.Name != "help" {
				err = errors.Join(err, add(name+" "+s.Name, s))
			}
		}
		return err
	}
	app := o.line.App
	err = add(app.Name, &cli.Command{Usage: app.Usage, Description: app.Description,
		Subcommands: app.Commands})
	return pages, err
}
