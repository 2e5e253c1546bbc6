package confusion

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Write writes m to the file as the CSV table that Read takes: the header
// `noisy\true,<class>,...`, then a row per noisy class. Numbers are the shortest
// that read back as the same float64; names are quoted where RFC 4180 asks for
// it. The file appears whole or not at all, in place of one that was there.
//
// The error is that of Check, or about a name with a carriage return, which CSV
// readers do not keep, or about the file.
func (m *Matrix) Write(path string) error {
	text, err := m.csv()
	if err == nil {
		err = replaceFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("%s: cannot write the confusion matrix: %w", path, cause(err))
	}
	return nil
}

// csv returns the text of the file.
func (m *Matrix) csv() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	q := m.Q()
	// Writing to memory cannot fail; w.Error would tell it below.
	w.Write(append([]string{cornerNoisyRows}, m.Classes...))
	for p, name := range m.Classes {
		if strings.Contains(name, "\r") {
			return nil, fmt.Errorf("class %q has a carriage return in its name, wanted a name that CSV can hold", name)
		}
		row := []string{name}
		for _, v := range m.P[p*q : (p+1)*q] {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		w.Write(row)
	}
	w.Flush()
	return text.Bytes(), w.Error()
}

// replaceFile writes data to a new file beside path and renames it to path. On
// an error the new file is removed and what was at path is left as it was.
func replaceFile(path string, data []byte) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it exists and is not a regular file; give another name")
	}
	temp, err := createBeside(path)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if removeErr := os.Remove(temp.Name()); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}()
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	return err
}

// createBeside creates a file in the folder of path. Unlike os.CreateTemp it
// leaves the permissions to the user's umask, since the file is to stay. Its name
// is short whatever path is, so that every valid path can be written.
func createBeside(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".confusion.%d.%d.tmp", os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
