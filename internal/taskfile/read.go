// Package taskfile reads and writes the JSON of annotation tools: tasks of Label Studio and records
// of Argilla, each with the labels that people gave an item, and the labels that a model suggests.
package taskfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Table is what people said in tasks, a line for each label. The columns are the fields of the
// items that are texts or numbers, the item's number in the tool, task (of Argilla: id), and worker
// and label.
type Table struct {
	Header []string
	Rows   [][]string
	Lines  []int    // of each row, that of its item
	Notes  []string // what of the tasks is left out
}

// Error is a fault of a line.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Is says whether text begins as JSON of items does.
func Is(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(text) > 0 && text[0] == '{' || len(text) > 1 && text[0] == '[' &&
		bytes.ContainsRune([]byte(" \t\r\n{]"), rune(text[1]))
}

// item is a task of Label Studio or a record of Argilla.
type item struct {
	ID json.RawMessage `json:"id"`

	Data        map[string]json.RawMessage `json:"data"`
	Annotations []annotation               `json:"annotations"`

	Fields    map[string]json.RawMessage `json:"fields"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	Responses map[string][]response      `json:"responses"`

	line int
}

// annotation is what somebody said of a task of Label Studio.
type annotation struct {
	By        json.RawMessage `json:"completed_by"`
	Cancelled bool            `json:"was_cancelled"`
	Result    []result        `json:"result"`
}

// result is a part of an annotation, or of a prediction.
type result struct {
	From  string `json:"from_name"`
	To    string `json:"to_name"`
	Type  string `json:"type"`
	Value choice `json:"value"`
}

type choice struct {
	Choices []string `json:"choices,omitempty"`
}

// response is what somebody said of a record of Argilla.
type response struct {
	Value json.RawMessage `json:"value"`
	By    json.RawMessage `json:"user_id"`
}

// said is a label that somebody gave.
type said struct {
	question, by string
	labels       []string
}

// Read returns the labels of JSON: an array of items, or one item to each line. Errors are *Error.
func Read(text []byte) (*Table, error) {
	items, err := decode(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if err != nil {
		return nil, err
	}
	r := &reader{left: map[string]int{}}
	for _, it := range items {
		if err := r.take(it); err != nil {
			return nil, &Error{it.line, err}
		}
	}
	return r.table()
}

// decode returns the items.
func decode(text []byte) (items []item, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	line, counted := 1, 0
	at := func(offset int) int {
		offset = min(offset, len(text))
		line += bytes.Count(text[counted:max(counted, offset)], []byte{'\n'})
		counted = max(counted, offset)
		return line
	}
	fault := func(err error) error {
		offset := int(d.InputOffset())
		if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
			offset = int(bad.Offset)
		}
		if bad := (*json.UnmarshalTypeError)(nil); errors.As(err, &bad) {
			err = fmt.Errorf("got %s in %s, want an export of Label Studio or Argilla", bad.Value, bad.Field)
		} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			offset, err = len(text), errors.New("got the end of the file inside an item (is it whole?)")
		}
		return &Error{at(offset), fmt.Errorf("JSON: %w", err)}
	}
	array := bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte{'['})
	if array {
		if _, err := d.Token(); err != nil {
			return nil, fault(err)
		}
	}
	for d.More() {
		begin := int(d.InputOffset())
		for begin < len(text) && strings.ContainsRune(", \t\r\n", rune(text[begin])) {
			begin++
		}
		it := item{line: at(begin)}
		if err := d.Decode(&it); err != nil {
			return nil, fault(err)
		}
		items = append(items, it)
	}
	if array {
		if _, err := d.Token(); err != nil {
			return nil, fault(err)
		}
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return nil, &Error{at(int(d.InputOffset())), fmt.Errorf("JSON: got %.20q behind its end", rest)}
	}
	return items, nil
}

// reader collects labels.
type reader struct {
	fields []map[string]string // of the item of each label
	said   []said
	lines  []int
	id     string         // the column of an item's number in the tool
	left   map[string]int // how often something is left out
}

// take takes the labels of an item.
func (r *reader) take(it item) error {
	id, number := "task", it.Data
	var all []said
	switch {
	case it.Data != nil:
		for _, a := range it.Annotations {
			said, err := r.ofTask(a)
			if err != nil {
				return err
			}
			all = append(all, said...)
		}
	case it.Fields != nil || it.Responses != nil:
		id, number = "id", it.Fields
		for _, question := range slices.Sorted(maps.Keys(it.Responses)) {
			for _, response := range it.Responses[question] {
				all = append(all, r.ofRecord(question, response)...)
			}
		}
	default:
		return errors.New("item: got neither data nor fields, want a task of Label Studio (exported as " +
			"JSON) or a record of Argilla")
	}
	if r.id != "" && r.id != id {
		return errors.New("items: got tasks of Label Studio and records of Argilla, want one kind")
	}
	r.id = id
	fields := map[string]string{}
	for _, of := range []map[string]json.RawMessage{number, it.Metadata, {id: it.ID}} {
		for name, raw := range of {
			if text, ok := scalar(raw); ok && !slices.Contains(own, strings.ToLower(name)) {
				fields[name] = text
			}
		}
	}
	for _, s := range all {
		r.fields, r.said, r.lines = append(r.fields, fields), append(r.said, s), append(r.lines, it.line)
	}
	return nil
}

// own are the columns of a table that no field of an item may be.
var own = []string{"worker", "annotator", "label"}

// ofTask returns what an annotation says.
func (r *reader) ofTask(a annotation) (all []said, err error) {
	if a.Cancelled {
		r.left["skipped annotations"]++
		return nil, nil
	}
	by, ok := scalar(a.By)
	if person := (struct {
		ID    json.RawMessage
		Email string
	}{}); !ok && json.Unmarshal(a.By, &person) == nil {
		if by = person.Email; by == "" {
			by, _ = scalar(person.ID)
		}
	}
	if by == "" {
		return nil, fmt.Errorf("annotation: got completed_by %.40q, want who gave it", a.By)
	}
	for _, part := range a.Result {
		if part.Type != "choices" {
			r.left["results of type "+strconv.Quote(part.Type)]++
			continue
		}
		all = append(all, said{part.From, by, part.Value.Choices})
	}
	return all, nil
}

// ofRecord returns what a response says.
func (r *reader) ofRecord(question string, of response) []said {
	by, _ := scalar(of.By)
	by = cmp.Or(by, "nobody")
	if text, ok := scalar(of.Value); ok {
		return []said{{question, by, []string{text}}}
	}
	var list []string
	if json.Unmarshal(of.Value, &list) != nil {
		r.left["responses that are no label"]++
		return nil
	}
	return []said{{question, by, list}}
}

// scalar returns the text of a text, a number or a truth.
func scalar(raw json.RawMessage) (text string, ok bool) {
	switch {
	case len(raw) == 0 || string(raw) == "null" || raw[0] == '{' || raw[0] == '[':
		return "", false
	case raw[0] == '"':
		return text, json.Unmarshal(raw, &text) == nil
	}
	return string(raw), true
}

// table makes the table: of one question, whose labels are single.
func (r *reader) table() (*Table, error) {
	t := &Table{}
	questions := map[string]bool{}
	for _, s := range r.said {
		questions[s.question] = true
	}
	asked := ""
	switch names := slices.Sorted(maps.Keys(questions)); {
	case len(names) == 1:
		asked = names[0]
	case questions["label"]:
		asked = "label"
	case len(names) > 1:
		return nil, &Error{1, fmt.Errorf("questions: got %q, want one, or one that is named label",
			names)}
	}
	columns := map[string]bool{}
	for _, fields := range r.fields {
		for name := range fields {
			columns[name] = true
		}
	}
	t.Header = append(slices.Sorted(maps.Keys(columns)), "worker", "label")
	for k, s := range r.said {
		switch {
		case s.question != asked:
			r.left["answers to the question "+strconv.Quote(s.question)]++
			continue
		case len(s.labels) != 1:
			r.left[fmt.Sprintf("answers of %d labels", len(s.labels))]++
			continue
		}
		row := make([]string, 0, len(t.Header))
		for _, name := range t.Header[:len(t.Header)-2] {
			row = append(row, r.fields[k][name])
		}
		t.Rows, t.Lines = append(t.Rows, append(row, s.by, s.labels[0])), append(t.Lines, r.lines[k])
	}
	for _, what := range slices.Sorted(maps.Keys(r.left)) {
		t.Notes = append(t.Notes, fmt.Sprintf("left out: %d %s", r.left[what], what))
	}
	return t, nil
}
