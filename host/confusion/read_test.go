package confusion

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The matrix of most tests: no two entries that could be mixed up in silence.
var sample = []float64{
	.5, .25, .125,
	.375, .5, .125,
	.125, .25, .75,
}

// save writes a file into a fresh folder and returns its path.
func TestReadText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		trueRows   bool
	}{
		{"named", "noisy\\true,a,b,c\na,.5,.25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n", false},
		{"named, other order", "noisy\\true,c,a,b\nb,.125,.375,.5\nc,.75,.125,.25\na,.125,.5,.25\n",
			false},
		{"named, true rows", "true\\noisy,c,b,a\nb,.25,.5,.25\na,.125,.375,.5\nc,.75,.125,.125\n", true},
		{"named, quoted, CRLF, BOM, no last newline",
			"\ufeff\"noisy\\true\",\"a\",b,c\r\n\"a\",\".5\",.25,.125\r\nb,.375,.5,.125\r\nc,.125,.25,.75",
			false},
		{"named, blank lines and spaces around numbers",
			"\nnoisy\\true,a,b,c\n\na, .5 , .25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n\n", false},
		{"bare, commas", ".5,.25,.125\n.375,.5,.125\n.125,.25,.75\n", false},
		{"bare, commas and spaces", " 0.5, 0.25, 0.125\n 0.375, 0.5, 0.125\n 0.125, 0.25, 0.75", false},
		{"bare, semicolons", ".5;.25;.125\n.375;.5;.125\n.125;.25;.75\n", false},
		{"bare, tabs", ".5\t.25\t.125\n.375\t.5\t.125\n.125\t.25\t.75\n", false},
		{"bare, spaces, CRLF, blank lines",
			"\r\n.5  .25 .125\r\n\r\n.375 .5 .125\r\n.125 .25 .75\r\n\r\n", false},
		{"bare, numpy.savetxt", "5.0e-01 2.5e-01 1.25e-01\n3.75e-01 5e-01 1.25E-1\n+.125 .25 .75\n",
			false},
		{"bare, true rows", ".5,.375,.125\n.25,.5,.25\n.125,.125,.75\n", true},
	} {
		for kind, data := range map[string][]byte{"plain": []byte(c.text), "gzip": gzipped(t,
			[]byte(c.text))} {
			m, err := Read(save(t, "c.csv", data), ReadOptions{Classes: abc, TrueRows: c.trueRows})
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, kind, err)
			} else if !slices.Equal(m.P, sample) || !slices.Equal(m.Classes, abc) {
				t.Errorf("%s, %s: got %v of %v, wanted %v of %v", c.name, kind, m.P, m.Classes, sample, abc)
			}
		}
	}
}

