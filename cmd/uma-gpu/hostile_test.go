package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// hostileFactor multiplies the damages that are drawn at random.
var hostileFactor = flag.Int("hostile", 1, "how many times the random damages of make test to try; above 1, of all cases")

// hostile is one command line that meets something bad.
type hostile struct {
	name string
	args []string
	dir  string // that nothing may be written to
	file string // that the message has to name
	want string // printed if the damage does no harm

	made    string // the file that the command writes, "" if none
	content []byte // what it is if the damage does no harm
}

// harmless says that the command may succeed.
func (h hostile) harmless() bool { return h.want != "" || h.content != nil }

// judge runs a case: an exit code that is not 0, a message that names the file, no file, no trace, and all of it
// soon; or what the same command prints of the whole file.
func (h hostile) judge(t *testing.T) {
	t.Helper()
	before := names(t, h.dir)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	var stdout, stderr bytes.Buffer
	start := time.Now()
	code := func() (code int) {
		defer func() {
			if value := recover(); value != nil {
				t.Errorf("%s: panicked with %v", h.name, value)
				code = -1
			}
		}()
		return runContext(ctx, h.args, &stdout, &stderr)
	}()
	text := stderr.String()
	switch {
	case code == -1:
	case ctx.Err() != nil:
		t.Errorf("%s: took more than %v", h.name, time.Since(start))
	case code == exitOK && !h.harmless():
		t.Errorf("%s: taken\n%s%s", h.name, &stdout, text)
	case code == exitOK && timeless(stdout.String()) != timeless(h.want):
		t.Errorf("%s: taken, with another result\n%s\nwant\n%s%s", h.name, &stdout, h.want, text)
	case code == exitOK && h.made != "" && !bytes.Equal(read(t, h.made), h.content):
		t.Errorf("%s: taken, with another file\n%s", h.name, text)
	case code != exitOK && (!strings.Contains(text, "uma-gpu: ") || !strings.Contains(text, h.file)):
		t.Errorf("%s: exit code %d\n%swant %q in it", h.name, code, text, h.file)
	case code != exitOK && code != exitFailure && code != exitMemory && code != exitUsage:
		t.Errorf("%s: exit code %d\n%s", h.name, code, text)
	case strings.Contains(text, "runtime error") || strings.Contains(text, "goroutine "):
		t.Errorf("%s: a trace in the message\n%s", h.name, text)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		t.Errorf("%s: control characters in %q", h.name, text)
	}
	if h.made != "" && code == exitOK {
		if err := os.Remove(h.made); err != nil {
			t.Fatal(err)
		}
	}
	if after := names(t, h.dir); !slices.Equal(after, before) {
		t.Errorf("%s: left %q, before it there were %q", h.name, after, before)
	}
}

// timeless is what a command printed, but for how long it took.
func timeless(text string) string { return regexp.MustCompile(`(?m)^seconds .*\n`).ReplaceAllString(text, "") }

// damage makes a whole file bad.
type damage struct {
	name string
	do   func(raw []byte) []byte
}

// cuts are files that end too early.
func cuts(parts ...float64) (list []damage) {
	for _, p := range parts {
		list = append(list, damage{fmt.Sprintf("cut at %v", p), func(raw []byte) []byte {
			return raw[:min(int(p*float64(len(raw))), len(raw)-1)]
		}})
	}
	return list
}

// flips are n single bits that are not as they were written, anywhere in a file.
func flips(rng *rand.Rand, n int) (list []damage) {
	for range n {
		at, bit := rng.Float64(), byte(1)<<rng.IntN(8)
		list = append(list, damage{fmt.Sprintf("bit %d flipped at %.4f", bit, at), func(raw []byte) []byte {
			raw = bytes.Clone(raw)
			raw[int(at*float64(len(raw)))] ^= bit
			return raw
		}})
	}
	return list
}

// blots are n pieces of other bytes.
func blots(rng *rand.Rand, n int) (list []damage) {
	for range n {
		at, with := rng.Float64(), byte(rng.IntN(256))
		list = append(list, damage{fmt.Sprintf("16 bytes %#x at %.4f", with, at), func(raw []byte) []byte {
			raw = bytes.Clone(raw)
			from := int(at * float64(len(raw)))
			for k := from; k < min(from+16, len(raw)); k++ {
				raw[k] = with
			}
			return raw
		}})
	}
	return list
}

