package dataset

import "fmt"

// external are labels that do not stand with the features: those of a second
// file, or of another array of the same one. Example k has label k.
type external struct {
	name   string // of the file, or of the array in its file
	labels *labels
	codes  []int32       // class of each example, -1 if its label is bad
	bad    map[int]error // what is wrong with the bad ones
}

// choose makes the label of example k that of the labels' next commit. fault says
// that the example has no good label, err that reading cannot go on.
func (e *external) choose(k int) (fault, err error) {
	if k >= len(e.codes) {
		return nil, fmt.Errorf("%s: found %d labels, wanted one for each example, and there are more examples; "+
			"are the files a pair?", e.name, len(e.codes))
	}
	if e.codes[k] < 0 {
		return e.bad[k], nil
	}
	e.labels.pending = e.codes[k]
	return nil, nil
}

// tooMany words that the data file has only n examples.
func (e *external) tooMany(path string, n int) error {
	return fmt.Errorf("%s: found %d labels, wanted %d, one for each example of %s; are the files a pair? "+
		"(does the label file begin with a header? then name the column)",
		e.name, len(e.codes), n, path)
}
