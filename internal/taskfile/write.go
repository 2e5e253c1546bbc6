package taskfile

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Tool is an annotation tool.
type Tool string

// The tools.
const (
	LabelStudio Tool = "label-studio"
	Argilla     Tool = "argilla"
)

// Task is an item to have labelled.
type Task struct {
	Row   int    // from 1; 0 for none
	ID    string // "" for none
	Text  string // to show; "" for none
	Given string // the label that it has; "" for none
	// Suggested is the likeliest label by the model Agent, and Score its probability: what has the
	// lowest comes first in tools that order by it. "" and 0 for none.
	Suggested, Agent string
	Score            float64
}

// Question is the name of the question in tasks that Write writes.
const Question = "label"

// Write writes tasks, the first one most urgent, an item to each line.
func Write(out io.Writer, tool Tool, tasks []Task) error {
	w := bufio.NewWriter(out)
	w.WriteString("[")
	for k, t := range tasks {
		value := any(t.labelStudio(k + 1))
		if tool == Argilla {
			value = t.argilla(k + 1)
		}
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // a class named <=50K should look like that
		if err := e.Encode(value); err != nil {
			return err
		}
		if k > 0 {
			w.WriteString(",")
		}
		w.WriteString("\n" + strings.TrimSpace(text.String()))
	}
	w.WriteString("\n]\n")
	return w.Flush()
}

// about is what names and shows an item.
type about struct {
	Row      int    `json:"row,omitempty"`
	ID       string `json:"id,omitempty"`
	Text     string `json:"text,omitempty"`
	Given    string `json:"given_label,omitempty"`
	Priority int    `json:"priority"` // 1 for the most urgent
}

func (t Task) about(priority int) about {
	return about{t.Row, t.ID, cmp.Or(t.Text, "row "+strconv.Itoa(t.Row)), t.Given, priority}
}

func (t Task) labelStudio(priority int) any {
	type prediction struct {
		Model  string   `json:"model_version"`
		Score  float64  `json:"score,omitempty"`
		Result []result `json:"result"`
	}
	task := struct {
		Data        about        `json:"data"`
		Predictions []prediction `json:"predictions,omitempty"`
	}{Data: t.about(priority)}
	if t.Suggested != "" {
		task.Predictions = []prediction{{t.Agent, t.Score,
			[]result{{Question, "text", "choices", choice{[]string{t.Suggested}}}}}}
	}
	return task
}

func (t Task) argilla(priority int) any {
	type suggestion struct {
		Value string  `json:"value"`
		Score float64 `json:"score,omitempty"`
		Agent string  `json:"agent"`
	}
	about := t.about(priority)
	text := about.Text
	about.ID, about.Text = "", ""
	record := struct {
		ID          string                `json:"id"`
		Fields      map[string]string     `json:"fields"`
		Metadata    any                   `json:"metadata"`
		Suggestions map[string]suggestion `json:"suggestions"`
		Responses   struct{}              `json:"responses"`
	}{ID: t.ID, Fields: map[string]string{"text": text}, Metadata: about,
		Suggestions: map[string]suggestion{}}
	record.ID = cmp.Or(record.ID, strconv.Itoa(t.Row))
	if t.Suggested != "" {
		record.Suggestions[Question] = suggestion{t.Suggested, t.Score, t.Agent}
	}
	return record
}
