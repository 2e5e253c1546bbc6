package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clitest"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

var programs = flag.Int("programs", 30, "how many programs TestRows draws")

// TestRows draws programs: a command, a table, rows that are odd in it (malformed, or without a
// label; the first, the last, any), and files about its rows. The command has the same results for
// the table with the odd rows, at the numbers that the rows have there, as for the table without.
func TestRows(t *testing.T) {
	given, _ := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 0, 64)
	seed := cmp.Or(*randomSeed, given, uint64(time.Now().UnixNano()))
	t.Logf("seed %d; again by go test ./cmd/uma-gpu -run '^%s$' -random-seed %[1]d", seed, t.Name())
	for name, value := range map[string]string{"rapid.seed": fmt.Sprint(seed),
		"rapid.checks": fmt.Sprint(shortly(*programs)), "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	dir := keptFolder(t)
	made := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Uint64().Draw(t, "use") // rapid draws small numbers more often
		use := rowUses[rand.New(rand.NewPCG(at, 0)).IntN(len(rowUses))]
		plain, odd := drawTables(t, dir, use)
		made[use.name]++
		want, got := use.run(plain), use.run(odd)
		if want != got {
			t.Fatalf("%s: found\n%s\nwanted, as without the odd rows,\n%s", use.name, got, want)
		}
	})
	t.Logf("uses and how often they were drawn: %v", made)
}

// rowUse is a use of numbers of rows. Its result is in the numbers of the table without odd rows.
type rowUse struct {
	name     string
	kinds    string // of odd rows: u for unlabelled, m for malformed, s for malformed beside the label
	unlabels bool   // most rows have no label
	run      func(*rowTable) string
}

// rowTable is a table, with or without odd rows.
type rowTable struct {
	t     *rapid.T
	dir   string
	seed  uint64
	lines []string // the rows of the input
	place []int    // of each, in the table without odd rows; -1 for an odd one
	kind  []int    // the class of each row of the table without odd rows
	bad   int      // malformed rows
	keyed string   // how files name rows: row, index, or "" by their order
}

var classNames = []string{"ash", "beech", "cedar"}

// drawTables draws a table, and the same with odd rows.
func drawTables(t *rapid.T, dir string, use rowUse) (plain, odd *rowTable) {
	n := rapid.IntRange(24, 40).Draw(t, "rows")
	seed := rapid.Uint64().Draw(t, "numbers")
	kind := rapid.SampledFrom([]byte(use.kinds)).Draw(t, "kind")
	at := map[int][]string{}
	words := rapid.Bool().Draw(t, "words")
	malformed := []string{"o,1,2,a\x01h", "o,1,2", "o,1,2,ash,more", `"o"x,1,2,ash`}
	bad := 0
	for range rapid.IntRange(1, 3).Draw(t, "odd rows") {
		place := rapid.SampledFrom([]int{0, n / 2, n, rapid.IntRange(0, n).Draw(t, "any")}).Draw(t,
			"place")
		line := fmt.Sprintf("u%d,1.5,%d.25,", place, len(at[place]))
		if words {
			line = fmt.Sprintf("u%d,1.5,red,", place)
		}
		if kind != 'u' {
			bad++
			line = rapid.SampledFrom(malformed[strings.Count(use.kinds, "s"):]).Draw(t, "malformed")
		}
		at[place] = append(at[place], line)
	}
	plain = &rowTable{t: t, dir: filepath.Join(dir, "plain"), seed: seed,
		keyed: rapid.SampledFrom([]string{"", "row", "index"}).Draw(t, "keyed")}
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		k := i % 3
		label := classNames[k]
		if i >= 9 && random.IntN(8) == 0 {
			label = classNames[random.IntN(3)]
		}
		if use.unlabels && i >= 9 {
			label = ""
		}
		plain.kind = append(plain.kind, k)
		plain.place = append(plain.place, i)
		wide := fmt.Sprintf("%.3f", 2*float64(k%2)+random.NormFloat64())
		if words {
			wide = []string{"red", "blue", "grey"}[(k+random.IntN(5)/4)%3]
		}
		plain.lines = append(plain.lines, fmt.Sprintf("r%d,%.3f,%s,%s", i,
			3*float64(k)+random.NormFloat64(), wide, label))
	}
	other := *plain
	odd = &other
	odd.dir, odd.bad, odd.lines, odd.place = filepath.Join(dir, "odd"), bad, nil, nil
	for i := range n + 1 {
		for _, line := range at[i] {
			odd.lines, odd.place = append(odd.lines, line), append(odd.place, -1)
		}
		if i < n {
			odd.lines, odd.place = append(odd.lines, plain.lines[i]), append(odd.place, i)
		}
	}
	for _, s := range []*rowTable{plain, odd} {
		if err := os.MkdirAll(s.dir, 0o777); err != nil {
			t.Fatal(err)
		}
		s.write("d.csv", "who,long,wide,kind\n"+strings.Join(s.lines, "\n")+"\n")
	}
	return plain, odd
}

