package training

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/smallfile"
)

// historyHeader names the columns of a history.
var historyHeader = []string{"step", "estimated_error", "held_out_error"}

// CheckHistory checks the name of a history's file.
func CheckHistory(path string) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".csv" && ext != ".jsonl" {
		return app.Usage("--history is %q, wanted a name that ends in .csv or .jsonl", path)
	}
	return nil
}

// WriteHistory writes a line for each moment of a training.
func WriteHistory(path string, moments []judge.Moment) error {
	return atomicfile.Write(path, func(out io.Writer) error {
		b := bufio.NewWriter(out)
		if strings.EqualFold(filepath.Ext(path), ".jsonl") {
			e := json.NewEncoder(b)
			for _, m := range moments {
				if err := e.Encode(m); err != nil {
					return err
				}
			}
			return b.Flush()
		}
		w := csv.NewWriter(b)
		if err := w.Write(historyHeader); err != nil {
			return err
		}
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		for _, m := range moments {
			held := ""
			if m.HeldOutError != nil {
				held = number(*m.HeldOutError)
			}
			if err := w.Write([]string{strconv.Itoa(m.Step), number(m.EstimatedError), held}); err != nil {
				return err
			}
		}
		w.Flush()
		if err := w.Error(); err != nil {
			return err
		}
		return b.Flush()
	})
}

// ReadHistory reads what WriteHistory wrote.
func ReadHistory(path string) (moments []judge.Moment, err error) {
	text, err := smallfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the history: %w", path, err)
	}
	if strings.EqualFold(filepath.Ext(path), ".jsonl") {
		for k, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			var m judge.Moment
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&m); err != nil {
				return nil, fmt.Errorf("%s:%d: found %.40q (%v), wanted a line that train --history wrote",
					path, k+1, line, err)
			}
			moments = append(moments, m)
		}
		return moments, nil
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = len(historyHeader)
	records, err := r.ReadAll()
	if err != nil || len(records) == 0 || strings.Join(records[0], ",") != strings.Join(historyHeader,
		",") {
		return nil, fmt.Errorf("%s: found no table %s (%v), wanted what train --history wrote", path,
			strings.Join(historyHeader, ","), err)
	}
	for k, fields := range records[1:] {
		var m judge.Moment
		var errs [3]error
		m.Step, errs[0] = strconv.Atoi(fields[0])
		m.EstimatedError, errs[1] = strconv.ParseFloat(fields[1], 64)
		if fields[2] != "" {
			var held float64
			held, errs[2] = strconv.ParseFloat(fields[2], 64)
			m.HeldOutError = &held
		}
		for j, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("%s:%d: found %q as %s, wanted a number", path, k+2, fields[j],
					historyHeader[j])
			}
		}
		moments = append(moments, m)
	}
	return moments, nil
}
