package dataset

import "slices"

// FormatOfName returns the format that a file name stands for, "" if it does not
// say. A .gz or .zst at its end does not matter.
func FormatOfName(path string) string {
	end := extension(path)
	for _, f := range formats() {
		if slices.Contains(f.names, end) {
			return f.name
		}
	}
	return ""
}

// WriteFormats lists the formats that Write knows.
func WriteFormats() []string {
	var names []string
	for _, f := range formats() {
		if f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}
