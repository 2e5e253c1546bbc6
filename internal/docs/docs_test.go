package docs

import (
	"reflect"
	"strings"
	"testing"
)

const page = "# A\n\nSay `uma-gpu\ntrain`, and:\n\n    make a\n    make b \\\n      c\n\ntext\n\n" +
	"```console\n$ one --x \\\n> y\n1\n\n2\n$ two\n```\n\n```\n11 drawn\n```\n\n```sh\nthree\n```\n"

// What pages show as commands is found with its line and its output, and nothing else is.
func TestCommands(t *testing.T) {
	p := NewPage("a.md", []byte(page))
	got, err := p.Commands()
	if err != nil {
		t.Fatal(err)
	}
	want := []Command{
		{6, "make a", nil}, {7, "make b c", nil}, {13, "one --x y", []string{"1", "", "2"}}, {18, "two", nil},
		{26, "three", nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found  %v\nwanted %v", got, want)
	}
	if spans := p.Spans(); !reflect.DeepEqual(spans, []Span{{3, "uma-gpu train"}}) {
		t.Errorf("spans %v", spans)
	}
	_, err = NewPage("b.md", []byte("```console\n1\n```\n")).Commands()
	if err == nil || !strings.Contains(err.Error(), `b.md:2: found "1"`) {
		t.Errorf("an output without a command: %v", err)
	}
}

func TestCalls(t *testing.T) {
	got := Calls(`zcat a*.gz 2>&1 | uma-gpu train --try "a {b|c}" --x 'y > z' >out.txt # as said`)
	want := [][]string{{"zcat", "a*.gz"}, {"uma-gpu", "train", "--try", "a {b|c}", "--x", "y > z"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found  %q\nwanted %q", got, want)
	}
}

func TestMatches(t *testing.T) {
	output := "steps  34\nseconds 0.3\na\nb\nend\n"
	for shown, want := range map[string]bool{
		"steps  34|seconds …|…|end": true, "…": true, "…|end": true, "steps  34": false, "steps  35|…": false,
		"…|a|end": false, "steps  34|…|end|…": true,
	} {
		if got := Matches(strings.Split(shown, "|"), output); got != want {
			t.Errorf("%s: %v", shown, got)
		}
	}
}