// swap is a piece of a file that becomes another.
func swap(old, new string) damage {
	return damage{fmt.Sprintf("%.20q for %.20q", new, old), func(raw []byte) []byte {
		if !bytes.Contains(raw, []byte(old)) {
			panic("no " + old)
		}
		return bytes.Replace(raw, []byte(old), []byte(new), 1)
	}}
}

// at sets bytes at a place.
func at(place int, with ...byte) damage {
	return damage{fmt.Sprintf("% x at byte %d", with, place), func(raw []byte) []byte {
		raw = bytes.Clone(raw)
		copy(raw[place:], with)
		return raw
	}}
}

func more(text string) damage {
	return damage{fmt.Sprintf("%q behind it", text), func(raw []byte) []byte { return append(bytes.Clone(raw), text...) }}
}

// utf16 is a text in another encoding.
func utf16(order binary.AppendByteOrder, mark bool) damage {
	return damage{fmt.Sprintf("UTF-16, %v, marked %v", order, mark), func(raw []byte) []byte {
		var out []byte
		if mark {
			out = order.AppendUint16(out, 0xfeff)
		}
		for _, r := range string(raw) {
			out = order.AppendUint16(out, uint16(r))
		}
		return out
	}}
}

var nothing = damage{"empty", func([]byte) []byte { return nil }}

// junk is no format at all.
var junk = damage{"junk", func([]byte) []byte {
	rng, raw := rand.New(rand.NewPCG(1, 2)), make([]byte, 3000)
	for k := range raw {
		raw[k] = byte(rng.Uint32())
	}
	return raw
}}

// always are damages that no format takes.
func always() []damage {
	return append(cuts(0.1, 0.5, 0.9), nothing, junk,
		damage{"zeros", func(raw []byte) []byte { return make([]byte, len(raw)) }},
		damage{"a picture", func([]byte) []byte { return []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") }},
		damage{"a page", func([]byte) []byte { return []byte("<!DOCTYPE html>\n<html><head><title>404</title></head>\n") }},
		damage{"a program", func([]byte) []byte { return append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...) }})
}

// inText are damages of every table of words and numbers.
func inText(number, separator string) []damage {
	return []damage{
		swap(number, "x"+number), swap(number, number+"x"), swap(number, "nan"), swap(number, "-inf"), swap(number, "1e39"),
		swap(number, "1e999"), swap(number, "0x1p3"), swap(number, "\x00"), swap(number, "\xff\xfe"), swap(number, "1_000"),
		swap(number, "２"), swap(number, "--1"), swap(number, "1e"), swap(number, "\x1b[31m1\x1b[0m"), swap(number, "\u202e1"),
		swap(number, strings.Repeat("9", 400)), swap(number, "1"+separator+"2"), utf16(binary.LittleEndian, true),
		utf16(binary.BigEndian, true), utf16(binary.LittleEndian, false), utf16(binary.BigEndian, false),
		{"line ends of old", func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte("\n"), []byte("\r")) }},
		{"a long line", func(raw []byte) []byte { return append(bytes.Clone(raw), bytes.Repeat([]byte("7"), 1<<20)...) }},
	}
}

