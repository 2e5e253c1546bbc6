package query

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/smallfile"
	"github.com/uma-gpu/uma-gpu/internal/taskfile"
)

// cannotTell is the label of an example that the expert cannot tell the class of.
const cannotTell = "?"

type answered struct {
	id    string
	label int32
	line  int
}

// readAnswers reads the rows of a table that have a label. Its first record names the columns id
// and label; others are passed over. refuse says what is wrong with an id, "" if nothing is.
func readAnswers(path string, classes []string, refuse func(id string) string) (list []answered,
	err error) {
	text, err := smallfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the answers: %w", path, err)
	}
	records, err := recordsOf(path, text)
	if err != nil {
		return nil, err
	}
	var header []string
	id, label, known := 0, 0, map[string]answered{}
	for _, r := range records {
		row, line := r.fields, r.line
		wrong := func(format string, args ...any) ([]answered, error) {
			return nil, fmt.Errorf("%s:%d: %w", path, line, fmt.Errorf(format, args...))
		}
		if header == nil {
			header, id, label = row, slices.Index(row, "id"), slices.Index(row, "label")
			if id < 0 {
				id = slices.Index(row, "row")
			}
			if min(id, label) < 0 {
				return wrong("found the columns %.80q, wanted a header with id and label, as in the questions",
					header)
			}
			continue
		}
		if len(row) != len(header) {
			return wrong("found %d fields, wanted %d as in the header", len(row), len(header))
		}
		class := strings.TrimSpace(row[label])
		if class == "" {
			continue // no answer yet
		}
		a := answered{strings.TrimSpace(row[id]), int32(slices.Index(classes, class)), line}
		if a.label < 0 && class == cannotTell {
			a.label = active.Aside
		} else if a.label < 0 {
			return wrong("found the label %.60q, wanted one of %.200q, or %s where the expert cannot tell; "+
				"a new class needs a session of its own, begun with --classes", class, classes, cannotTell)
		}
		if fault := refuse(a.id); fault != "" {
			return wrong("found the id %q, wanted one of the questions: %s", a.id, fault)
		}
		if before, twice := known[a.id]; !twice {
			known[a.id], list = a, append(list, a)
		} else if before.label != a.label {
			return wrong("found the id %q with the label %.60q, wanted that of line %d; give one of them",
				a.id, class, before.line)
		}
	}
	if header == nil {
		return nil, fmt.Errorf("%s: found an empty file, wanted a CSV of id and label", path)
	}
	return list, nil
}

type record struct {
	fields []string
	line   int
}

