package training

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// historyHeader names the columns of a history.
var historyHeader = []string{"step", "estimated_error", "held_out_error"}

// CheckHistory checks the name of a history's file.
func CheckHistory(path string) error {
	if !strings.EqualFold(filepath.Ext(path), ".csv") {
		return app.Usage("--history is %q, wanted a name that ends in .csv", path)
	}
	return nil
}

// WriteHistory writes a line for each moment of a training.
func WriteHistory(path string, moments []report.Moment) error {
	return atomicfile.Write(path, func(out io.Writer) error {
		number := app.NumberText
		rows := [][]string{historyHeader}
		for _, m := range moments {
			row := []string{strconv.Itoa(m.Step), number(m.EstimatedError), ""}
			if m.HeldOutError != nil {
				row[2] = number(*m.HeldOutError)
			}
			rows = append(rows, row)
		}
		return csv.NewWriter(out).WriteAll(rows)
	})
}

// ReadHistory reads what WriteHistory wrote.
func ReadHistory(path string) (moments []report.Moment, err error) {
	text, err := osfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the history: %w", path, err)
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = len(historyHeader)
	records, err := r.ReadAll()
	if err != nil || len(records) == 0 || !slices.Equal(records[0], historyHeader) {
		return nil, fmt.Errorf("%s: found no table %s (%v), wanted what train --history wrote", path,
			strings.Join(historyHeader, ","), err)
	}
	for k, fields := range records[1:] {
		var m report.Moment
		read := []any{&m.Step, &m.EstimatedError, &m.HeldOutError}
		for j, field := range fields {
			if j == 2 && field == "" {
				continue
			}
			if err := json.Unmarshal([]byte(field), read[j]); err != nil {
				return nil, fmt.Errorf("%s:%d: found %q as %s, wanted a number", path, k+2, field,
					historyHeader[j])
			}
		}
		moments = append(moments, m)
	}
	return moments, nil
}
