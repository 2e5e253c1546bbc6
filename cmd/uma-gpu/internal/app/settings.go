package app

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Settings returns the texts of the flags that were given but for those in except, with absolute
// paths of files: what Set takes in another run.
func (o *Common) Settings(except ...string) (map[string]string, error) {
	all := map[string]string{}
	for _, f := range o.line.Command.Flags {
		name := f.Names()[0]
		if slices.Contains(except, name) || !o.line.IsSet(name) {
			continue
		}
		value := fmt.Sprint(o.line.Value(name))
		if _, isFile := f.(FileFlag); isFile && value != "" && value != "-" {
			path, err := filepath.Abs(value)
			if err != nil {
				return nil, err
			}
			value = path
		}
		all[name] = value
	}
	return all, nil
}

// Set gives a flag a value, and checks it as on the command line.
func (o *Common) Set(flag, value string) error {
	if err := o.line.Set(flag, value); err != nil {
		return err
	}
	o.start(o.line)
	return checkFlags(o.line, nil)
}