func TestReadNamesWithCommas(t *testing.T) {
	classes := []string{`x,"y"`, " z"}
	m, err := Read(save(t, "c",
		[]byte("noisy\\true, z,\"x,\"\"y\"\"\"\n z,.5,.25\n\"x,\"\"y\"\"\",.5,.75\n")),
		ReadOptions{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{.75, .5, .25, .5}; !slices.Equal(m.P, want) {
		t.Errorf("got %v, wanted %v", m.P, want)
	}
	m.Classes[0] = "changed"
	if classes[0] == "changed" {
		t.Error("Read shares the caller's names")
	}
}

func TestReadTextErrors(t *testing.T) {
	const others = "leave the others out of it, or give data that have them"
	const named = "noisy\\true,a,b\na,.75,.5\nb,.25,.5\n"
	const data = `, one per class of the data ("a", "b")`
	for _, c := range []struct {
		name, text string
		trueRows   bool
		want       string // after the path
	}{
		{"empty", "", false, `:1: found no text, wanted a 2×2 confusion matrix`},
		{"blank", "\n \n", false, `:1: found no text, wanted a 2×2 confusion matrix`},
		{"prose", "\nhello world\n", false,
			`:2: the first field is "hello", wanted noisy\true and a header of class names, or a number`},
		{"no corner", ",a,b\na,.75,.5\nb,.25,.5\n", true,
			`:1: the first field is "", wanted true\noisy and a header of class names, or a number`},
		{"zip", "PK\x03\x04...", false,
			`: found a zip archive (.npz or .xlsx?), wanted CSV or one .npy array; save the matrix by itself`},

		{"corner against the option", named, true,
			`:1: the header begins with noisy\true, so its rows are noisy classes: leave out --confusion-axes true-rows`},
		{"option missing", "true\\noisy,a,b\na,.75,.25\nb,.5,.5\n", false,
			`:1: the header begins with true\noisy, so its rows are true classes: use --confusion-axes true-rows`},
		{"semicolons", "noisy\\true;a;b\n", false,
			`:1: the header begins with "noisy\\true;a;b", wanted noisy\true and class names, separated by commas`},
		{"header short", "noisy\\true,a\na,1\n", false, `:1: the header lacks classes of the data: "b"`},
		{"header twice", "noisy\\true,a,b,a\n", false, `:1: the header lists class "a" twice, wanted once`},
		{"header of others", "noisy\\true,a,d,e\n", false,
			`:1: the header has names that are no class of the data: "d", "e"; and lacks classes of the data: "b"`},
		{"header with one more", "noisy\\true,a,b,d\n", false,
			`:1: the header has names that are no class of the data: "d"; the data have "a", "b": ` +
				others},
		{"space before a name", "noisy\\true,a, b\n", false,
			`:1: the header has names that are no class of the data: " b"; and lacks classes of the data: "b"`},
		{"header alone", "noisy\\true,a,b\n", false,
			`:1: the file ends without the rows of these classes of the data: "a", "b"`},
		{"row missing", "noisy\\true,a,b\nb,.25,.5\n", false,
			`:2: the file ends without the rows of these classes of the data: "a"`},
		{"row of another", named + "d,0,0\n", false,
			`:4: the row has names that are no class of the data: "d"; the data have "a", "b": ` + others},
		{"row twice", named + "\na,0,0\n", false, `:5: the row of class "a" is here and in line 2, wanted once`},
		{"row ragged", "noisy\\true,a,b\na,.75\n", false, `:2: found 2 fields, wanted 3: a class name and 2 numbers`},
		{"no number", "noisy\\true,a,b\na,.75,x1\n", false,
			`:2: found "x1" in the column of class "b", wanted a number from 0 to 1`},
		{"no entry", "noisy\\true,a,b\na,,1\n", false,
			`:2: found nothing in the column of class "a", wanted a number from 0 to 1`},
		{"broken quote", "noisy\\true,a,b\n\"a,.75,.5\n", false,
			`:2: found broken CSV in column 11: extraneous or missing " in quoted-field`},
		{"quote inside", "noisy\\true,a,b\na,.7\"5,.5\n", false,
			`:2: found broken CSV in column 5: bare " in non-quoted-field`},

		{"not square: wide", "1,0,0\n0,1,0\n", false, `:1: found 3 fields, wanted 2` + data},
		{"not square: short", "1,0\n\n", false, `:2: the file ends after 1 rows, wanted 2` + data},
		{"not square: long", "1,0\n0,1\n0,0\n", false, `:3: found another row after 2, wanted 2 rows` + data},
		{"ragged", "1 0\n0\n", false, `:2: found 1 fields, wanted 2` + data},
		{"separators mixed", "1,0\n0 1\n", false, `:2: found 1 fields, wanted 2` + data},
		{"number cut by a space", "1,0\n0,1 2\n", false, `:2: found "1 2" in field 2, wanted a number from 0 to 1`},
		{"hole", "1,\n0,1\n", false, `:1: found nothing in field 2, wanted a number from 0 to 1`},
		{"trailing junk", "1,0\n0,1x\n", false, `:2: found "1x" in field 2, wanted a number from 0 to 1`},
		{"percent", "50,60\n50,40\n", false, `:1: found 50 in field 1, wanted a number from 0 to 1`},
		{"negative", "1,-.1\n0,1.1\n", false, `:1: found -.1 in field 2, wanted a number from 0 to 1`},
		{"NaN", "NaN,0\n0,1\n", false, `:1: found NaN in field 1, wanted a number from 0 to 1`},
		{"Inf", "1,0\n0,-Inf\n", false, `:2: found -Inf in field 2, wanted a number from 0 to 1`},
		{"too large", "1,0\n0,1e999\n", false, `:2: found 1e999 in field 2, wanted a number from 0 to 1`},
		{"hexadecimal", "1,0x1p-2\n0,1\n", false, `:1: found "0x1p-2" in field 2, wanted a number from 0 to 1`},
		{"decimal commas", "0,9;0,1\n", false, `:1: the first field is "0,9", wanted noisy\true and a header of class names, or a number`},

		{"transposed", ".75,.25\n.5,.5\n", false,
			`: confusion matrix: the column of true class "a" sums to 1.25, wanted 1 within 1e-06; ` +
				`its rows do sum to 1, so the table has true classes in rows: use --confusion-axes true-rows`},
		{"transposed by the option", ".75,.5\n.25,.5\n", true,
			`: confusion matrix: the column of true class "a" sums to 1.25, wanted 1 within 1e-06; ` +
				`its rows do sum to 1, so the table has noisy classes in rows: leave out --confusion-axes true-rows`},
		{"neither", ".75,.25\n.5,.25\n", false,
			`: confusion matrix: the column of true class "a" sums to 1.25, wanted 1 within 1e-06; ` +
				`divide each column by its sum if these are counts or rounded numbers`},
	} {
		path := save(t, "c.csv", []byte(c.text))
		m, err := Read(path, ReadOptions{Classes: []string{"a", "b"}, TrueRows: c.trueRows})
		if m != nil {
			t.Errorf("%s: got a matrix", c.name)
		}
		if want := path + c.want; err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, want)
		}
	}
}

