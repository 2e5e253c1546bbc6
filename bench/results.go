package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// keyed is a result that says what it is of.
type keyed[K comparable] interface{ id() K }

// results holds the results of a measurement, and the file that keeps them.
type results[K comparable, V keyed[K]] struct {
	file  *os.File // nil for none
	found map[K]V
}

// openResults reads JSON lines from the file at path, which need not exist yet; "" is no file. The
// last of several results of one key counts. A last line that was cut off is measured again.
func openResults[K comparable, V keyed[K]](path string) (*results[K, V], error) {
	r := &results[K, V]{found: map[K]V{}}
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
		var v V
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s:%d: wanted a result: %w", path, n+1, err)
		}
		r.found[v.id()] = v
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
func (r *results[K, V]) add(v V) error {
	r.found[v.id()] = v
	if r.file == nil {
		return nil
	}
	return json.NewEncoder(r.file).Encode(v)
}

// close closes the file.
func (r *results[K, V]) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
