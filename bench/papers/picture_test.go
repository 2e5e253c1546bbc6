package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	figureRow = `{"experiment":"fig1b","data":"toy","learner":"uma","level":0,"x":1,"measure":"frobenius_norm",` +
		`"mean":2.5,"standard_error":0.1,"runs":[2.4,2.6],"paper":2.6}` + "\n"
	tableRow = `{"experiment":"table1","data":"digits","learner":"f_y","level":1,"x":1,"measure":"error_rate",` +
		`"mean":0.1,"standard_error":0.01,"runs":[0.09,0.11],"paper":null}` + "\n"
)

// TestPlot: rows of figures, of tables and of several measures become pictures, the same each
// time.
func TestPlot(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	second := strings.NewReplacer(`"x":1`, `"x":0.5`, "2.5", "1.5").Replace(figureRow)
	accuracy := strings.NewReplacer("fig1b", "copa", "frobenius_norm", "accuracy", `"uma"`,
		`"copa"`).Replace(figureRow)
	norm := strings.Replace(accuracy, "accuracy", "operator_norm", 1)
	for name, rows := range map[string]string{
		"figure": figureRow + second, "table": tableRow, "measures": accuracy + norm,
	} {
		if err := os.WriteFile(at(name), []byte(rows), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{".svg", "2.svg", ".png"} {
			succeed(t, "plot", "--rows", at(name), "--picture", at(name+out))
		}
		text := read(t, at(name+".svg"))
		if !bytes.Equal(text, read(t, at(name+"2.svg"))) {
			t.Errorf("%s: the second picture differs", name)
		}
		for _, want := range map[string][]string{
			"figure": {"Louche", "uma"}, "table": {"Louche", "f_y"},
			"measures": {"Ralaivola", "copa", "accuracy", "operator_norm"},
		}[name] {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: the picture lacks %q", name, want)
			}
		}
		image, err := png.Decode(bytes.NewReader(read(t, at(name+".png"))))
		if err != nil || image.Bounds().Dx() < 400 {
			t.Errorf("%s: found a picture of %v (%v), wanted one", name, image.Bounds(), err)
		}
	}
}

func TestPlotRefuses(t *testing.T) {
	dir := t.TempDir()
	svg := filepath.Join(dir, "p.svg")
	fail(t, 2, "-rows missing", "plot", "--picture", svg)
	fail(t, 2, "svg png", "plot", "--rows", "r", "--picture", filepath.Join(dir, "p.gif"))
	for text, said := range map[string]string{
		"":                   "row",
		figureRow + "no\n":   `rows:2 "no"`,
		figureRow + tableRow: "rows:2 table1 fig1b",
		strings.Replace(tableRow, "table1", "t9", 1):  `"t9"`,
		strings.Replace(figureRow, "mean", "main", 1): "rows:1",
	} {
		rows := filepath.Join(dir, "rows")
		if err := os.WriteFile(rows, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		fail(t, 1, said, "plot", "--rows", rows, "--picture", svg)
	}
}