func TestReadManyMissingClasses(t *testing.T) {
	path := save(t, "c.csv", []byte("noisy\\true,c0\n"))
	_, err := Read(path, ReadOptions{Classes: names(14)})
	wantError(t, err, path+`:1: the header lacks classes of the data: `+
		`"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10" and 3 more`)
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	two := ReadOptions{Classes: []string{"a", "b"}}
	missing := filepath.Join(dir, "none.csv")
	_, err := Read(missing, two)
	wantError(t, err, missing+": cannot read the confusion matrix: no such file or directory")
	_, err = Read(dir, two)
	wantError(t, err, dir+": cannot read the confusion matrix: is a directory")
	_, err = Read(missing, ReadOptions{Classes: []string{"a"}})
	wantError(t, err, missing+`: confusion matrix of 1 classes ("a"), wanted 2 or more`)

	whole := gzipped(t, []byte("1,0\n0,1\n"))
	cut := save(t, "cut.csv.gz", whole[:len(whole)-9])
	_, err = Read(cut, two)
	wantError(t, err, cut+": cannot unpack the gzip data: it is cut short; copy or make the file "+
		"again")
	whole[len(whole)-6] ^= 1
	damaged := save(t, "damaged.csv.gz", whole)
	_, err = Read(damaged, two)
	wantError(t, err, damaged+": cannot unpack the gzip data: gzip: invalid checksum")
	stub := save(t, "stub.gz", []byte("\x1f\x8b"))
	_, err = Read(stub, two)
	wantError(t, err, stub+": cannot unpack the gzip data: it is cut short; copy or make the file "+
		"again")

	const limit = " holds more than 1049120 bytes, far too many for this number of classes; is it " +
		"another file?"
	big := []byte(strings.Repeat("1,0\n", 300_000))
	large := save(t, "large.csv", big)
	_, err = Read(large, two)
	wantError(t, err, large+": cannot read the confusion matrix: it"+limit)
	bomb := save(t, "bomb.csv.gz", gzipped(t, big))
	_, err = Read(bomb, two)
	wantError(t, err, bomb+": cannot unpack the gzip data: it"+limit)
}
