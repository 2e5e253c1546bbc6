package file

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readerMutants are ways to break the readers: each turns a test of this package red. What is
// replaced is a text of a file, where it is there first.
var readerMutants = []struct{ name, file, from, to string }{
	{"last row of a CSV dropped", "csv.go",
		"if err := r.c.decide(fault, r.rec.line); err != nil {\n\t\t\treturn err\n\t\t}",
		"if r.rec.src.peek(1) == nil || len(r.rec.src.peek(1)) == 0 " +
			"{\n\t\t\tbreak\n\t\t}\n\t\tif err := r.c.decide(fault, r.rec.line); err != nil " +
			"{\n\t\t\treturn err\n\t\t}"},
	{"header read as a row", "csv.go",
		"\tif r.header {\n\t\terr = r.rec.next()\n\t}",
		""},
	{"first row taken for the header", "csv.go",
		"if r.header {\n\t\terr = r.rec.next()",
		"if !r.header {\n\t\terr = r.rec.next()"},
	{"repeated header is a row", "csv.go",
		"return r.header && bytes.Equal(rec.text, r.head)",
		"return false"},
	{"feature shifted by one", "csv.go",
		"row[k] = v\n\t\t\tk++",
		"row[(k+1)%len(row)] = v\n\t\t\tk++"},
	{"cells shifted by one", "csv.go",
		"fault = cells.set(k, r.rec.field(j))",
		"fault = cells.set(k, r.rec.field(max(0, j-1)))"},
	{"label of the column beside", "csv.go",
		"r.c.setOther(role[j], r.rec.field(j))",
		"r.c.setOther(role[j], r.rec.field(max(0, j-1)))"},
	{"short records accepted", "csv.go",
		"if len(r.rec.ends) != len(role) {",
		"if len(r.rec.ends) > len(role) {"},
	{"digits of one place doubled", "csv.go",
		"v = float64(line[i] - '0')",
		"v = 2 * float64(line[i]-'0')"},
	{"words for missing are 0", "csv.go",
		"return math.NaN(), \"\"",
		"return 0, \"\""},
	{"wrong column in errors of values", "csv.go",
		"return r.fault(r.columns.of(k), errors.New(valueFault(v)))",
		"return r.fault((r.columns.of(k)+1)%len(r.columns.role), errors.New(valueFault(v)))"},
	{"row names without a column", "csv.go",
		"names, width = append([]string{\"\"}, names...), width+1",
		"width++"},
	{"wrong line in errors of values", "csv.go",
		"return r.rec.src.errorAt(line, column, \"%s: %w%s\", r.columns.describe(j), what, hint)",
		"return r.rec.src.errorAt(line+1, column, \"%s: %w%s\", r.columns.describe(j), what, hint)"},
	{"comments are rows", "records.go",
		"if line[0] == '#' && r.isComment(line) {",
		"if false {"},
	{"all lines with # are comments", "records.go",
		"if line[0] == '#' && r.isComment(line) {",
		"if line[0] == '#' {"},
	{"titles are rows", "records.go",
		"return texts < 2",
		"return false"},
	{"a quoted quote lost", "records.go",
		"text = append(text, '\"')\n\t\t\t\t\ti++",
		"i++"},
	{"line break in quotes lost", "records.go",
		"text = append(append(text, line[i:]...), '\\n')",
		"text = append(text, line[i:]...)"},
	{"text after a closing quote accepted", "records.go",
		"if i < len(line) && line[i] != r.delim {",
		"if i < 0 {"},
	{"empty fields beyond the width of strict tables dropped", "records.go",
		"for r.layout.lenient && len(r.ends) > width &&",
		"for len(r.ends) > width &&"},
	{"last field of a record dropped", "records.go",
		"r.ends = append(ends, int32(len(r.text)))",
		"r.ends = append(ends, int32(max(0, len(r.text)-1)))"},
	{"blanks within quotes part fields", "records.go",
		"switch blank := !quoted && isSpace(c); {",
		"switch blank := isSpace(c); {"},
	{"column of an error off by one", "records.go",
		"return r.line, int(r.ends[j-1]) + 2",
		"return r.line, int(r.ends[j-1]) + 1"},
	{"indices from 0 where they begin at 1", "libsvm.go",
		"c: c, base: 1, most",
		"c: c, base: 0, most"},
	{"indices always from 1", "libsvm.go",
		"r.base = 0\n",
		"r.base = 1\n"},
	{"order of indices not checked", "libsvm.go",
		" || j <= last ||",
		" || j < 0 ||"},
	{"values at the last feature dropped", "libsvm.go",
		"if math.Float32bits(v) != 0 {",
		"if math.Float32bits(v) != 0 && i < len(line) {"},
	{"sign of a value lost", "libsvm.go",
		"v := float32(number)",
		"v := float32(math.Abs(number))"},
	{"values after a comment read", "libsvm.go",
		"line = line[:comment]",
		"_ = comment"},
	{"qid is the label", "libsvm.go",
		"return r.query(line, end), nil",
		"return end, nil"},
	{"width one short", "libsvm.go",
		"p.width, p.widest = last+1, r.c.src.line",
		"p.width, p.widest = max(1, last), r.c.src.line"},
	{"LIBSVM labels spelt apart are two classes", "libsvm.go",
		"c.labels.merges = true",
		"c.labels.merges = false"},
	{"subnormal values kept", "libsvm.go",
		"v = decimal.Flush(v, &p.subnormals)",
		""},
	{"axes of Fortran order swapped", "matrix.go",
		"at := j*n + i",
		"at := i*d + j"},
	{"Fortran order read as C order", "matrix.go",
		"if h.Fortran && d > 1 {",
		"if false {"},
	{"IDX sizes of little end", "matrix.go",
		"binary.BigEndian.Uint32(sizes)",
		"binary.LittleEndian.Uint32(sizes)"},
	{"last dimension of IDX dropped", "matrix.go",
		"h.Shape, total = append(h.Shape, size), total*max(size, 1)",
		"if h.Shape, total = append(h.Shape, size), total*max(size, 1); len(sizes) == 4 && " +
			"len(h.Shape) > 2 {\n\t\t\th.Shape = h.Shape[:len(h.Shape)-1]\n\t\t}"},
	{"wrong row in errors of arrays", "matrix.go",
		"\"example %d, column %d: %s\", c.number(), j+1",
		"\"example %d, column %d: %s\", c.number()+1, j+1"},
	{"wrong column in errors of arrays", "matrix.go",
		"\"example %d, column %d: %s\", c.number(), j+1",
		"\"example %d, column %d: %s\", c.number(), j"},
	{"short arrays accepted", "matrix.go",
		"if err := atEnd(r, c.src.errorf); err != nil {\n\t\treturn err\n\t}\n\treturn nil",
		"return nil"},
	{"elements of a part dropped", "matrix.go",
		"left -= int64(k)\n",
		"left -= int64(k) + 1\n"},
	{"labels with a fraction accepted", "matrix.go",
		"if v != math.Trunc(v) || math.Abs(v) > 1<<53 {",
		"if math.Abs(v) > 1<<53 {"},
	{"unsigned labels negative", "matrix.go",
		"if !ok {\n\t\t\treturn strconv.AppendUint",
		"if ok = true; !ok {\n\t\t\treturn strconv.AppendUint"},
	{"three dimensions cut to two", "matrix.go",
		"for _, size := range shape[1:] {",
		"for _, size := range shape[1:2] {"},
	{"features beyond a model's accepted", "matrix.go",
		"case wanted > 0 && (d > wanted || d < wanted && !fewer):",
		"case wanted > 0 && d < wanted && !fewer:"},
	{"sparse rows begin one late", "scipy.go",
		"for range starts[i+1] - starts[i] {",
		"for range starts[i+1] - starts[i] - min(1, starts[i+1]-starts[i]) {"},
	{"sparse columns unsorted", "scipy.go",
		"if !slices.IsSortedFunc(row, byColumn) {",
		"if false {"},
	{"column twice in a sparse row", "scipy.go",
		"case e.column == last:",
		"case e.column == last-1<<40:"},
	{"columns beyond the shape accepted", "scipy.go",
		"case e.column < 0 || e.column >= d:",
		"case e.column < 0:"},
	{"sparse column shifted", "scipy.go",
		"append(p.columns, int32(e.column))",
		"append(p.columns, int32(max(0, e.column-1)))"},
	{"a null is 0", "parquet.go",
		"*to = math.NaN()",
		"*to = 0"},
	{"unsigned 32-bit integers signed", "parquet.go",
		"*to = float64(v.Uint32())",
		"*to = float64(v.Int32())"},
	{"unsigned 64-bit integers signed", "parquet.go",
		"*to = float64(v.Uint64())",
		"*to = float64(v.Int64())"},
	{"truths inverted", "parquet.go",
		"if *to = 0; v.Boolean() {",
		"if *to = 0; !v.Boolean() {"},
	{"second row group read as the first", "parquet.go",
		"pages := r.groups[group].ColumnChunks()",
		"pages := r.groups[0].ColumnChunks()"},
	{"rows of a page from its beginning", "parquet.go",
		"return err\n\t\t\t\t}\n\t\t\t\trow++",
		"return err\n\t\t\t\t}\n\t\t\t\tif row++; row%64 == 0 {\n\t\t\t\t\trow--\n\t\t\t\t}"},
	{"features of the column before", "parquet.go",
		"err = r.numbers(g, j, x[next:], d)",
		"err = r.numbers(g, max(0, j-1), x[next:], d)"},
	{"row number of the group", "parquet.go",
		"fault = r.c.src.errorf(\"example %d, %s: %w\", r.c.number(),",
		"fault = r.c.src.errorf(\"example %d, %s: %w\", i+2,"},
	{"days as seconds", "parquet.go",
		"*to = float64(v.Int32()) * c.unit.Seconds()",
		"*to = float64(v.Int32())"},
	{"dates of 1904 as of 1900", "sheet.go",
		"t.base = *p.Date1904",
		"t.base = false"},
	{"rows of sheets counted without the empty", "sheet.go",
		"t.rows = append(t.rows, i+1)",
		"t.rows = append(t.rows, min(i, len(t.rows))+1)"},
	{"short rows of sheets not filled", "sheet.go",
		"append(row, make([]string, t.width-len(row))...)",
		"append(row, make([]string, 0)...)"},
	{"truths of sheets inverted", "sheet.go",
		"map[string]string{\"0\": \"FALSE\", \"1\": \"TRUE\"}",
		"map[string]string{\"1\": \"FALSE\", \"0\": \"TRUE\"}"},
	{"cells written a row off", "sheet.go",
		"kind, err := t.file.GetCellType(t.name, at)\n\tif err != nil {\n\t\treturn err\n\t}",
		"at, err = excelize.CoordinatesToCellName(column, row+1)\n\tkind, err := " +
			"t.file.GetCellType(t.name, at)\n\tif err != nil {\n\t\treturn err\n\t}"},
	{"label of the example before", "labels.go",
		"l.y = append(l.y, l.pending)",
		"if l.y = append(l.y, l.pending); len(l.y) > 1 {\n\t\tl.y[len(l.y)-1], l.y[len(l.y)-2] " +
			"= l.y[len(l.y)-2], l.y[len(l.y)-1]\n\t}"},
	{"classes not sorted", "labels.go",
		"dataset.SortClasses(classes)",
		""},
	{"candidates but the first lost", "labels.go",
		"if l.pending = all[0]; len(l.several) == 1 {",
		"if l.pending = all[0]; len(l.several) > 0 {"},
	{"an unlabelled row of the first class", "labels.go",
		"l.pending, l.several = 0, []int32{}",
		"l.pending = 0"},
	{"labels beside counted from the next", "labels.go",
		"err = known.set([]byte(l.names[l.codes[i]]))",
		"err = known.set([]byte(l.names[l.codes[min(i+1, len(l.codes)-1)]]))"},
	{"sets of other examples", "labels.go",
		"for len(l.sets) < len(l.y) {",
		"for len(l.sets) < len(l.y)-1 {"},
	{"other column of label arrays", "labelsfile.go",
		"row[column*h.Type.Size:(column+1)*h.Type.Size]",
		"row[:h.Type.Size]"},
	{"header over labels is a label", "labelsfile.go",
		"words(0, 1) == 1 && words(1, n) == 0",
		"words(0, 1) == 2 && words(1, n) == 0"},
	{"more labels than examples accepted", "collect.go",
		"case c.given != nil && c.seen < len(c.given.codes):",
		"case c.given != nil && c.seen < 0:"},
	{"ids of the row before", "collect.go",
		"c.ids = append(c.ids, c.id)",
		"c.ids = append(c.ids, fmt.Sprint(c.n))"},
	{"weights all 1", "collect.go",
		"c.weights = append(c.weights, c.weight)",
		"c.weights = append(c.weights, 1)"},
	{"a skipped row not counted", "collect.go",
		"c.source = append(c.source, c.seen)",
		"c.source = append(c.source, c.n)"},
	{"a skipped row stays", "collect.go",
		"c.pile.drop()\n",
		""},
	{"rows before a skipped one renumbered", "collect.go",
		"c.source = lists.UpTo[int](c.n)",
		"c.source = lists.UpTo[int](c.n)[:max(0, c.n-1)]"},
	{"negative weights accepted", "collect.go",
		"if err != nil || !(v >= 0) || math.IsInf(v, 1) {",
		"if err != nil || math.IsInf(v, 1) {"},
	{"origin added", "numbers.go",
		"v -= n.origins[j]",
		"v += n.origins[j]"},
	{"infinite values accepted", "numbers.go",
		"case 0x7f800000:",
		"case 0x7f800001:"},
	{"origin of cells added", "cells.go",
		"v -= c.Origin",
		"v += c.Origin"},
	{"segments joined from the same row", "pile.go",
		"row += s.N",
		"row += s.N - 1"},
	{"sparse segments end early", "pile.go",
		"e.Starts = append(e.Starts, int64(len(e.Values)))",
		"e.Starts = append(e.Starts, int64(max(0, len(e.Values)-1)))"},
	{"values of a segment a column off", "pile.go",
		"copy(row, s.DenseRow(row, i))",
		"copy(row[min(1, len(row)-1):], s.DenseRow(row, i))"},
	{"last column is the first", "columns.go",
		"case \"last\":\n\t\treturn width - 1",
		"case \"last\":\n\t\treturn 0"},
	{"positions from 0", "columns.go",
		"return int(position) - 1",
		"return min(int(position), width-1)"},
	{"columns left out stay", "columns.go",
		"c.role[j] = ignored\n\t\tc.features--",
		"c.features--"},
	{"of two columns of a name the first", "columns.go",
		"return at, at >= 0 && slices.Contains(names[at+1:], text)",
		"return at, false"},
}

