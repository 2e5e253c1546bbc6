package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func init() { cli.FlagStringer = flagLine }

// flagLine is the line of a flag in a help text: a tab between the flag and what it is
// about, and a default only where there is something to know. That no flag is set unless
// it is given goes without saying.
func flagLine(f cli.Flag) string {
	about, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage := about.GetUsage()
	var flag strings.Builder
	for k, name := range about.Names() {
		if k > 0 {
			flag.WriteString(", ")
		}
		flag.WriteString(strings.Repeat("-", min(2, len(name))) + name)
	}
	if about.TakesValue() {
		value := "VALUE"
		if before, rest, found := strings.Cut(usage, "`"); found {
			if name, after, found := strings.Cut(rest, "`"); found {
				value, usage = name, before+name+after
			}
		}
		flag.WriteString(" " + value)
		if text := strings.Trim(about.GetDefaultText(), `"`); text != "" && text != "0" {
			usage += fmt.Sprintf(" (default: %s)", text)
		}
	}
	for _, name := range about.GetEnvVars() {
		usage += " [$" + name + "]"
	}
	return flag.String() + "\t" + usage
}