func (s *rowTable) path(name string) string { return filepath.Join(s.dir, name) }

func (s *rowTable) write(name, text string) string {
	if err := os.WriteFile(s.path(name), []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
	return s.path(name)
}

func (s *rowTable) read(name string) string {
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// call runs a command on the table, which must succeed, and returns what it prints.
func (s *rowTable) call(args ...string) string {
	out, fault := s.try(args...)
	if fault != "" {
		s.t.Fatal(fault)
	}
	return out
}

// try runs a command on the table, and returns what it prints or what is wrong.
func (s *rowTable) try(args ...string) (out, fault string) {
	request := s.request()
	switch args[0] {
	case "split", "convert", "info":
		args = append(args, "--skip-bad", fmt.Sprint(s.bad))
	case "confusion":
		if args[1] == "estimate" {
			args = append(args, "--request", request)
		}
	default:
		args = append(args, "--request", request)
	}
	args = append(args, "--data", s.path("d.csv"))
	if args[0] != "query" && args[0] != "info" {
		args = append(args, "--label-column", "kind")
	}
	code, out, said := clitest.Exactly(append(args, "--id-column", "who")...)
	if code != app.ExitOK {
		return out, fmt.Sprintf("uma-gpu %s: exit code %d\n%s", strings.Join(args, " "), code, said)
	}
	return out, ""
}

// request writes a request that allows the malformed rows.
func (s *rowTable) request() string {
	return s.write("request.json", fmt.Sprintf(`{"input": {"skip_bad": %d}}`, s.bad))
}

// matrix returns the features of the rows. Odd rows have other features than in a file.
func (s *rowTable) matrix() umagpu.Data {
	m := &umagpu.Matrix{Rows: len(s.place), Columns: 2}
	for row, i := range s.place {
		x := []float64{1.5 + float64(row)/64, 0.25}
		if i >= 0 {
			random := rand.New(rand.NewPCG(s.seed, uint64(i)))
			x = []float64{3*float64(s.kind[i]) + random.NormFloat64(), random.NormFloat64()}
		}
		m.Float64 = append(m.Float64, x...)
	}
	return umagpu.Data{Matrix: m}
}

// labels returns the classes of the rows, none of odd ones.
func (s *rowTable) labels() *umagpu.Labels {
	l := &umagpu.Labels{Classes: classNames}
	for _, i := range s.place {
		k := -1
		if i >= 0 {
			if k = s.kind[i]; (uint64(i)+s.seed)%6 == 0 {
				k = (k + 1) % 3
			}
		}
		l.Codes = append(l.Codes, int32(k))
	}
	return l
}

// trained returns a model of the rows that are not odd.
func (s *rowTable) trained() string {
	plain := filepath.Join(filepath.Dir(s.dir), "plain", "d.csv")
	path := s.path("m.npz")
	code, _, said := clitest.Exactly("train", "--data", plain, "--label-column", "kind", "--id-column",
		"who", "--max-steps", "20", "--model", path, "--quiet")
	if code != app.ExitOK {
		s.t.Fatal(said)
	}
	return path
}

// scores returns what the model predicts for the rows that are not odd.
func (s *rowTable) scores(model string) string {
	plain := filepath.Join(filepath.Dir(s.dir), "plain", "d.csv")
	code, out, said := clitest.Exactly("predict", "--data", plain, "--label-column", "kind",
		"--id-column", "who", "--model", model, "--scores", "--quiet")
	if code != app.ExitOK {
		s.t.Fatal(said)
	}
	return out
}

// rows returns the lines of a table of all rows of the input, in the order of their numbers in
// column 0 unless byOrder, with the numbers that they have in the table without odd rows. The lines
// of odd rows have nothing in the other columns.
func (s *rowTable) rows(text string, numbers ...int) string {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != len(s.lines)+1 {
		s.t.Fatalf("found %d lines, wanted a header and %d: %v\n%s", len(lines), len(s.lines), err, text)
	}
	var kept []string
	for _, line := range lines[1:] {
		if s.place[s.number(line[numbers[0]])] < 0 {
			for j, cell := range line {
				if j != numbers[0] && cell != "" && !strings.HasPrefix(cell, "u") {
					s.t.Fatalf("found %q of an odd row", line)
				}
			}
			continue
		}
		for _, j := range numbers {
			line[j] = s.back(line[j])
		}
		kept = append(kept, strings.Join(line, ","))
	}
	return strings.Join(kept, "\n")
}

// number returns a row of the input, from 0, by its number from 1.
func (s *rowTable) number(text string) int {
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 || k > len(s.lines) {
		s.t.Fatalf("found row %q, wanted 1 to %d", text, len(s.lines))
	}
	return k - 1
}

// back returns the number that a row has in the table without odd rows; 0 stays.
func (s *rowTable) back(text string) string {
	if text == "0" {
		return text
	}
	return fmt.Sprint(s.place[s.number(text)] + 1)
}

// about writes a CSV about the rows of the input. cells returns the cells for row i of the table
// without odd rows; if it returns none, a file that names its rows leaves the row out. other has
// the cells for an odd row.
func (s *rowTable) about(name, header string, cells func(i int) []string, other string) string {
	var text strings.Builder
	if s.keyed != "" {
		header = s.keyed + "," + header
	}
	text.WriteString(header + "\n")
	for row, i := range s.place {
		lines := []string{other}
		if i >= 0 {
			lines = cells(i)
		}
		for _, line := range lines {
			switch s.keyed {
			case "row":
				line = fmt.Sprintf("%d,%s", row+1, line)
			case "index":
				line = fmt.Sprintf("%d,%s", row, line)
			}
			text.WriteString(line + "\n")
		}
	}
	return s.write(name, text.String())
}

// checked writes the right classes of some rows.
func (s *rowTable) checked() string {
	if s.keyed == "" {
		s.keyed = "row"
	}
	return s.about("checked.csv", "label", func(i int) []string {
		if i%2 == 0 {
			return []string{classNames[s.kind[i]]}
		}
		return []string{""}
	}, "")
}

// votes writes the labels of three people, and of odd rows none.
func (s *rowTable) votes() string {
	return s.about("votes.csv", "al,bo,cy", func(i int) []string {
		var cells []string
		for a := range 3 {
			k := s.kind[i]
			if (i+int(s.seed%7)+a)%5 == 0 {
				k = (k + a + 1) % 3
			}
			cells = append(cells, classNames[k])
		}
		return []string{strings.Join(cells, ",")}
	}, ",,")
}

// weights writes a weight for each row, by their order.
func (s *rowTable) weights() string {
	var text strings.Builder
	for _, i := range s.place {
		fmt.Fprintln(&text, 1+max(i, 0)%3)
	}
	return s.write("weights.txt", text.String())
}

// shares returns probabilities of the classes of a row.
func (s *rowTable) shares(i int) []float64 {
	p := []float64{.1, .1, .1}
	if i >= 0 {
		p[(s.kind[i]+(i+int(s.seed%5))%6/5)%3] = .8
	} else {
		p[0] = .8
	}
	return p
}

// probabilities writes probabilities of classes: a CSV, or by the order of the rows an array.
func (s *rowTable) probabilities() string {
	if s.keyed == "" && s.seed%2 == 0 {
		var b bytes.Buffer
		b.Write(npyfile.Header("<f8", len(s.place), 3))
		for _, i := range s.place {
			if err := npyfile.Write(&b, s.shares(i)); err != nil {
				s.t.Fatal(err)
			}
		}
		return s.write("p.npy", b.String())
	}
	cells := func(i int) []string {
		p := s.shares(i)
		return []string{fmt.Sprintf("%v,%v,%v", p[0], p[1], p[2])}
	}
	return s.about("p.csv", strings.Join(classNames, ","), cells, cells(-1)[0])
}

// numbers returns the JSON of a result without what names the call and its files.
func (s *rowTable) numbers(text string) string {
	var result map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, s.dir, "")), &result); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"request", "notes", "path", "skipped_at", "rows", "unlabelled",
		"examples", "duplicate_examples", "bytes", "files", "table", "seconds", "data"} {
		delete(result, name)
	}
	if rows, are := result["to_identify"].([]any); are {
		for k, row := range rows {
			rows[k] = s.back(fmt.Sprint(row))
		}
	}
	canonical, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		s.t.Fatal(err)
	}
	return reportedRow.ReplaceAllStringFunc(string(canonical), func(row string) string {
		parts := reportedRow.FindStringSubmatch(row)
		return s.back(parts[1]) + parts[2]
	})
}

