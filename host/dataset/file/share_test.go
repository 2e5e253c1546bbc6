//go:build unix

package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/prepared"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// onRanks has each of count ranks read a file, and returns what they got. A rank that fails ends
// all.
func onRanks(t *testing.T, count int, do func(r ranks.Reducer) (*dataset.Dataset,
	error)) ([]*dataset.Dataset, []error) {
	t.Helper()
	all, errs := make([]*dataset.Dataset, count), make([]error, count)
	var wg sync.WaitGroup
	for rank, r := range ranks.NewGroup(count) {
		wg.Go(func() {
			if all[rank], errs[rank] = do(r); errs[rank] != nil {
				r.Abort(errs[rank])
			}
		})
	}
	wg.Wait()
	return all, errs
}

// shared are texts, with what they are read by.
func sharedTexts() map[string]string {
	var plain, names, numbered, sparse, comment bytes.Buffer
	names.WriteString("\xef\xbb\xbf\"first\",\"second\",\"class\"\r\n\r\n")
	numbered.WriteString(",a,b,label\n")
	for i := range 20000 {
		a, b := float64(i%37)*1.25, float64(i*i%101)/3
		fmt.Fprintf(&plain, "%v,%v,%d,c%d\n", a, b, i%3, i%5)
		fmt.Fprintf(&names, "%v,%v,c%d\r\n", a, b, (i/4000)%7)
		fmt.Fprintf(&numbered, "%d,%v,%v,%d\n", i, a, b, 12-i%11)
		fmt.Fprintf(&comment, "%v;%v;x%d\r\n", a, b, i%2)
		if i%5000 == 7 {
			comment.WriteString("# nothing\n")
		}
		fmt.Fprintf(&sparse, "%d %d:%v # %d\n", i%4, 1+i%50, a+1, i)
		if i%13 == 0 {
			sparse.WriteString("# nothing\n\t \n")
		}
	}
	return map[string]string{"plain.csv": plain.String(), "names.csv": names.String(),
		"numbered.csv": numbered.String(), "comment.csv": comment.String(),
		"sparse.svm": sparse.String(), "table.arff": tableARFF()}
}

func tableARFF() string {
	var b strings.Builder
	b.WriteString("@relation r\n% what\n@attribute a numeric\n@attribute 'b c' real\n@attribute d " +
		"{x,y,'z z'}\n@data\n")
	for i := range 20000 {
		switch i % 9 {
		case 4:
			fmt.Fprintf(&b, "{0 %d, 2 y}\n%% no\n \n", i%7)
		case 6:
			fmt.Fprintf(&b, " %d , %v,'z z'\r\n", i%13, float64(i)/7)
		default:
			fmt.Fprintf(&b, "%d,%v,x\n", i%13, float64(i)/7)
		}
	}
	return b.String()
}

// peopleText is a table of more than numbers: ids, truths, a category, missing values, texts that
// go on in the next line, and some bad examples.
func peopleText(n int, bad ...int) string {
	var b strings.Builder
	b.WriteString("id,member,colour,age,text,class\n")
	for i := range n {
		age, colour := fmt.Sprint(float64(i%900)/7), []string{"red", "blue", `"light, blue"`,
			"NA"}[i*i%7%4]
		if i%11 == 3 {
			age = ""
		}
		if i == n-5 {
			colour = "rare"
		}
		class := "c" + fmt.Sprint(i%4)
		if slices.Contains(bad, i) {
			age = "what"
		}
		fmt.Fprintf(&b, "e%d,%v,%s,%s,\"Word%d and\nword%d, the \"\"%d\"\" # word\",%s\n", i, i%3 == 0,
			colour, age, i%97, i%89, i%7, class)
	}
	return b.String()
}

// peopleOptions read what peopleText has.
func peopleOptions() Options {
	return Options{Table: Table{LabelColumn: "class", IDColumn: "id",
		Encode: &features.EncodeOptions{Missing: "indicator",
			Text: features.TextOptions{Columns: []string{"text"}, MinExamples: 2, Features: 150}}}}
}

