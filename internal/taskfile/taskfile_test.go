package taskfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// labelStudio has two tasks that three people have annotated.
const labelStudio = `[
  {"id": 7, "data": {"row": 2, "text": "b, c", "label": "own", "meta": {"x": 1}},
   "annotations": [
    {"id": 1, "completed_by": 4, "was_cancelled": false, "result": [
      {"type": "choices", "from_name": "kind", "to_name": "text", "value": {"choices": ["pos"]}},
      {"type": "textarea", "from_name": "why", "to_name": "text", "value": {"text": ["so"]}}]},
    {"id": 2, "completed_by": {"id": 5, "email": "e@x.org"}, "result": [
      {"type": "choices", "from_name": "kind", "value": {"choices": ["neg"]}}]},
    {"id": 3, "completed_by": 6, "was_cancelled": true, "result": []}],
   "predictions": [{"model_version": "m", "score": 0.5, "result": []}]},
  {"id": 8, "data": {"row": 1, "text": "d"},
   "annotations": [{"completed_by": 4, "result": [
      {"type": "choices", "from_name": "kind", "value": {"choices": ["pos", "neg"]}}]}]}
]
`

const argilla = `[{"id": "u1", "fields": {"text": "t"}, "metadata": {"row": 3}, "suggestions": {},
 "responses": {"label": [{"value": "pos", "user_id": "a"}, {"value": "neg", "user_id": "b"}],
  "why": [{"value": "so", "user_id": "a"}]}, "vectors": {}},
 {"id": "u2", "fields": {"text": "v"}, "responses": {"label": [{"value": ["pos"], "user_id": "a"}]}}]`

func TestReadTasks(t *testing.T) {
	for text, want := range map[string]Table{
		labelStudio: {[]string{"row", "task", "text", "worker", "label"}, [][]string{
			{"2", "7", "b, c", "4", "pos"}, {"2", "7", "b, c", "e@x.org", "neg"}}, []int{2, 2}, []string{
			"left out: 1 answers of 2 labels", `left out: 1 results of type "textarea"`,
			"left out: 1 skipped annotations"}},
		argilla: {[]string{"id", "row", "text", "worker", "label"}, [][]string{
			{"u1", "3", "t", "a", "pos"}, {"u1", "3", "t", "b", "neg"}, {"u2", "", "v", "a", "pos"}}, []int{1, 1, 4},
			[]string{`left out: 1 answers to the question "why"`}},
	} {
		got, err := Read([]byte(text))
		if err != nil || !reflect.DeepEqual(*got, want) || !Is([]byte("\ufeff "+text)) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	lines := `{"id":"u1","fields":{},"responses":{"label":[{"value":1,"user_id":"a"}]}}` + "\n"
	if got, err := Read([]byte(lines + "\n" + lines)); err != nil || !reflect.DeepEqual(got.Lines,
		[]int{1, 3}) || got.Rows[1][2] != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever is wrong with JSON is an error of its line.
func TestReadTasksErrors(t *testing.T) {
	for _, c := range []struct {
		text, want string
		line       int
	}{
		{"[\n{\"id\":1,\"data\":{\"x\":1},", "whole", 2},
		{"[\n{\"id\":1,\"data\":{}},\n{\"id\":2 \"data\":{}}]", "JSON", 3},
		{"[{\"id\":1,\"data\":{}}] more", "behind", 1},
		{"[{\"id\":1,\"data\":{}}", "whole", 1},
		{"[\n\n{\"id\":1,\"text\":\"t\",\"label\":\"a\"}]", "neither data nor fields", 3},
		{"[{\"data\":{}},\n{\"fields\":{}}]", "one kind", 2},
		{"[{\"data\":{},\n\"annotations\":[{\"result\":[]}]}]", "completed_by", 1},
		{"[{\"data\":{},\n\"annotations\":7}]", "export of Label Studio", 2},
		{"[{\"fields\":{},\"responses\":{\"a\":[{\"value\":\"x\"}],\"b\":[{\"value\":\"x\"}]}}]", `"a" "b"`, 1},
	} {
		_, err := Read([]byte(c.text))
		bad := (*Error)(nil)
		if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want line %d and %q", c.text, err, c.line, c.want)
		}
	}
	for n := range len(labelStudio) - 3 {
		if _, err := Read([]byte(labelStudio[:n])); err == nil && n > 0 {
			t.Fatalf("the first %d bytes: got no error", n)
		}
	}
}

// What is written comes back once it is answered.
func TestWrittenTasksComeBack(t *testing.T) {
	tasks := []Task{{Row: 4, ID: "u4", Text: "<b>", Given: "x", Suggested: "y", Agent: "m",
		Score: .25}, {Row: 2}}
	for tool, answer := range map[Tool][2]string{
		LabelStudio: {`"predictions":[{"model_version":"m","score":0.25`,
			`"annotations":[{"completed_by":1,"result":[{"from_name":"label","type":"choices","value":` +
				`{"choices":["y"]}}]}],"predictions":[{"model_version":"m","score":0.25`},
		Argilla: {`"responses":{}`, `"responses":{"label":[{"value":"y","user_id":"a"}]}`},
	} {
		var b strings.Builder
		if err := Write(&b, tool, tasks); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.Count(text, "\n") != 4 || !strings.Contains(text, `"<b>"`) ||
			!strings.Contains(text, `"score":0.25`) || !strings.Contains(text, answer[0]) {
			t.Errorf("%s: got %s", tool, text)
		}
		table, err := Read([]byte(strings.Replace(text, answer[0], answer[1], 1)))
		if err != nil || len(table.Rows) != 1 {
			t.Fatalf("%s: got %+v, %v", tool, table, err)
		}
		got := map[string]string{}
		for k, name := range table.Header {
			got[name] = table.Rows[0][k]
		}
		if got["id"] != "u4" || got["row"] != "4" || got["given_label"] != "x" || got["label"] != "y" {
			t.Errorf("%s: got %v", tool, got)
		}
	}
}
