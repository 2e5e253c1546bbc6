package confusion

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Write writes m to w as a CSV table that Read reads: the header `noisy\true,<class>,...`, then a
// row for each noisy class. Numbers are the shortest that read back as the same float64; names are
// quoted as in RFC 4180. Standard errors follow as a second table.
//
// The error is from Check or w, or about a name with a carriage return, which CSV readers
// drop.
func (m *Matrix) Write(w io.Writer) error {
	text, err := m.csv()
	if err != nil {
		return fmt.Errorf("cannot write the confusion matrix: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// csv returns the text of the file.
func (m *Matrix) csv() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	q := m.Q()
	// Writing to memory cannot fail.
	w.Write(append([]string{cornerNoisyRows}, m.Classes...))
	for _, name := range m.Classes {
		if strings.Contains(name, "\r") {
			return nil, fmt.Errorf("class %.60q has a carriage return in its name, wanted a name that "+
				"CSV can hold", name)
		}
	}
	rows := func(numbers []float64) {
		for p, name := range m.Classes {
			row := []string{name}
			for _, v := range numbers[p*q : (p+1)*q] {
				row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
			}
			w.Write(row)
		}
	}
	rows(m.P)
	if m.Error != nil {
		w.Write(append([]string{cornerErrors}, m.Classes...))
		rows(m.Error)
	}
	w.Flush()
	return text.Bytes(), w.Error()
}