// reportedRow is a row and its id, in the JSON of report.
var reportedRow = regexp.MustCompile(`\b([0-9]+)( \(r[0-9]+\))`)

// rowUses are the uses of numbers of rows.
var rowUses = []rowUse{
	{"predict", "mu", false, func(s *rowTable) string {
		out := s.path("p.csv")
		code, _, said := clitest.Exactly("predict", "--data", s.path("d.csv"), "--ignore-columns", "who",
			"--model", s.trained(), "--skip-bad", fmt.Sprint(s.bad), "--scores", "--out", out,
			"--label-column", "kind")
		if code != app.ExitOK {
			s.t.Fatal(said)
		}
		return s.predicted(s.read("p.csv"))
	}},
	{"predict classes", "mu", false, func(s *rowTable) string {
		out := s.path("p.csv")
		code, _, said := clitest.Exactly("predict", "--data", s.path("d.csv"), "--ignore-columns", "who",
			"--model", s.trained(), "--skip-bad", fmt.Sprint(s.bad), "--out", out,
			"--label-column", "kind")
		if code != app.ExitOK {
			s.t.Fatal(said)
		}
		lines := strings.Split(strings.TrimSuffix(s.read("p.csv"), "\n"), "\n")
		return strings.Join(s.kept(lines), "\n")
	}},
	{"info", "m", false, func(s *rowTable) string {
		return s.numbers(s.call("info", "--json", "--label-column", "kind"))
	}},
	{"convert", "m", false, func(s *rowTable) string {
		name := []string{"o.npz", "o.csv", "o.svm"}[s.seed%3]
		s.call("convert", "--out", s.path(name))
		return s.read(name)
	}},
	{"split", "m", false, func(s *rowTable) string {
		s.call("split", "--fractions", ".5,.5", "--out", s.path("a.csv"), "--out", s.path("b.csv"))
		return s.read("a.csv") + s.read("b.csv")
	}},
	{"inject", "u", false, func(s *rowTable) string {
		s.call("confusion", "inject", "--symmetric", ".3", "--out", s.path("o.csv"))
		lines := strings.Split(strings.TrimSuffix(s.read("o.csv"), "\n"), "\n")
		return strings.Join(s.kept(lines[1:]), "\n")
	}},
	{"eval", "m", false, func(s *rowTable) string {
		return s.numbers(s.call("eval", "--json", "--model", s.trained()))
	}},
	{"calibrate", "m", false, func(s *rowTable) string {
		out, fault := s.try("calibrate", "--json", "--model", s.trained(), "--sets", "0.8", "--out",
			s.path("c.npz"))
		if strings.Contains(fault, "temperature: ") {
			return "no temperature"
		}
		return s.numbers(out + fault)
	}},
	{"cv", "m", false, func(s *rowTable) string {
		return s.numbers(s.call("cv", "--json", "--learner", "uma", "--max-steps", "5", "--folds", "2"))
	}},
	{"train", "mu", false, func(s *rowTable) string {
		s.call("train", "--max-steps", "5", "--model", s.path("t.npz"))
		return s.scores(s.path("t.npz"))
	}},
	{"train --row-weights", "mu", false, func(s *rowTable) string {
		s.call("train", "--max-steps", "5", "--row-weights", s.weights(), "--model", s.path("t.npz"))
		return s.scores(s.path("t.npz"))
	}},
	{"train --annotators", "su", false, func(s *rowTable) string {
		s.call("train", "--learner", "softmax", "--l2", ".01", "--max-steps", "5",
			"--annotators", s.votes(), "--model", s.path("t.npz"))
		return s.scores(s.path("t.npz"))
	}},
	{"train --annotators --row-weights", "su", false, func(s *rowTable) string {
		s.call("train", "--learner", "softmax", "--l2", ".01", "--max-steps", "5",
			"--annotators", s.votes(), "--row-weights", s.weights(), "--model", s.path("t.npz"))
		return s.scores(s.path("t.npz"))
	}},
	{"train --label-probabilities", "m", false, func(s *rowTable) string {
		s.keyed = ""
		s.call("train", "--learner", "softmax", "--l2", ".01", "--max-steps", "5",
			"--label-probabilities", s.probabilities(), "--model", s.path("t.npz"))
		return s.scores(s.path("t.npz"))
	}},
	{"train --functions", "s", false, func(s *rowTable) string {
		s.call("train", "--learner", "softmax", "--l2", ".01", "--max-steps", "5",
			"--functions", s.votes(), "--model", s.path("t.npz"))
		return s.scores(s.path("t.npz"))
	}},
	{"issues", "mu", false, func(s *rowTable) string {
		s.call("issues", "--out", s.path("i.csv"))
		return s.rows(s.read("i.csv"), 0, 7)
	}},
	{"issues --probabilities", "mu", false, func(s *rowTable) string {
		s.call("issues", "--probabilities", s.probabilities(), "--out", s.path("i.csv"))
		return s.rows(s.read("i.csv"), 0, 7)
	}},
	{"issues --annotators", "s", false, func(s *rowTable) string {
		s.call("issues", "--annotators", s.votes(), "--out", s.path("i.csv"))
		return s.rows(s.read("i.csv"), 0, 7)
	}},
	{"confusion estimate --clean", "mu", false, func(s *rowTable) string {
		return s.numbers(s.call("confusion", "estimate", "--json", "--clean", s.checked(), "--out",
			s.path("C.csv")))
	}},
	{"confusion estimate --probabilities", "mu", false, func(s *rowTable) string {
		return s.numbers(s.call("confusion", "estimate", "--json", "--method", "confident-joint",
			"--probabilities", s.probabilities(), "--out", s.path("C.csv")))
	}},
	{"files about rows", "m", false, func(s *rowTable) string {
		kind, flag := s.seed%5, ""
		switch kind {
		case 0:
			flag = "--clean=" + s.checked()
		case 1:
			flag = "--probabilities=" + s.probabilities()
		case 2:
			flag = "--annotators=" + s.votes()
		case 3:
			flag = "--row-weights=" + s.weights()
		case 4:
			flag = "--functions=" + s.votes()
		}
		path := flag[strings.Index(flag, "=")+1:]
		text, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		if strings.HasSuffix(path, ".npy") {
			lines = []string{string(text[:len(text)-1])}
		} else {
			at := int(s.seed>>8) % (len(lines) - 1)
			lines[at] = "1,1,1,1,1,1\n"
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
			s.t.Fatal(err)
		}
		args := []string{"train", "--model", s.path("t.npz")}
		if kind < 2 {
			args = []string{"confusion", "estimate", "--method", "confident-joint"}
		}
		args = append(args, "--data", s.path("d.csv"), "--label-column", "kind", "--id-column", "who",
			flag, "--request", s.request())
		code, _, said := clitest.Exactly(args...)
		if code == app.ExitOK || !strings.Contains(said, path) {
			s.t.Fatalf("uma-gpu %s: exit code %d\n%s", strings.Join(args, " "), code, said)
		}
		return ""
	}},
	{"report", "m", false, func(s *rowTable) string {
		return s.numbers(s.call("report", "--json", "--model", s.trained(), "--out", s.path("r.html")))
	}},
	{"FindIssues", "u", false, func(s *rowTable) string {
		found, err := umagpu.FindIssues(s.t.Context(), &umagpu.FindIssuesRequest{Data: s.matrix(),
			Labels: s.labels()})
		if err != nil {
			s.t.Fatal(err)
		}
		lines := make([]string, len(s.place))
		for row, same := range found.Same {
			lines[row] = fmt.Sprint(found.Wrong[row], found.Quality[row], found.Likely[row],
				found.Sure[row], s.place[same])
		}
		return strings.Join(s.kept(lines), "\n")
	}},
	{"EstimateNoise", "u", false, func(s *rowTable) string {
		found, err := umagpu.EstimateNoise(s.t.Context(), &umagpu.EstimateNoiseRequest{Data: s.matrix(),
			Labels: s.labels(), Method: "confident-joint"})
		if err != nil {
			s.t.Fatal(err)
		}
		return fmt.Sprint(found.Confusion)
	}},
	{"query", "m", true, func(s *rowTable) string {
		s.keyed = "row"
		answers := s.about("answers.csv", "label", func(i int) []string {
			if i >= 9 && i%4 == 0 {
				return []string{classNames[s.kind[i]]}
			}
			return []string{""}
		}, "")
		out := s.call("query", "--k", "8", "--answers", answers, "--label-column", "kind")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		for k, line := range lines[1:] {
			number, rest, _ := strings.Cut(line, ",")
			lines[k+1] = s.back(number) + "," + rest
		}
		return strings.Join(lines, "\n")
	}},
	{"clean", "m", false, func(s *rowTable) string {
		code, out, said := clitest.Exactly("clean", s.path("d.csv"), "--label", "kind",
			"--ignore-columns", "who", "--checked", s.checked(), "--skip-bad", fmt.Sprint(s.bad),
			"--dir", s.path("clean"), "--json")
		if code != app.ExitOK {
			s.t.Fatal(said)
		}
		var report struct {
			Next []int `json:"check_next"`
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			s.t.Fatal(err)
		}
		for k, row := range report.Next {
			report.Next[k] = s.place[row-1]
		}
		cleaned := strings.Split(strings.TrimSuffix(s.read("clean/cleaned.csv"), "\n"), "\n")
		return fmt.Sprint(report.Next, "\n", s.rows(s.read("clean/rows.csv"), 0), "\n",
			strings.Join(s.kept(cleaned[1:]), "\n"))
	}},
}

// kept returns the lines of the rows that are not odd, of one for each row of the input.
func (s *rowTable) kept(lines []string) (kept []string) {
	if len(lines) != len(s.place) {
		s.t.Fatalf("found %d lines, wanted %d:\n%s", len(lines), len(s.place), strings.Join(lines, "\n"))
	}
	for row, i := range s.place {
		if i >= 0 {
			kept = append(kept, lines[row])
		} else if s.bad > 0 && slices.Contains(classNames, lines[row]) {
			s.t.Fatalf("found %s of a malformed row", lines[row])
		}
	}
	return kept
}

// predicted returns the table of predictions in the numbers of the table without odd rows. Rows
// without a label have predictions.
func (s *rowTable) predicted(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for row, line := range lines[1:] {
		number, rest, _ := strings.Cut(line, ",")
		if number != fmt.Sprint(row+1) {
			s.t.Fatalf("found the line of row %s, wanted row %d", number, row+1)
		}
		lines[row+1] = rest
	}
	return strings.Join(s.kept(lines[1:]), "\n")
}