var tryMutants = flag.String("mutants", "",
	"a regular expression: have the tests try the mutants of the readers whose names it matches")

// slowTests take as long as all others together: they see what these let pass.
const slowTests = "^(TestCopyKeepsBytes|TestAside|TestNPZDamage|TestPackedDamage|" +
	"TestReadEndsWithItsContext|TestNPZManyArrays|TestReadMemory|TestReadPackedAndPiped)$"

// TestReaderMutants: the tests of the readers catch all mutants. That takes minutes with -mutants;
// without, it checks only that the mutants are of the text as it is.
func TestReaderMutants(t *testing.T) {
	overlay := mutants(t)
	if *tryMutants == "" || t.Failed() {
		return
	}
	named := regexp.MustCompile(*tryMutants)
	dir := t.TempDir()
	list := filepath.Join(dir, "overlay.json")
	for path, text := range overlay {
		other := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(other, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		overlay[path] = other
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err == nil {
		err = os.WriteFile(list, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "mutants.test")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-trimpath", "-vet=off",
		"-overlay", list, "-o", binary, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("the mutants do not compile: %v\n%s", err, out)
	}
	if how := failing(t, binary, 0, "-test.run", "^Test", "-test.skip",
		slowTests+"|TestReaderMutants"); how != "" {
		t.Fatalf("without a mutant %s fails", how)
	}
	tried, survivors := 0, map[int]bool{}
	for k, m := range readerMutants {
		if !named.MatchString(m.name) {
			continue
		}
		tried++
		how := failing(t, binary, k+1, "-test.run", "^Test", "-test.skip",
			slowTests+"|TestReaderMutants")
		if survivors[k] = how == ""; how != "" {
			t.Logf("%s: killed by %s", m.name, how)
		}
	}
	killed := tried
	for k, m := range readerMutants {
		if survivors[k] && failing(t, binary, k+1, "-test.run", slowTests+"|^Fuzz|^Example") == "" {
			t.Errorf("%s: survives", m.name)
			killed--
		}
	}
	t.Logf("%d of %d reader mutants killed", killed, tried)
}

// mutants returns other texts of files, by path: a function that is mutated calls its mutant where
// the variable mutant has its number, from 1.
func mutants(t *testing.T) map[string]string {
	overlay, inserted := map[string]string{}, map[string][]insertion{}
	for k, m := range readerMutants {
		raw, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		text, set := string(raw), token.NewFileSet()
		at := strings.Index(text, m.from)
		file, err := parser.ParseFile(set, m.file, raw, parser.SkipObjectResolution)
		if at < 0 || err != nil {
			t.Errorf("%s: %s no longer contains %q: rewrite the mutant: %v", m.name, m.file, m.from, err)
			continue
		}
		offset := func(p token.Pos) int { return set.Position(p).Offset }
		n := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
			return offset(d.Pos()) <= at && at < offset(d.End())
		})
		f, is := file.Decls[n].(*ast.FuncDecl)
		if !is {
			t.Errorf("%s: changes no function", m.name)
			continue
		}
		name := fmt.Sprintf("%sMutant%d", f.Name.Name, k+1)
		choice := fmt.Sprintf(" if mutant == %d { %s }; ", k+1, call(f, name))
		inserted[m.file] = append(inserted[m.file], insertion{offset(f.Body.Lbrace) + 1, choice},
			insertion{len(text), "\n" + text[offset(f.Type.Pos()):offset(f.Name.Pos())] + name +
				text[offset(f.Name.End()):at] + m.to + text[at+len(m.from):offset(f.End())] + "\n"})
		overlay[m.file] = text
	}
	paths := map[string]string{}
	for name, text := range overlay {
		slices.SortStableFunc(inserted[name], func(a, b insertion) int { return b.at - a.at })
		for _, i := range inserted[name] {
			text = text[:i.at] + i.text + text[i.at:]
		}
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		paths[path] = text
	}
	path, err := filepath.Abs("mutant.go")
	if err != nil {
		t.Fatal(err)
	}
	paths[path] = "package file\n\nimport (\n\"os\"\n\"strconv\"\n)\n\n" +
		"var mutant, _ = strconv.Atoi(os.Getenv(\"UMA_GPU_MUTANT\"))\n"
	return paths
}