// TestShare: what ranks read together is what one process reads, to the hash; each has memory for
// its own examples alone, from and to multiples of 1024 or the end, and a part is what it is of
// the whole, prepared as well.
func TestShare(t *testing.T) {
	dir := t.TempDir()
	options := map[string]Options{}
	for name, text := range sharedTexts() {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		options[path] = Options{Table: Table{Encode: &features.EncodeOptions{}}}
		d, err := Read(t.Context(), path, options[path])
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(t.Context(), path+".umab", d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		options[path+".umab"] = Options{}
		if err := features.Prepare(d, dataset.Steps{MaxAbs: true, Bias: true, L2: true}); err != nil {
			t.Fatal(err)
		}
		if err := Write(t.Context(), path+".prepared.umab", d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		options[path+".prepared.umab"] = Options{}
	}
	array := filepath.Join(dir, "x.npy")
	writeShared(t, array, filepath.Join(dir, "y.txt"))
	options[array] = Options{Labels: filepath.Join(dir, "y.txt")}
	moreShared(t, dir, options)
	for name, o := range options {
		path, _, _ := strings.Cut(name, "?")
		whole, err := Read(t.Context(), path, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, count := range []int{1, 2, 3, 8} {
			t.Run(fmt.Sprint(filepath.Base(name), count), func(t *testing.T) {
				parts, errs := onRanks(t, count, func(r ranks.Reducer) (d *dataset.Dataset, err error) {
					o := o
					o.Ranks = r
					err = dataset.Guard(func() error {
						if d, err = Read(t.Context(), path, o); err != nil {
							return err
						}
						return checkShare(d, whole)
					})
					return d, err
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				end := 0
				for rank, d := range parts {
					from, to := d.Stored().Own()
					if !d.Stored().Shared() || from != end || to%store.MostRows != 0 && to != d.N {
						t.Errorf("rank %d has examples %d..%d, after those before %d", rank, from, to, end)
					}
					end = to
				}
				if end != whole.N {
					t.Errorf("ranks have %d examples, want %d", end, whole.N)
				}
			})
		}
		whole.Close()
	}
}

// moreShared writes further files, and adds by what they are read, behind a question mark if there
// are several ways.
func moreShared(t *testing.T, dir string, options map[string]Options) {
	t.Helper()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	people := write("people.csv", peopleText(9000))
	o := peopleOptions()
	options[people] = o
	o.Storage = "dense"
	options[people+"?dense"] = o
	o.Storage, o.Encode = "", &features.EncodeOptions{Missing: "mean", Categories: []string{"text"},
		Levels: 20000}
	options[people+"?category"] = o
	whole, err := Read(t.Context(), people, peopleOptions())
	if err != nil {
		t.Fatal(err)
	}
	others := strings.NewReplacer(",red,", ",none,", ",blue,", ",other,", "Word5",
		"Strange").Replace(peopleText(9000))
	o = peopleOptions()
	o.Encode, o.Encoding, o.FeatureNames, o.Classes = nil, whole.Encoding, whole.Features,
		whole.Classes
	options[write("others.csv", others)] = o
	lines := strings.SplitAfter(others, ",other,")
	for k := range lines {
		lines[k] = strings.Replace(lines[k], ",other,", fmt.Sprintf(",other%d,", k%170), 1)
	}
	options[write("strange.csv", strings.Join(lines, ""))] = o
	bad := write("bad.csv", peopleText(9000, 1, 2, 3, 4000, 4001, 8999))
	o = peopleOptions()
	o.SkipBad = true
	options[bad] = o
	options[write("few.csv", peopleText(1500, 1, 1200))] = o
	plain := strings.ReplaceAll(sharedTexts()["plain.csv"], "\n7.5,", "\n7.5z,")
	options[write("skipped.csv", plain)] = Options{SkipBad: true, MaxErrors: 3}
	sparse := strings.ReplaceAll(sharedTexts()["sparse.svm"], "\n3 7:", "\n3 7z:")
	options[write("skipped.svm", sparse)] = Options{SkipBad: true}
	rows, _ := parquetRows(9000)
	for name, group := range map[string]int64{"one.parquet": 100000, "many.parquet": 700} {
		text := string(writeParquet(t, rows, parquet.MaxRowsPerRowGroup(group),
			parquet.PageBufferSize(3000)))
		options[write(name, text)] = Options{Table: Table{Ignore: []string{"note"}}}
		options[filepath.Join(dir, name)+"?narrow"] = Options{Table: Table{Ignore: []string{"note"}},
			Storage: "narrow"}
		options[filepath.Join(dir, name)+"?note"] = Options{Table: Table{LabelColumn: "zclass",
			Encode: &features.EncodeOptions{}, IDColumn: "int"}}
	}
	arrays := filepath.Join(dir, "x.npz")
	rng := rand.New(rand.NewPCG(1, 2))
	d := &dataset.Dataset{Examples: dataset.Examples{N: 5000, D: 12}, Classes: []string{"1", "2"}}
	for i := range d.N * d.D {
		if d.X = append(d.X, float32(rng.NormFloat64())); i%d.D == 0 {
			d.Y = append(d.Y, int32(rng.IntN(2)))
		}
	}
	if err := Write(t.Context(), arrays, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	options[arrays] = Options{Storage: "dense"}
	options[filepath.Join(dir, "table.arff")+"?category"] = Options{Table: Table{LabelColumn: "d",
		Encode: &features.EncodeOptions{Categories: []string{"a"}}}}
}

// writeShared writes an array of float64 and its labels.
func writeShared(t *testing.T, array, labels string) {
	t.Helper()
	var x []float64
	var y strings.Builder
	for i := range 3100 {
		for j := range 40 {
			x = append(x, math.Sin(float64(i*40+j)))
		}
		fmt.Fprintln(&y, i%3)
	}
	raw := bytes.NewBuffer(npyfile.Header("<f8", 3100, 40))
	err := errors.Join(npyfile.Write(raw, x), os.WriteFile(array, raw.Bytes(), 0o600),
		os.WriteFile(labels, []byte(y.String()), 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

// checkShare returns how d, shared by ranks, is other than it is in one process,
// before and after a preparation, and picked from. It takes all ranks.
func checkShare(d, whole *dataset.Dataset) error {
	switch {
	case d.N != whole.N || d.D != whole.D || d.Sparse() != whole.Sparse():
		return fmt.Errorf("found %d×%d, sparse %v; want %d×%d, sparse %v", d.N, d.D, d.Sparse(), whole.N,
			whole.D, whole.Sparse())
	case !slices.Equal(d.Y, whole.Y) || !slices.Equal(d.Classes, whole.Classes):
		return fmt.Errorf("found other labels")
	case !slices.Equal(d.IDs, whole.IDs) ||
		fmt.Sprint(d.SkippedAt, d.SkippedErrs) != fmt.Sprint(whole.SkippedAt, whole.SkippedErrs):
		return fmt.Errorf("found other ids, or skipped %v, want %v", d.SkippedAt, whole.SkippedAt)
	case fmt.Sprint(d.Missing) != fmt.Sprint(whole.Missing) || !sameRecipe(d.Encoding, whole.Encoding):
		return fmt.Errorf("found missing values %v, want %v, or another recipe", d.Missing, whole.Missing)
	case d.SHA256 != whole.SHA256:
		return fmt.Errorf("found the hash %s, want %s", d.SHA256, whole.SHA256)
	case d.Hash() != whole.Hash():
		return fmt.Errorf("found another hash the second time")
	case fmt.Sprint(d.Notes, d.Warnings, d.Features, d.Label, d.LabelColumn, d.Subnormals) !=
		fmt.Sprint(whole.Notes, whole.Warnings, whole.Features, whole.Label, whole.LabelColumn,
			whole.Subnormals):
		return fmt.Errorf("found notes %q, %q, features %q; want %q, %q, %q", d.Notes, d.Warnings,
			d.Features, whole.Notes, whole.Warnings, whole.Features)
	}
	if err := checkPart(d.Stored(), whole.Examples); err != nil {
		return err
	}
	if d.Prepared != nil {
		return nil
	}
	steps := []dataset.Steps{{MaxAbs: true, L2: true}, {Bias: true, L2: true}}
	if !d.Sparse() {
		steps = append(steps, dataset.Steps{Standardize: true, Bias: true, L2: true})
	}
	for _, s := range steps {
		a, b := *d, *whole
		if err := errors.Join(features.Prepare(&a, s), features.Prepare(&b, s)); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		if why := prepared.Difference(a.Prepared, b.Prepared); why != "" {
			return errors.New(why)
		}
		if err := checkPart(a.Stored(), b.Examples); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func sameRecipe(a, b *dataset.Encoding) bool {
	one, err := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, two)
}

// checkPart compares the examples that this rank has, and some of all ranks.
func checkPart(e dataset.Stored, whole dataset.Examples) error {
	if err := e.Check(); err != nil {
		return err
	}
	from, to := e.Own()
	a, b := e.Part(from, to), whole.Part(from, to)
	if !equalExamples(a, b) {
		return fmt.Errorf("found other examples %d..%d", from, to-1)
	}
	which := []int{e.N - 1, 0, e.N / 2, 3, 3}
	if a, b := e.Pick(which), whole.Pick(which); !equalExamples(a, b) {
		return fmt.Errorf("picked other examples")
	}
	for _, step := range []int{1, 2} { // the second may be too few to be shared
		var some []int
		for i := 0; i < e.N; i += step {
			some = append(some, i)
		}
		some = slices.DeleteFunc(some, func(i int) bool { return i >= e.N/3 && i < e.N/2 }) // uneven
		kept, release, err := e.Keep(some)
		if err != nil {
			return err
		}
		defer release()
		want := whole.Pick(some)
		from, to := kept.Own()
		if !equalExamples(kept.Part(from, to), want.Part(from, to)) {
			return fmt.Errorf("kept other examples")
		}
	}
	return nil
}

func equalExamples(a, b dataset.Examples) bool {
	bits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	return a.N == b.N && a.D == b.D && slices.EqualFunc(a.X, b.X, bits) && slices.Equal(a.Starts,
		b.Starts) && slices.Equal(a.Columns, b.Columns) && slices.EqualFunc(a.Values, b.Values, bits)
}

// TestShareOfOthers: an example of another rank is a fault, which Guard makes an error.
func TestShareOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.csv")
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "%d,%d,%d,%d\n", i, i%7, i%11, i%2)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs := onRanks(t, 2, func(r ranks.Reducer) (*dataset.Dataset, error) {
		d, err := Read(t.Context(), path, Options{Placement: Placement{Ranks: r}})
		if err != nil {
			return nil, err
		}
		err = dataset.Guard(func() error {
			other := d.N - 1
			if d.Stored().At.Shared().From > 0 {
				other = 0
			}
			return fmt.Errorf("read %v", d.Row(other)[0])
		})
		if !facts.Told(err, "this rank") {
			return nil, fmt.Errorf("found %v", err)
		}
		return d, r.Barrier(t.Context())
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestShareFaults: what is wrong with a file is told on all ranks, as one process tells it.
func TestShareFaults(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, text := range sharedTexts() {
		lines := strings.SplitAfter(text, "\n")
		for _, k := range []int{8000, 19850, 19990} {
			at := len(lines) * k / 20000
			lines[at] = strings.Replace(lines[at], "1", "1z", 1)
		}
		path := write(name, strings.Join(lines, ""))
		sameFaults(t, name, path, Options{})
		sameFaults(t, name+", several", path, Options{MaxErrors: 2})
		sameFaults(t, name+", skipped", path, Options{SkipBad: true})
	}
	o := peopleOptions()
	o.Encode.Missing = "error"
	sameFaults(t, "missing", write("missing.csv", peopleText(6000)), o)
	rows, _ := parquetRows(9000)
	rows[8500].Float = float32(math.Inf(1))
	table := string(writeParquet(t, rows, parquet.MaxRowsPerRowGroup(3000)))
	sameFaults(t, "Parquet", write("bad.parquet", table),
		Options{Table: Table{Ignore: []string{"note"}}})
	sameFaults(t, "cut Parquet", write("cut.parquet", table[:len(table)-9]),
		Options{Table: Table{Ignore: []string{"note"}}})
}

// sameFaults wants of ranks the error that one process has, if it has one.
func sameFaults(t *testing.T, name, path string, o Options) {
	t.Helper()
	whole, want := Read(t.Context(), path, o)
	for _, count := range []int{2, 5} {
		_, errs := onRanks(t, count, func(r ranks.Reducer) (*dataset.Dataset, error) {
			o := o
			o.Ranks = r
			d, err := Read(t.Context(), path, o)
			if err == nil && want == nil && d.SHA256 != whole.SHA256 {
				err = errors.New("found other data")
			}
			return d, err
		})
		for rank, err := range errs {
			if (err == nil) != (want == nil) || err != nil && !strings.HasSuffix(err.Error(), want.Error()) {
				t.Errorf("%s, rank %d of %d: found\n%v\nwant\n%v", name, rank, count, err, want)
			}
		}
	}
}
