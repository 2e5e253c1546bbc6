package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// key says what a result is of.
type key struct {
	Set   string `json:"set"`
	Noise string `json:"noise"`
	Seed  int    `json:"seed"`
	How   string `json:"how"` // as choice has it
	Blind bool   `json:"blind,omitempty"`
}

// result is what one training led to.
type result struct {
	key
	shape
	Wrong   float64 `json:"wrong"`            // share of the training labels
	Error   float64 `json:"error"`            // on right test labels, in [0, 1]
	Seconds float64 `json:"seconds"`          // of processor time, to learn
	Steps   int     `json:"steps"`            // made
	Failed  string  `json:"failed,omitempty"` // why there is no error rate

	Held *float64 `json:"held_out,omitempty"` // accuracy on examples held out, of their noisy labels through C
}

// whole says whether parts have been held out too, or nothing was learned.
func (r result) whole() bool { return r.Held != nil || r.Failed != "" }

// shape is that of a set.
type shape struct {
	Train       int    `json:"train"`
	Test        int    `json:"test"`
	Features    int    `json:"features"`
	Classes     int    `json:"classes"`
	Preparation string `json:"preparation"`
}

// results are those that there are, and the file that keeps them.
type results struct {
	file  *os.File // nil for none
	found map[key]result
}

// openResults reads the file at path, which need not exist yet; "" is no file. Of results of one key
// the last counts. A last line that was cut off is measured again.
func openResults(path string) (*results, error) {
	r := &results{found: map[key]result{}}
	if path == "" {
		return r, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for n, line := range bytes.Split(text[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var v result
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s:%d: wanted a result: %w", path, n+1, err)
		}
		r.found[v.key] = v
	}
	if r.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	if err := r.file.Truncate(int64(whole)); err != nil {
		return nil, errors.Join(err, r.file.Close())
	}
	return r, nil
}

// add keeps a result.
func (r *results) add(v result) error {
	r.found[v.key] = v
	if r.file == nil {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(line, '\n'))
	return err
}

// close closes the file.
func (r *results) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
