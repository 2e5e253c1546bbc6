package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadTexts(t *testing.T) {
	for _, c := range []struct{ name, text, column, want string }{
		{"a.csv", "id,x,what\n7,1,\"a, b\"\n8,2, c \n", "what", "a, b|c"},
		{"a.csv", "id,x,what\n7,1,a\n8,2,c\n", "1", "7|8"},
		{"a.csv", "7,1,a\n8,2,c\n", "last", "a|c"},
		{"a.tsv", "id\twhat\n7\t\"two\nlines\"\n8\tc\n", "what", "two\nlines|c"},
	} {
		path := writeText(t, c.name, c.text)
		got, err := ReadTexts(t.Context(), path, c.column, 2, Options{})
		if err != nil || !slices.Equal(got, strings.Split(c.want, "|")) {
			t.Errorf("%q, column %q: found %q, %v", c.text, c.column, got, err)
		}
	}
	for _, c := range []struct{ name, text, column, want string }{
		{"a.csv", "id,what\n7,a\n", "what", "a.csv 1 texts 2 examples"},
		{"a.csv", "id,what\n7,a\n8,b\n", "waht", `a.csv:1 "id" "what" "waht"`},
		{"a.csv", "id,what\n7,a\n8,b\n", "3", `a.csv:1 2 columns "3"`},
		{"a.csv", "id,what\n7,a\n8\n", "what", "a.csv:3:2 1 fields 2 line 1"},
		{"a.csv", "id,what\n7,\"a\n8\n", "what", "a.csv:2:3"},
		{"a.parquet", "PAR1xxxx", "what", "a.parquet numbers"},
	} {
		path := writeText(t, c.name, c.text)
		if _, err := ReadTexts(t.Context(), path, c.column, 2, Options{}); !facts.Told(err, c.want) {
			t.Errorf("%q, column %q: found the error %v, wanted one with %q", c.text, c.column, err, c.want)
		}
	}
	if _, err := ReadTexts(t.Context(), "-", "", 2, Options{}); err == nil {
		t.Error("standard input is no error")
	}
}

// A malformed row that examples pass over has no text, so that the others keep their rows.
func TestReadTextsSkips(t *testing.T) {
	path := writeText(t, "a.csv", "id,what\n7,a\n8\n9,c\n")
	got, err := ReadTexts(t.Context(), path, "what", 3, Options{SkipBad: true})
	if err != nil || !slices.Equal(got, []string{"a", "", "c"}) {
		t.Errorf("found %q, %v", got, err)
	}
	if _, err = ReadTexts(t.Context(), path, "what", 3, lenientOptions()); !facts.Told(err,
		"a.csv:3:2 1 fields 2 line 1 skip-bad") {
		t.Errorf("a malformed row that is not skipped: %v", err)
	}
}

// Texts are read by the same rules as the examples: quotes within words, empty fields at the end.
func TestReadTextsOfLenientTables(t *testing.T) {
	path := writeText(t, "a.csv", "id,what,kind\n7,5\" pipe,a,\n8,c,b,,\n")
	got, err := ReadTexts(t.Context(), path, "what", 2, lenientOptions())
	if err != nil || !slices.Equal(got, []string{`5" pipe`, "c"}) {
		t.Errorf("found %q, %v", got, err)
	}
}

func lenientOptions() Options {
	return Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}}
}

// Fields lie as Options.Separator says: here another one would be found.
func TestReadTextsBySeparator(t *testing.T) {
	path := writeText(t, "a.csv", "id,no|what, it is\n7,1|a, b\n8,2|c, d\n")
	o := Options{Table: Table{Separator: "|"}}
	got, err := ReadTexts(t.Context(), path, "what, it is", 2, o)
	if err != nil || !slices.Equal(got, []string{"a, b", "c, d"}) {
		t.Errorf("found %q, %v", got, err)
	}
	o.Separator = "||"
	if _, err := ReadTexts(t.Context(), path, "1", 2, o); err == nil {
		t.Error("a separator of two characters is no error")
	}
}
