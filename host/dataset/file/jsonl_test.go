package file

import (
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func TestReadJSONL(t *testing.T) {
	d, err := readText("f.jsonl", "[1, -2.5, \"cat\"]\n\n[0,1e-40,7]\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, d, dataset.Dataset{Examples: examples(2, 1, -2.5, 0, 0), Y: []int32{1, 0},
		Classes: []string{"7", "cat"}, Found: dataset.Found{Subnormals: 1}})
	for text, want := range map[string]string{
		"[1,2]\n[1,2,3]\n": "f.jsonl:2: found 2 features, wanted 1 as in the lines before",
		"[1,2]\n[\"1\",2]": "f.jsonl:2: feature 1: ", "[1,null]\n": "f.jsonl:1: found the label",
		"[1]\n": "f.jsonl:1: found 1 examples without any feature",
		"{}\n":  "f.jsonl:1: found no JSON array", "": "f.jsonl: found no example",
	} {
		if d, err := readText("f.jsonl", text, Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %s", text, d, err, want)
		}
	}
}
