package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// long is text of three segments of examples and a little more.
func long(libsvm bool) string {
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	if !libsvm {
		b.WriteString("x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11,x12,x13,x14,x15,x16,class\n")
	}
	for range 3*segmentValues/16 + 100 {
		class := []string{"b", "a", "10"}[rng.IntN(3)]
		if libsvm {
			b.WriteString(class)
		}
		for j := range 16 {
			if libsvm {
				fmt.Fprintf(&b, " %d:%d", 8*j+1+rng.IntN(8), 1+j)
			} else {
				b.WriteByte('0' + byte(rng.IntN(9)))
				b.WriteByte(',')
			}
		}
		if !libsvm {
			b.WriteString(class)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// streamOf reads text as a stream whose first block is a segment.
func streamOf(t *testing.T, name, text string, o Options) (*Stream, error) {
	return openStream(func(block func(*dataset.Dataset) error) error {
		l := defaultLimits
		l.first = 1
		s, err := newSource(t.Context(), name, strings.NewReader(text), l)
		if err == nil {
			c := &collector{name: name, block: block}
			o.survey.once = true
			if err = c.enter(s, &o); err == nil {
				_, err = c.finish()
			}
		}
		return err
	})
}

// A stream has the examples, labels and names that Read finds in all of the file.
func TestStream(t *testing.T) {
	for name, text := range map[string]string{"f.csv": long(false), "f.svm": long(true)} {
		want, err := readText(name, text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := streamOf(t, name, text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.First.Classes, want.Classes) || s.First.D != want.D {
			t.Errorf("%s: found %d features and the classes %q first, wanted %d and %q", name, s.First.D,
				s.First.Classes, want.D, want.Classes)
		}
		at, blocks := 0, 0
		for ; ; blocks++ {
			d, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			part := want.Part(at, at+d.N)
			equal := d.D == part.D && slices.Equal(d.X, part.X) && slices.Equal(d.Columns, part.Columns) &&
				slices.Equal(d.Values, part.Values) && slices.Equal(d.Y, want.Y[at:at+d.N])
			equal = equal && d.LabelColumn == want.LabelColumn && d.Label == want.Label
			if !equal || !slices.Equal(d.Features, want.Features) {
				t.Fatalf("%s: block %d, of %d examples after %d, has others than the file", name, blocks, d.N,
					at)
			}
			at += d.N
		}
		s.Close()
		if at != want.N || blocks < 3 {
			t.Errorf("%s: found %d examples in %d blocks, wanted %d in more than 2", name, at, blocks,
				want.N)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	svm := long(true)
	csv, three := long(false), []string{"a", "b", "10"}
	for _, c := range []struct {
		text string
		o    Options
		said string
	}{
		{svm + "c 1:1\n", Options{}, `"c" 3 classes "10" "a" "b"`},
		{svm + "a 199:1\n", Options{}, "128 largest"},
		{svm + "a 199:1\n", Options{Features: 198}, "198 width"},
		{strings.TrimSuffix(csv, "\n") + "x\n", Options{Classes: three}, "3 classes"},
		{csv + "1,c\n", Options{}, "2 fields 17 line 1"},
		{"1,2,a\n3,4,a\n", Options{}, `"a" 2 examples`},
		{"", Options{}, "no example"},
	} {
		s, err := streamOf(t, "f", c.text, c.o)
		for err == nil {
			if _, err = s.Next(); err == io.EOF {
				t.Fatalf("%s: found no error", c.said)
			}
		}
		if !facts.Told(err, c.said) {
			t.Errorf("found %v, wanted %s", err, c.said)
		}
	}
}

func TestOpenStreamRefuses(t *testing.T) {
	o := Options{Features: -1, Stdin: strings.NewReader("1,a\n2,b\n")}
	if _, err := OpenStream(t.Context(), "-", []string{"-"}, o); !facts.Told(err, "-1 features") {
		t.Errorf("found %v, wanted no features below 0", err)
	}
	if _, err := OpenStream(t.Context(), "f", []string{"/nowhere.csv"}, Options{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("found %v, wanted that there is no file", err)
	}
}

// A stream that nobody reads on, or whose context ends, ends.
func TestStreamEnds(t *testing.T) {
	text := strings.Repeat(long(false), 6)
	text = strings.ReplaceAll(text, text[:strings.IndexByte(text, '\n')+1], "")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := OpenStream(ctx, "-", []string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, wanted the context's error", err)
	}
	if s, err = OpenStream(t.Context(), "-", []string{"-"},
		Options{Stdin: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
	s.Close()
}
