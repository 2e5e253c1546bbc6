package app

import (
	"io"
	"os"
	"reflect"
	"regexp"
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

// flowing is a line break inside a paragraph, where the next line is no example.
var flowing = regexp.MustCompile(`([^\n])\n([^\n \x00])`)

// reflow joins the lines of each paragraph, which help wraps to its width. Examples, and lines that
// begin with a space, stay as they are.
func reflow(text string) string {
	text = strings.ReplaceAll(strings.Trim(text, "\n"), "\nExample:", "\n\x00Example:")
	return strings.ReplaceAll(flowing.ReplaceAllString(text, "$1 $2"), "\x00", "")
}
