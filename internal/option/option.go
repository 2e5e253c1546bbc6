// Package option names options in messages alike for every reader: label-column is the field
// LabelColumn of a Go struct, the flag --label-column, and the keyword label_column in Python.
package option

// Named returns "option header", or "option header=no" if a value is advised.
func Named(name string, value ...string) string {
	name = "option " + name
	for _, v := range value {
		name += "=" + v
	}
	return name
}
