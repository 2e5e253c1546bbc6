package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// log is a file of what has been measured, a JSON object on each line, so that a measurement
// that was interrupted goes on.
type log struct {
	file  *os.File // nil for none
	found map[string][]float64
}

// logLine is a line of the file.
type logLine struct {
	What   string    `json:"what"`
	Errors []float64 `json:"errors"`
}

// openLog reads the file at path, which need not exist yet; "" is no file.
func openLog(path string) (*log, error) {
	l := &log{found: map[string][]float64{}}
	if path == "" {
		return l, nil
	}
	var err error
	if l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(l.file)
	for n := 1; lines.Scan(); n++ {
		var line logLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, errors.Join(fmt.Errorf("%s:%d: wanted a line of -log: %w", path, n, err), l.file.Close())
		}
		l.found[line.What] = line.Errors
	}
	if err := lines.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), l.file.Close())
	}
	return l, nil
}

// add writes a line.
func (l *log) add(what string, found []float64) error {
	if l.file == nil {
		return nil
	}
	text, err := json.Marshal(logLine{what, found})
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(text, '\n'))
	return err
}

// close closes the file.
func (l *log) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