// hostileData writes one small data set in every format, and says how to damage it.
func hostileData(t *testing.T, dir string) map[string][]damage {
	t.Helper()
	path := func(name string) string { return filepath.Join(dir, name) }
	rng := rand.New(rand.NewPCG(81, 82))
	var b strings.Builder
	b.WriteString("length,width,height,depth,weight,kind\n")
	for i := range 60 {
		for j := range 5 {
			fmt.Fprintf(&b, "%.3f,", 10+float64(i%3*(j+1))+rng.Float64())
		}
		fmt.Fprintf(&b, "%s\n", []string{"ash", "oak", "elm"}[i%3])
	}
	csv := b.String()
	number := strings.Split(strings.Split(csv, "\n")[30], ",")[2]
	if strings.Count(csv, number) != 1 {
		t.Fatal("choose another number")
	}
	write(t, dir, "d.csv", csv)
	write(t, dir, "d.tsv", strings.ReplaceAll(csv, ",", "\t"))
	write(t, dir, "d.arff", "@relation r\n@attribute length real\n@attribute width real\n@attribute height real\n"+
		"@attribute depth real\n@attribute weight real\n@attribute kind {ash,oak,elm}\n@data\n"+csv[strings.Index(csv, "\n")+1:])
	for _, name := range []string{"d.svm", "d.npz", "d.umab", "d.csv.gz", "d.csv.zst", "d.svm.gz"} {
		succeed(t, "convert", "--data", path("d.csv"), "--out", path(name), "--quiet")
	}
	for _, name := range []string{"sparse.umab", "sparse.npz"} {
		succeed(t, "convert", "--data", path("d.csv"), "--storage", "sparse", "--out", path(name), "--quiet")
	}
	succeed(t, "convert", "--data", path("d.csv"), "--normalize", "auto", "--out", path("prepared.umab"), "--quiet")
	writeTables(t, dir, csv)
	n := 6 * *hostileFactor
	sealed := func(extra ...damage) []damage { // formats with check sums: no bit may go unseen
		return slices.Concat(always(), cuts(0.01, 0.25, 0.75, 0.99, 1), flips(rng, n), blots(rng, n/2), extra)
	}
	line := strings.Split(csv, "\n")[30]
	table := func(separator string) []damage {
		sep := func(s string) string { return strings.ReplaceAll(s, ",", separator) }
		return slices.Concat(always()[3:], inText(number, separator), []damage{
			swap(sep(line), sep(line+",ash")), swap(sep(line), sep(line[:strings.LastIndex(line, ",")])),
			swap(sep(",height"), sep(",")), swap(sep(line), `"`+sep(line)), more("\"\n"), more("1\n"),
			swap(sep("ash\n"), sep(" \n")), swap(sep("ash\n"), sep("as\x00h\n")), swap(sep("ash\n"), "\x1b]0;owned\x07\n"),
		})
	}
	return map[string][]damage{
		"d.csv": table(","), "d.tsv": table("\t"),
		"d.svm": slices.Concat(always()[3:], inText(number, ":"), []damage{
			swap(" 2:", " 1:"), swap(" 2:", " 0:"), swap(" 2:", " -2:"), swap(" 2:", " 99999999999:"), swap(" 2:", " x:"),
			swap(" 2:", " 2;"), swap(" 2:", " :"), more("ash 1\n"), more("ash 5:1 4:1\n"), more("ash 3:1 3:2\n"), more("ash 3:\n"),
			swap("ash ", "as\x07h "), more("ash 4294967297:1\n")}),
		"d.arff": slices.Concat(always()[3:], inText(number, ","), []damage{
			swap("real", "date"), swap("real", "relational"), swap("@data", "@dta"), swap("{ash,oak,elm}", "{ash,oak}"),
			swap("{ash,oak,elm}", "{ash,oak,elm"), swap("@attribute depth", "@attribute"), swap("@relation r", "{}"),
			swap(line, line+",1"), swap("@attribute width real\n", "")}),
		"d.npz": sealed(more("x"), swap("X.npy", "Z.npy")), "sparse.npz": sealed(more("x"), swap("indptr", "indxyz")),
		"packed.npz":  sealed(more("x")),
		"d.umab":      sealed(more("x"), swap("binary 2", "binary 1"), swap("binary 2", "binary 9"), swap(`"ash"`, `"oak"`)),
		"sparse.umab": sealed(more("x"), swap(`"sparse"`, `"dense"`)), "prepared.umab": sealed(more("x")),
		"d.csv.gz": sealed(more("x")), "d.csv.zst": sealed(more("x")), "d.svm.gz": sealed(more("x")),
		"d.parquet": sealed(more("x")), "snappy.parquet": sealed(more("x")),
		"x.npy": slices.Concat(always(), cuts(0.01, 0.99, 1), []damage{more("x"), swap("<f4", "<c8"), swap("<f4", "|O8"),
			swap("<f4", "<U1"), swap("<f4", "<f2"), swap("<f4", "<f8"), swap("False", "Flase"), swap("(60, 5)", "(-6, 5)"),
			swap("(60, 5)", "(61, 5)"), swap("(60, 5)", "(6,  5)"), swap("(60, 5)", "(300, )"), swap("descr", "descs"),
			swap("(60, 5), }                       ", "(60, 5000000000000000000), }     "), at(6, 9), at(8, 255, 255), at(0, 0x92),
			at(128, 0, 0, 0xc0, 0x7f), at(132, 0, 0, 0x80, 0x7f), at(200, 0, 0, 0x80, 0xff)}),
		"x.idx": slices.Concat(always(), cuts(0.99, 1), []damage{more("x"), at(0, 1), at(2, 7), at(3, 0), at(3, 9),
			at(4, 255, 255, 255, 255), at(7, 61), at(8, 127), at(11, 0), at(4, 0, 0, 0, 0), at(3, 1), at(2, 14)}),
		"y.txt": slices.Concat(always()[3:5], []damage{more("ash\n"), swap("oak\n", ""), swap("oak\n", "o\x00ak\n"),
			swap("oak\n", "\xff\n"), swap("oak\n", "oak,1\n"), utf16(binary.LittleEndian, true)}),
		"y.npy": slices.Concat(always(), cuts(0.99, 1), []damage{more("x"), swap("<U3", "<U0"), swap("<U3", "<f2"), swap("<U3", "|O8"),
			swap("(60,)", "(59,)"), swap("(60,)", "(61,)"), swap("(60,)", "(60)"), at(128, 0, 0, 0x11, 0), at(132, 0, 0xd8, 0, 0), at(136, 7)}),
		"y.idx": slices.Concat(always(), cuts(0.99, 1), []damage{more("x"), at(2, 0), at(7, 59), at(7, 61), at(3, 2), at(3, 0)}),
	}
}

