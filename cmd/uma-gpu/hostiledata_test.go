package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

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
	for _, name := range []string{"d.svm", "d.npz", "d.csv.gz", "d.csv.zst", "d.svm.gz"} {
		succeed(t, "convert", "--data", path("d.csv"), "--out", path(name), "--quiet")
	}
	for _, name := range []string{"sparse.npz"} {
		succeed(t, "convert", "--data", path("d.csv"), "--storage", "sparse", "--out", path(name),
			"--quiet")
	}
	succeed(t, "convert", "--data", path("d.csv"), "--normalize", "auto", "--out",
		path("prepared.npz"), "--quiet")
	writeTables(t, dir, csv)
	n := 6 * *hostileFactor
	sealed := func(extra ...damage) []damage { // formats with check sums: no bit may go unseen
		return slices.Concat(always(), cuts(0.01, 0.25, 0.75, 0.99, 1), flips(rng, n), blots(rng, n/2),
			extra)
	}
	line := strings.Split(csv, "\n")[30]
	table := func(separator string) []damage {
		sep := func(s string) string { return strings.ReplaceAll(s, ",", separator) }
		return slices.Concat(always()[3:], inText(number, separator), []damage{
			swap(sep(line), sep(line+",ash")), swap(sep(line), sep(line[:strings.LastIndex(line, ",")])),
			swap(sep(",height"), sep(",")), swap(sep(line), `"`+sep(line)), more("\"\n"), more("1\n"),
			swap(sep("ash\n"), sep("as\x00h\n")), swap(sep("ash\n"),
				"\x1b]0;owned\x07\n"),
		})
	}
	return map[string][]damage{
		"d.csv": table(","), "d.tsv": table("\t"),
		"d.svm": slices.Concat(always()[3:], inText(number, ":"), []damage{
			swap(" 2:", " 1:"), swap(" 2:", " 0:"), swap(" 2:", " -2:"), swap(" 2:", " 99999999999:"),
			swap(" 2:", " x:"),
			swap(" 2:", " 2;"), swap(" 2:", " :"), more("ash 1\n"), more("ash 5:1 4:1\n"),
			more("ash 3:1 3:2\n"),
			more("ash 3:\n"),
			swap("ash ", "as\x07h "), more("ash 4294967297:1\n")}),
		"d.npz": sealed(more("x"), swap("X.npy", "Z.npy")), "sparse.npz": sealed(more("x"), swap("indptr",
			"indxyz")),
		"packed.npz":   sealed(more("x")),
		"prepared.npz": sealed(more("x")),
		"d.csv.gz":     sealed(more("x")), "d.csv.zst": sealed(more("x")), "d.svm.gz": sealed(more("x")),
		"d.parquet": sealed(more("x")), "snappy.parquet": sealed(more("x")),
		"x.npy": slices.Concat(always(), cuts(0.01, 0.99, 1), []damage{more("x"), swap("<f4", "<c8"),
			swap("<f4", "|O8"),
			swap("<f4", "<U1"), swap("<f4", "<f2"), swap("<f4", "<f8"), swap("False", "Flase"),
			swap("(60, 5)", "(-6, 5)"),
			swap("(60, 5)", "(61, 5)"), swap("(60, 5)", "(6,  5)"), swap("(60, 5)", "(300, )"), swap("descr",
				"descs"),
			swap("(60, 5), }                       ", "(60, 5000000000000000000), }     "), at(6, 9), at(8,
				255, 255), at(0, 0x92),
			at(128, 0, 0, 0xc0, 0x7f), at(132, 0, 0, 0x80, 0x7f), at(200, 0, 0, 0x80, 0xff)}),
		"x.idx": slices.Concat(always(), cuts(0.99, 1), []damage{more("x"), at(0, 1), at(2, 7), at(3, 0),
			at(3, 9),
			at(4, 255, 255, 255, 255), at(7, 61), at(8, 127), at(11, 0), at(4, 0, 0, 0, 0), at(3, 1), at(2,
				14)}),
		"y.txt": slices.Concat(always()[3:5], []damage{more("ash\n"), swap("oak\n", ""), swap("oak\n",
			"o\x00ak\n"),
			swap("oak\n", "\xff\n"), swap("oak\n", "oak,1\n"), utf16(binary.LittleEndian, true)}),
		"y.npy": slices.Concat(always(), cuts(0.99, 1), []damage{more("x"), swap("<U3", "<U0"),
			swap("<U3", "<f2"), swap("<U3", "|O8"),
			swap("(60,)", "(59,)"), swap("(60,)", "(61,)"), swap("(60,)", "(60)"), at(128, 0, 0, 0x11, 0),
			at(132, 0, 0xd8, 0, 0), at(136, 7)}),
		"y.idx": slices.Concat(always(), cuts(0.99, 1), []damage{more("x"), at(2, 0), at(7, 59), at(7,
			61), at(3, 2), at(3, 0)}),
	}
}

// writeTables writes the forms that convert does not write.
func writeTables(t *testing.T, dir, csv string) {
	t.Helper()
	type row struct {
		Length, Width, Height, Depth, Weight float64
		Kind                                 string
	}
	d, err := file.Read(t.Context(), filepath.Join(dir, "d.csv"), file.Options{Storage: "dense"})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	idx := []byte{0, 0, 8, 2, 0, 0, 0, byte(d.N), 0, 0, 0, byte(d.D)}
	npy, names := npyfile.Header("<f4", d.N, d.D), npyfile.Header("<U3", d.N)
	idxLabels, text := []byte{0, 0, 8, 1, 0, 0, 0, byte(d.N)}, ""
	for i := range d.N {
		x, class := d.Row(i), d.Classes[d.Y[i]]
		rows = append(rows, row{float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3]), float64(x[4]),
			class})
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
	if err := parquetgo.Write(&plain, rows); err != nil {
		t.Fatal(err)
	}
	table := parquetgo.NewGenericWriter[row](&snappy, parquetgo.Compression(&parquetgo.Snappy))
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
		"snappy.parquet": snappy.Bytes(), "packed.npz": packed.Bytes(), "x.npy": npy, "x.idx": idx,
		"y.txt": []byte(text), "y.npy": names, "y.idx": idxLabels} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostileFiles: data files in all formats, damaged in every way that can be told from a whole
// one. Each is refused with a message that names it, or is read as the whole one is.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	files := hostileData(t, dir)
	tried := 0
	for k, name := range slices.Sorted(maps.Keys(files)) {
		args := func(file string) []string {
			args := []string{"info", "--json", "--quiet", "--missing", "error", "--data", file}
			switch name {
			case "x.npy", "x.idx":
				args = append(args, "--labels", path("y.txt"))
			case "y.txt", "y.npy", "y.idx":
				args = append(args[:5], "--data", path("x.npy"), "--labels", file)
			}
			return args
		}
		want, _ := succeed(t, args(path(name))...)
		bad := path("bad-" + name)
		raw := read(t, path(name))
		for _, d := range files[name] {
			if tried++; later(tried, k, 4) {
				continue
			}
			if err := os.WriteFile(bad, d.do(bytes.Clone(raw)), 0o666); err != nil {
				t.Fatal(err)
			}
			hostile{name: name + ", " + d.name, args: args(bad), dir: dir, file: bad,
				want: strings.ReplaceAll(want, path(name), bad)}.judge(t)
		}
		if err := os.Remove(bad); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	t.Logf("%d damaged files", tried)
	if tried < 400 {
		t.Errorf("only %d damaged files", tried)
	}
}
