package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// issueFormat returns the format of the table that is named so, "" for none.
func issueFormat(c *cli.Context, out string) (string, error) {
	if out == "" {
		return "", nil
	}
	switch format := strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), "."); format {
	case "csv", "json", "parquet":
		return format, nil
	}
	return "", usagef(c, "--out is %s, wanted a name that ends in .csv, .json or .parquet", out)
}

// writeIssues returns what writes ranked rows in a format.
func writeIssues(format string, rows []issueRow) func(io.Writer) error {
	return func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		write := writeIssuesCSV
		switch format {
		case "json":
			write = writeIssuesJSON
		case "parquet":
			write = dataset.WriteParquet[issueRow]
		}
		if err := write(b, rows); err != nil {
			return err
		}
		return b.Flush()
	}
}

// writeIssuesCSV writes a header and the rows; pandas reads True and False as truths.
func writeIssuesCSV(out io.Writer, rows []issueRow) error {
	w := csv.NewWriter(out)
	fields := []string{"example", "is_label_issue", "label_quality", "given_label", "predicted_label",
		"predicted_quality", "duplicate_of", "conflict"}
	if err := w.Write(fields); err != nil {
		return err
	}
	truth := map[bool]string{false: "False", true: "True"}
	for _, r := range rows {
		fields[0], fields[1] = strconv.FormatInt(r.Example, 10), truth[r.Wrong]
		fields[2] = strconv.FormatFloat(r.Quality, 'g', -1, 64)
		fields[3], fields[4] = r.Given, r.Predicted
		fields[5] = strconv.FormatFloat(r.Sure, 'g', -1, 64)
		fields[6], fields[7] = strconv.FormatInt(r.Duplicate, 10), truth[r.Conflict]
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeIssuesJSON writes one array, a row on each line.
func writeIssuesJSON(w io.Writer, rows []issueRow) error {
	for i, r := range rows {
		separator := ",\n"
		if i == 0 {
			separator = "[\n"
		}
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // a class named <=50K should look like that
		if err := e.Encode(r); err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator+strings.TrimSpace(text.String())); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

// writeClean writes the data with the most likely labels in place of those that are likely
// wrong, or without their rows.
func (o *outOfFold) writeClean(ctx context.Context, files *atomicfile.Group, path, how string,
	found []confusion.Issue) (said string, err error) {
	clean, wrong := *o.data, 0
	var kept []int
	clean.Y = nil
	for i, f := range found {
		y := o.data.Y[i]
		if f.Wrong {
			wrong++
			if how == filterRows {
				continue
			}
			y = f.Likely
		}
		kept, clean.Y = append(kept, i), append(clean.Y, y)
	}
	what := "relabelled"
	if how == filterRows {
		what = "left out"
		if len(kept) == 0 {
			return "", fmt.Errorf("%s: %w", o.training.data, errNothingLeft)
		}
		clean.Examples = o.data.Pick(kept)
	}
	clean.SHA256 = clean.Hash()
	if err := writeData(ctx, path, &clean, together(files, copyOptions(path, &clean))); err != nil {
		return "", err
	}
	return fmt.Sprintf("clean: %d of %d rows %s, written to %s", wrong, o.data.N, what, path), nil
}