// writeTables writes the forms that convert does not write.
func writeTables(t *testing.T, dir, csv string) {
	t.Helper()
	type row struct {
		Length, Width, Height, Depth, Weight float64
		Kind                                 string
	}
	d, err := dataset.Read(t.Context(), filepath.Join(dir, "d.csv"), dataset.Options{Storage: "dense"})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	idx := []byte{0, 0, 8, 2, 0, 0, 0, byte(d.N), 0, 0, 0, byte(d.D)}
	npy, names := npyfile.Header("<f4", d.N, d.D), npyfile.Header("<U3", d.N)
	idxLabels, text := []byte{0, 0, 8, 1, 0, 0, 0, byte(d.N)}, ""
	for i := range d.N {
		x, class := d.Row(i), d.Classes[d.Y[i]]
		rows = append(rows, row{float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3]), float64(x[4]), class})
		for _, v := range x {
			idx = append(idx, byte(v))
		}
		idxLabels, text = append(idxLabels, byte(d.Y[i])), text+class+"\n"
		for _, r := range class {
			names = binary.LittleEndian.AppendUint32(names, uint32(r))
		}
	}
	if npy, err = binary.Append(npy, binary.LittleEndian, d.X); err != nil {
		t.Fatal(err)
	}
	var plain, snappy, packed bytes.Buffer
	if err := dataset.WriteParquet(&plain, rows); err != nil {
		t.Fatal(err)
	}
	table := parquet.NewGenericWriter[row](&snappy, parquet.Compression(&parquet.Snappy))
	if _, err := table.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&packed) // as numpy.savez_compressed writes it
	for _, f := range []struct {
		name string
		raw  []byte
	}{{"X.npy", npy}, {"y.npy", names}} {
		w, err := z.Create(f.name)
		if err == nil {
			_, err = w.Write(f.raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"d.parquet": plain.Bytes(),
		"snappy.parquet": snappy.Bytes(), "packed.npz": packed.Bytes(), "x.npy": npy, "x.idx": idx, "y.txt": []byte(text),
		"y.npy": names, "y.idx": idxLabels} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostileFiles: data files in all formats, damaged in every way that can be told from a whole one. Each is refused
// with a message that names it, or is read as the whole one is.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	files := hostileData(t, dir)
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		args := func(file string) []string {
			args := []string{"info", "--json", "--quiet", "--data", file}
			switch name {
			case "x.npy", "x.idx":
				args = append(args, "--labels", path("y.txt"))
			case "y.txt", "y.npy", "y.idx":
				args = append(args[:3], "--data", path("x.npy"), "--labels", file)
			}
			return args
		}
		want, _ := succeed(t, args(path(name))...)
		bad := path("bad-" + name)
		raw := read(t, path(name))
		for _, d := range files[name] {
			if err := os.WriteFile(bad, d.do(bytes.Clone(raw)), 0o666); err != nil {
				t.Fatal(err)
			}
			tried++
			hostile{name: name + ", " + d.name, args: args(bad), dir: dir, file: bad,
				want: strings.ReplaceAll(want, path(name), bad)}.judge(t)
		}
		if err := os.Remove(bad); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d damaged files", tried)
	if tried < 500 {
		t.Errorf("only %d damaged files", tried)
	}
}