// recordsOf returns the lines of a CSV, or those of taskfile.Read.
func recordsOf(path string, text []byte) (list []record, err error) {
	if taskfile.Is(text) {
		t, err := taskfile.Read(text)
		if bad := (*taskfile.Error)(nil); errors.As(err, &bad) {
			return nil, fmt.Errorf("%s:%d: %w", path, bad.Line, bad.Err)
		}
		list = append(list, record{t.Header, 1})
		for k, row := range t.Rows {
			list = append(list, record{row, t.Lines[k]})
		}
		return list, nil
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // spreadsheets begin so
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.Comma = -1, delimiter(text)
	for {
		row, err := r.Read()
		switch bad := (*csv.ParseError)(nil); {
		case err == io.EOF:
			return list, nil
		case errors.As(err, &bad):
			return nil, fmt.Errorf("%s:%d:%d: %w: wanted a CSV of id and label", path, bad.Line, bad.Column,
				bad.Err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		list = append(list, record{row, line})
	}
}

// delimiter is what a spreadsheet put between the first two columns.
func delimiter(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	for _, c := range ",;\t" {
		if bytes.ContainsRune(line, c) {
			return c
		}
	}
	return ','
}

// writeQuestions writes the open questions of the last round, for the tool of --to with what the
// model predicts.
func (q *questions) writeQuestions(out io.Writer) error {
	var tasks []taskfile.Task
	for _, asked := range q.asked() {
		t := taskfile.Task{ID: asked.ID, Text: asked.Shown}
		if predicted := q.session.Predicted; q.To != "csv" {
			if t.Row = asked.Example; len(predicted) > 0 {
				t.Suggested, t.Agent = q.session.Classes[predicted[asked.Example-1]], app.Agent
			}
		}
		tasks = append(tasks, t)
	}
	return app.WriteQuestions(out, q.To, q.shown, tasks)
}

func (q *questions) asked() []question {
	open := []question{}
	for _, last := range q.session.Rounds[max(0, len(q.session.Rounds)-1):] {
		for k, i := range last.Asked {
			if last.Answers[k] != active.Unknown {
				continue
			}
			asked := question{ID: q.ids[i], Example: i + 1}
			if q.shown != "" {
				asked.Shown = q.texts[i]
			}
			open = append(open, asked)
		}
	}
	return open
}

func (q *questions) writeAnswers(out io.Writer) error {
	rows := [][]string{{"id", "label", "round"}}
	for number, r := range q.session.Rounds {
		for k, i := range r.Asked {
			y, name := r.Answers[k], cannotTell
			if y >= 0 {
				name = q.session.Classes[y]
			}
			if y != active.Unknown {
				rows = append(rows, []string{q.ids[i], name, strconv.Itoa(number + 1)})
			}
		}
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// Report is what query --json prints.
type Report struct {
	Strategy  active.Strategy `json:"strategy"`
	Learner   string          `json:"learner"`
	Round     int             `json:"round"`
	Questions []question      `json:"questions"` // the one that is worth most first
	// examples with a label, those of the beginning included
	Labelled int `json:"labelled"`
	Left     int `json:"left"` // of the pool, not asked about yet
	// of this round's model with the one before; null if there is none
	Agreement *agreement     `json:"agreement"`
	Advice    string         `json:"advice"` // to stop; "" as long as there is none
	Device    *engine.Device `json:"device"` // null where nothing was computed
}

type question struct {
	ID      string `json:"id"`
	Example int    `json:"example"` // of the pool, counted from 1
	Shown   string `json:"shown,omitempty"`
}

// report prints the questions, and writes the files that were asked for.
func (q *questions) report(ctx context.Context) error {
	if err := q.writeFiles(); err != nil {
		return err
	}
	d, labels, err := q.all()
	if err != nil {
		return err
	}
	r := Report{Strategy: q.Ask.Strategy, Learner: q.Train.Learner.Definition().Name,
		Round: len(q.session.Rounds), Questions: q.asked(), Advice: q.advice()}
	var known []int
	for i, y := range labels {
		if y >= 0 {
			known = append(known, i)
		} else if y == active.Unknown {
			r.Left++
		}
	}
	r.Labelled, r.Left = len(known), r.Left-len(r.Questions)
	if r.Round > 0 {
		r.Agreement = q.session.Rounds[r.Round-1].Agreement
	}
	if q.Train.Engine != nil {
		device := q.Train.Engine.Device()
		r.Device = &device
	}
	if r.Agreement != nil {
		q.Notes.Say("model: of %d labels; %.2f %% of the pool are predicted otherwise than a round ago "+
			"(kappa %.3f)", r.Labelled, 100*r.Agreement.Changed, r.Agreement.Kappa)
	}
	if len(r.Questions) == 0 {
		q.Notes.Say("questions: none is left, each example of the pool has an answer")
	}
	if r.Advice != "" {
		q.Notes.Say("advice: %s", r.Advice)
	}
	if path := q.WriteLabelled; path != "" {
		if len(known) == 0 {
			return fmt.Errorf("%s: found no labelled example yet, wanted one to write", path)
		}
		some := dataset.Dataset{Examples: d.Pick(known), Classes: d.Classes, Features: d.Features,
			Encoding: d.Encoding, Found: dataset.Found{Format: q.rest.Format}}
		for _, i := range known {
			some.Y = append(some.Y, labels[i])
		}
		if err := app.WriteData(ctx, path, &some, app.CopyOptions(path, &some)); err != nil {
			return err
		}
		q.Notes.Say("labelled: %d examples written to %s", len(known), path)
	}
	if q.Out == "-" && !q.JSON {
		return q.writeQuestions(q.Common.Out)
	}
	if q.Out != "-" {
		if err := atomicfile.Write(q.Out, q.writeQuestions); err != nil {
			return err
		}
	}
	if q.JSON {
		return app.PrintJSON(q.Common.Out, r)
	}
	return nil
}
