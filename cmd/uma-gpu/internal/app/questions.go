package app

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/internal/taskfile"
)

// Agent names this program in tasks.
const Agent = "uma-gpu " + Version

// QuestionFormatFlag returns the flag --to of questions to people.
func QuestionFormatFlag(into *string) cli.Flag {
	tools := []string{"csv", string(taskfile.LabelStudio), string(taskfile.Argilla)}
	return Choice(into, "to", "csv", "`FORMAT` of the questions: "+OrList(tools), tools...)
}

// WriteQuestions writes questions as a CSV with an empty column label, or as tasks of a tool. The
// column of what is shown is named shown, "" for none. Columns without a value are left out.
func WriteQuestions(out io.Writer, to, shown string, tasks []taskfile.Task) error {
	if to != "csv" {
		return taskfile.Write(out, taskfile.Tool(to), tasks)
	}
	if shown == "id" || shown == "row" || shown == taskfile.Question {
		shown += "_shown"
	}
	columns := []struct {
		name string
		of   func(taskfile.Task) string
	}{
		{"id", func(t taskfile.Task) string { return t.ID }},
		{"row", func(t taskfile.Task) string { return whole(t.Row) }},
		{shown, func(t taskfile.Task) string { return t.Text }},
		{"given_label", func(t taskfile.Task) string { return t.Given }},
		{"suggested_label", func(t taskfile.Task) string { return t.Suggested }},
		{"suggested_probability", func(t taskfile.Task) string { return number(t.Score) }},
		{taskfile.Question, func(taskfile.Task) string { return "" }},
	}
	rows := make([][]string, 1+len(tasks))
	for k, c := range columns {
		filled := slices.ContainsFunc(tasks, func(t taskfile.Task) bool { return c.of(t) != "" })
		always := k == 0 && len(tasks) == 0 || c.name == taskfile.Question || c.name == shown
		if c.name == "" || !filled && !always {
			continue
		}
		rows[0] = append(rows[0], c.name)
		for i, t := range tasks {
			rows[1+i] = append(rows[1+i], c.of(t))
		}
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// whole returns a whole number for people, "" for 0.
func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// number returns a number for people, "" for 0.
func number(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
