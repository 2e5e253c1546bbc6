package info_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	codes "unicode/utf16"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// messyTable returns a table size,weight,colour,kind of n examples, each row changed by change.
func messyTable(n int, separator string, change func(i int, row []string) []string) string {
	rng := rand.New(rand.NewPCG(3, 4))
	lines := []string{strings.Join([]string{"size", "weight", "colour", "kind"}, separator)}
	for i := range n {
		size, weight := 3+rng.NormFloat64(), 1+rng.NormFloat64()/3
		row := []string{fmt.Sprintf("%.2f", size), fmt.Sprintf("%.2f", weight),
			[]string{"red", "green", "blue"}[rng.IntN(3)], []string{"big", "small"}[i%2]}
		if change != nil {
			row = change(i, row)
		}
		lines = append(lines, strings.Join(row, separator))
	}
	return strings.Join(lines, "\n") + "\n"
}

// put returns a change of column j of each n-th row.
func put(j, n int, value func(i int, old string) string) func(int, []string) []string {
	return func(i int, row []string) []string {
		if i%n == 0 {
			row[j] = value(i, row[j])
		}
		return row
	}
}

// everywhere is a value for put.
func everywhere(text string) func(int, string) string {
	return func(int, string) string { return text }
}

func commas(_ int, old string) string { return strings.ReplaceAll(old, ".", ",") }

