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

// DetectFormat returns the format that Read takes a file to have: the one that o
// names or, if that is auto, what the beginning and the name of the file say. It
// reads no further; standard input, which can be read only once, has the format
// "" unless o names it. Errors are those of opening the file.
func DetectFormat(path string, o Options) (string, error) {
	if o.Format != "" && o.Format != "auto" {
		return o.Format, nil
	}
	if path == "-" {
		return "", nil
	}
	s, done, err := openSource(path, o.Stdin)
	if err != nil {
		return "", err
	}
	defer done()
	return detectFormat(s, o.NoLabels || o.Labels != ""), nil
}
