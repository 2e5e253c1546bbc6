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
)

// cannotTell is the label of an example that the expert cannot tell the class of.
const cannotTell = "?"

// answered is an answer of the expert.
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
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // spreadsheets begin so
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.Comma = -1, delimiter(text)
	header, err := r.Read()
	id, label := slices.Index(header, "id"), slices.Index(header, "label")
	if err == nil && (id < 0 || label < 0) {
		return nil, fmt.Errorf("%s:1: found the columns %.80q, wanted a header with id and label, as in "+
			"the questions", path, header)
	}
	lines := map[string]int{} // of ids
	at := map[string]int32{}
	for err == nil {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		if len(row) != len(header) {
			return nil, fmt.Errorf("%s:%d: found %d fields, wanted %d as in the header", path, line,
				len(row), len(header))
		}
		name, class := strings.TrimSpace(row[id]), strings.TrimSpace(row[label])
		if class == "" {
			continue // no answer yet
		}
		a := answered{id: name, label: int32(slices.Index(classes, class)), line: line}
		if a.label < 0 && class == cannotTell {
			a.label = active.Aside
		} else if a.label < 0 {
			return nil, fmt.Errorf("%s:%d: found the label %.60q, wanted one of %.200q, or %s where the "+
				"expert cannot tell; a new class needs a session of its own, begun with "+
				"--classes", path, line, class, classes, cannotTell)
		}
		if fault := refuse(name); fault != "" {
			return nil, fmt.Errorf("%s:%d: found the id %q, wanted one of the questions: %s", path, line,
				name, fault)
		}
		if before, twice := lines[name]; twice {
			if at[name] != a.label {
				return nil, fmt.Errorf("%s:%d: found the id %q with the label %.60q, wanted that of line %d; "+
					"give one of them", path, line, name, class, before)
			}
			continue
		}
		lines[name], at[name] = line, a.label
		list = append(list, a)
	}
	var bad *csv.ParseError
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("%s:%d:%d: %w: wanted a CSV of id and label", path, bad.Line, bad.Column,
			bad.Err)
	case err != io.EOF:
		return nil, fmt.Errorf("%s: %w", path, err)
	case header == nil:
		return nil, fmt.Errorf("%s: found an empty file, wanted a CSV of id and label", path)
	}
	return list, nil
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

// writeQuestions writes the open questions of the last round, with an empty column for the label.
func (q *questions) writeQuestions(out io.Writer) error {
	w := csv.NewWriter(out)
	fields := []string{"id", "label"}
	if q.shown != "" {
		fields = []string{"id", q.shown, "label"}
	}
	if err := w.Write(fields); err != nil {
		return err
	}
	for _, i := range q.asked() {
		clear(fields)
		if fields[0] = q.ids[i]; q.shown != "" {
			fields[1] = q.texts[i]
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// asked returns the examples of the open questions.
func (q *questions) asked() (open []int) {
	if len(q.session.Rounds) == 0 {
		return nil
	}
	last := q.session.Rounds[len(q.session.Rounds)-1]
	for k, i := range last.Asked {
		if last.Answers[k] == active.Unknown {
			open = append(open, i)
		}
	}
	return open
}

// writeAnswers writes all answers of a session.
func writeAnswers(out io.Writer, s *active.Session, ids []string) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{"id", "label", "round"}); err != nil {
		return err
	}
	for number, r := range s.Rounds {
		for k, i := range r.Asked {
			name := cannotTell
			if y := r.Answers[k]; y == active.Unknown {
				continue
			} else if y >= 0 {
				name = s.Classes[y]
			}
			if err := w.Write([]string{ids[i], name, strconv.Itoa(number + 1)}); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

// Report is what query --json prints.
type Report struct {
	Strategy  active.Strategy `json:"strategy"`
	Learner   string          `json:"learner"`
	Round     int             `json:"round"`
	Questions []question      `json:"questions"` // the one that is worth most first
	// examples with a label, those of the beginning included
	Labelled int `json:"labelled"`
	Left     int `json:"left"` // of the pool, that nobody was asked about
	// of this round's model with the one before; null if there is none
	Agreement *active.Agreement `json:"agreement"`
	Advice    string            `json:"advice"` // to stop; "" as long as there is none
	Device    *engine.Device    `json:"device"` // null where nothing was computed
}

type question struct {
	ID      string `json:"id"`
	Example int    `json:"example"` // of the pool, counted from 1
	Shown   string `json:"shown,omitempty"`
}

// tell prints the questions, and writes the files that were asked for.
func (q *questions) tell(ctx context.Context) error {
	if q.Session != "" {
		if err := q.written(); err != nil {
			return err
		}
	}
	d, labels, err := q.all()
	if err != nil {
		return err
	}
	r := Report{Strategy: q.Ask.Strategy, Learner: q.Train.Learner.Definition().Name,
		Round: len(q.session.Rounds), Questions: []question{}, Advice: q.advice()}
	for _, i := range q.asked() {
		asked := question{ID: q.ids[i], Example: i + 1}
		if q.shown != "" {
			asked.Shown = q.texts[i]
		}
		r.Questions = append(r.Questions, asked)
	}
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