// TestMessyTables: info, train, predict and clean read tables as people have them at the first try,
// and tell what they made of them.
func TestMessyTables(t *testing.T) {
	const header = "size,weight,colour,kind\n"
	plain := messyTable(60, ",", nil)
	european := func(separator string) string {
		return messyTable(60, separator, func(i int, row []string) []string {
			return put(1, 1, commas)(i, put(0, 1, commas)(i, row))
		})
	}
	utf16Text := func(text string) string {
		var b strings.Builder
		for _, c := range codes.Encode([]rune("\ufeff" + text)) {
			b.WriteByte(byte(c))
			b.WriteByte(byte(c >> 8))
		}
		return b.String()
	}
	// Each takes a second, and reads as train does.
	cleaned := map[string]bool{"UTF-16": true, "title": true, "dates": true, "sentences": true,
		"holes": true, "quotes inside": true, "dates alone": true, "rare flags": true}
	unlabelled := map[string]string{ // what clean says
		"no label":  "2 60 rows no label 1 31",
		"sum below": "1 61 rows no label 61",
	}
	for name, c := range map[string]struct {
		text string
		told string // facts of what train says
	}{
		"semicolons":     {messyTable(60, ";", nil), "60 examples 5 features"},
		"tabs":           {messyTable(60, "\t", nil), "60 examples 5 features"},
		"bars":           {messyTable(60, "|", nil), "60 examples 5 features"},
		"blanks":         {messyTable(60, " ", nil), "60 examples 5 features"},
		"decimal commas": {european(";"), `60 examples 5 features column 1 size numbers read`},
		"no header, decimal commas": {strings.SplitAfterN(european(";"), "\n", 2)[1],
			"60 examples 5 features column 1"},
		"thousands": {messyTable(60, ",", put(0, 1, func(i int, _ string) string {
			return fmt.Sprintf(`"%d,%03d"`, i+1, i)
		})), `60 examples 5 features column 1 size "1,000" 1000`},
		"apostrophes": {messyTable(60, ",", put(0, 1, func(i int, _ string) string {
			return fmt.Sprintf("%d'%03d", i+1, i)
		})), `column 1 size "1'000" 1000`},
		"money": {messyTable(60, ",", put(0, 1, func(_ int, old string) string { return "$" + old })),
			"60 examples 5 features column 1 size"},
		"percent": {messyTable(60, ",", put(0, 1, func(_ int, old string) string { return old + "%" })),
			"60 examples 5 features column 1 size"},
		"UTF-16":           {utf16Text(plain), "60 examples 5 features"},
		"byte order mark":  {"\ufeff" + plain, "60 examples 5 features"},
		"Windows-1252":     {strings.ReplaceAll(plain, "red", "r\xf6d"), "60 examples Windows-1252"},
		"carriage returns": {strings.ReplaceAll(plain, "\n", "\r\n"), "60 examples 5 features"},
		"blank lines":      {strings.ReplaceAll(plain, "\n", "\n\n"), "60 examples 5 features"},
		"title":            {"Report of 2024\n\n" + plain, "60 examples 1 lines above line 3"},
		"title of a sheet": {"Report,,,\n,,,\n" + plain, "60 examples 2 lines above line 3"},
		"row names of R": {messyTable(60, ",", func(i int, row []string) []string {
			return append([]string{fmt.Sprint(i + 1)}, row...)
		}), "60 examples 5 features column 1 no name left out"},
		"holes": {messyTable(60, ",", put(0, 9, everywhere(""))),
			"60 examples 6 features missing 7 column 1 size"},
		"words for holes":  {messyTable(60, ",", put(0, 9, everywhere("NA"))), "missing 7 column 1 size"},
		"blanks for holes": {messyTable(60, ",", put(0, 9, everywhere(" "))), "missing 7 column 1 size"},
		"dashes": {messyTable(60, ",", put(0, 30, everywhere("-"))),
			`column 1 size values no numbers 2 "-" line 2`},
		"holes in words": {messyTable(60, ",", put(2, 9, everywhere(""))), "missing 7 column 3 colour"},
		"empty column":   {messyTable(60, ",", put(2, 1, everywhere(""))), "column 3 colour set aside"},
		"dates": {messyTable(60, ",", put(0, 1, func(i int, _ string) string {
			return fmt.Sprintf("%02d.%02d.2024", 1+i%28, 1+i%12)
		})), `column 1 size set aside dates "01.01.2024"`},
		"dates alone": {messyTable(60, ",", func(i int, row []string) []string {
			for j := range 3 {
				row[j] = fmt.Sprintf("20%02d-%02d-%02d", i*(j+7)%40, 1+i%12, 1+i%28)
			}
			return row
		}), "60 examples 3 features column 1 size dates ignore-columns=size"},
		"rare flags": {messyTable(60, ",", func(i int, row []string) []string {
			for j := range 3 {
				row[j] = []string{"1", "0"}[min(1, (i+j)%11)]
			}
			return row
		}), "60 examples 3 features sparse"},
		"ids": {messyTable(60, ",", put(0, 1, func(i int, _ string) string {
			return fmt.Sprintf("ID-%06d", 7919*i)
		})), "column 1 size set aside different 60"},
		"row numbers": {strings.Replace(messyTable(60, ",", put(0, 1, func(i int, _ string) string {
			return fmt.Sprint(i + 1)
		})), "size", "no", 1), "column 1 no numbers left"},
		"sentences": {messyTable(60, ",", put(2, 1, func(i int, old string) string {
			return fmt.Sprintf(`"the %s thing, number %d of many"`, old, i)
		})), "column 3 colour sentences text"},
		"few letters among numbers": {messyTable(60, ",", put(1, 1, func(i int, _ string) string {
			return []string{"2", "3", "4", "5more"}[i%4]
		})), "2 categories"},
		"quotes inside": {messyTable(60, ",", put(2, 3, everywhere(`5" pipe`))),
			"60 examples 6 features"},
		"trailing commas": {header + strings.ReplaceAll(strings.TrimPrefix(plain, header), "\n", ",\n"),
			"60 examples 5 features"},
		"no label":    {messyTable(60, ",", put(3, 30, everywhere(""))), "2 of 60 none left out 1 31"},
		"sum below":   {plain + "Total,60,,\n", "1 of 61 none left out 61"},
		"equal names": {strings.Replace(plain, "weight", "size", 1), `column 2 "size.1" several "size"`},
		"names": {messyTable(300, ",", put(2, 1, func(i int, _ string) string {
			return fmt.Sprint("c", i%100)
		})), "column 3 colour 100 300"},
		"many levels": {messyTable(9000, ",", put(2, 1, func(i int, _ string) string {
			return fmt.Sprint("c", i%1500)
		})), "column 3 colour 500 1500 levels"},
		"late word": {messyTable(70000, ",", put(0, 69999, func(i int, old string) string {
			if i == 0 {
				return old
			}
			return "unknown"
		})), `column 1 size "unknown" line 70001`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data, m := clitest.Write(t, dir, "d.csv", c.text), filepath.Join(dir, "m.npz")
			stdout, stderr := clitest.Succeed(t, "info", "--data", data)
			if strings.Contains(stdout, "\nproblem") {
				t.Errorf("info lists problems:\n%s", stdout)
			}
			for line := range strings.Lines(stdout) {
				if _, note, found := strings.Cut(line, "note   "); found && strings.Contains(stderr,
					strings.TrimSpace(note)) {
					t.Errorf("info tells twice: %s", note)
				}
			}
			_, stderr = clitest.Succeed(t, "train", "--data", data, "--model", m, "--max-steps", "3")
			if !facts.Told(stderr, c.told) {
				t.Errorf("train does not tell %s:\n%s", c.told, stderr)
			}
			if !strings.HasPrefix(name, "no header") {
				clitest.Succeed(t, "predict", "--model", m, "--data", data, "--no-labels")
			}
			told := cmp.Or(unlabelled[name], c.told)
			if unlabelled[name] == "" && !cleaned[name] {
				return
			}
			_, stderr = clitest.Succeed(t, "clean", data)
			if !facts.Told(stderr, told) {
				t.Errorf("clean does not tell %s:\n%s", told, stderr)
			}
		})
	}
}

