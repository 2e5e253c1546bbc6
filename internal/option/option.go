// Package option names options in messages as the command line does: --label-column is the field
// LabelColumn of a Go struct, and the keyword label_column in Python.
package option

// Named returns "--header", or "--header=no" if a value is advised.
func Named(name string, value ...string) string {
	name = "--" + name
	for _, v := range value {
		name += "=" + v
	}
	return name
}