// insertion is a text that comes into another.
type insertion struct {
	at   int
	text string
}

// call returns the statements of f that call another function with its arguments.
func call(f *ast.FuncDecl, name string) string {
	var args []string
	for _, p := range f.Type.Params.List {
		for _, id := range p.Names {
			if _, several := p.Type.(*ast.Ellipsis); several {
				id.Name += "..."
			}
			args = append(args, id.Name)
		}
	}
	if f.Recv != nil {
		name = f.Recv.List[0].Names[0].Name + "." + name
	}
	text := name + "(" + strings.Join(args, ", ") + ")"
	if f.Type.Results == nil {
		return text + "; return"
	}
	return "return " + text
}

// failing returns the name of the first test that fails with a mutant, "" if none does.
func failing(t *testing.T, binary string, mutant int, args ...string) string {
	args = append(args, "-test.failfast", "-test.short", "-test.timeout", "10m")
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Env = append(os.Environ(), fmt.Sprintf("UMA_GPU_MUTANT=%d", mutant))
	out, err := c.CombinedOutput()
	if err == nil {
		return ""
	}
	_, name, failed := bytes.Cut(out, []byte("--- FAIL: "))
	if name, _, _ = bytes.Cut(name, []byte(" ")); !failed {
		return "a panic, or no end in ten minutes"
	}
	return string(name)
}