// TestRaggedTable: commands refuse a malformed row of a table, wherever it is, and name --skip-bad,
// which skips it. info describes the table without it.
func TestRaggedTable(t *testing.T) {
	for name, c := range map[string]struct {
		row    string
		fields int
		column int // where fields are too few or too many
	}{
		"fewer fields": {"1.00,2.00,red", 3, 14},
		"more fields":  {"1.00,2.00,red,big,x", 5, 19},
	} {
		for _, at := range []int{0, 29, 59} {
			dir := t.TempDir()
			m := filepath.Join(dir, "m.npz")
			data := clitest.Write(t, dir, "d.csv", messyTable(60, ",",
				func(i int, row []string) []string {
					if i == at {
						return strings.Split(c.row, ",")
					}
					return row
				}))
			told := fmt.Sprintf("%s:%d:%d %d fields 4 skip-bad=1", data, at+2, c.column, c.fields)
			train := []string{"train", "--data", data, "--model", m, "--max-steps", "3"}
			clitest.Fail(t, 1, told, train...)
			clitest.Fail(t, 1, told, "clean", data)
			if stdout, _ := clitest.Succeed(t, "info", "--data", data); !facts.Told(stdout,
				"problem "+told) || !facts.Told(stdout, fmt.Sprintf("59 1 bad %d", at+2)) {
				t.Errorf("%s in row %d: info prints\n%s", name, at+1, stdout)
			}
			_, stderr := clitest.Succeed(t, append(train, "--skip-bad", "1")...)
			if !facts.Told(stderr, fmt.Sprintf("1 bad %d", at+2)) {
				t.Errorf("%s in row %d: train says\n%s", name, at+1, stderr)
			}
		}
	}
}

// TestForgottenLabel: a last column of hundreds of classes that nobody named is an error at once,
// and info describes the table all the same.
func TestForgottenLabel(t *testing.T) {
	dir := t.TempDir()
	data := clitest.Write(t, dir, "d.csv", strings.Replace(messyTable(3000, ",",
		func(i int, row []string) []string { return append(row, fmt.Sprint(i*i%1651)) }), "kind",
		"kind,charges", 1))
	m := filepath.Join(dir, "m.npz")
	clitest.Fail(t, 1, "column 5 charges classes label-column", "train", "--data", data, "--model", m)
	stdout, _ := clitest.Succeed(t, "info", "--data", data)
	if !facts.Told(stdout, "problem charges classes label-column") {
		t.Errorf("info: %s", stdout)
	}
	clitest.Succeed(t, "train", "--data", data, "--label-column", "kind", "--model", m)
	// predict finds the features by name and does not take any of them for the label.
	rows := strings.Split(messyTable(9, ",", func(i int, row []string) []string {
		return append(row[:3], fmt.Sprint(i))
	}), "\n")
	rows[0] = "size,weight,colour,charges"
	bare := clitest.Write(t, dir, "bare.csv", strings.Join(rows, "\n"))
	got, _ := clitest.Succeed(t, "predict", "--model", m, "--data", bare)
	if lines := strings.Count(got, "\n"); lines != 9 {
		t.Errorf("predicted %d examples of 9: %s", lines, got)
	}
}
