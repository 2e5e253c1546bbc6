package file

import (
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Data made of slices are what a file says, to the hash.
func TestNewIsWhatReadGives(t *testing.T) {
	for _, c := range []struct {
		labels []string
		text   string
	}{
		{[]string{"b", "a", " b "}, "x,y,c\n1,0,b\n-0,1e-40,a\n3,4, b \n"},
		{[]string{"10", "9", "-1"}, "x,y,c\n1,0,10\n-0,1e-40,9\n3,4,-1\n"},
	} {
		for _, storage := range []string{"dense", "sparse"} {
			want, err := readText("f", c.text, Options{Storage: storage})
			if err != nil {
				t.Fatal(err)
			}
			x := examples(2, 1, 0, negativeZero, 1e-40, 3, 4)
			if storage == "sparse" {
				x = x.Compressed()
			}
			features := []string{"x", "y"}
			d, err := dataset.New(x, c.labels, features)
			if err != nil {
				t.Fatal(err)
			}
			if d.SHA256 != want.SHA256 || d.Subnormals != 1 || !slices.Equal(d.Classes, want.Classes) ||
				!slices.Equal(d.Y, want.Y) || !slices.Equal(d.Features, features) {
				t.Errorf("%s, %q: made %+v\nread %+v", storage, c.labels, d, want)
			}
			if at := slices.Index(append(x.X, x.Values...), 1e-40); at < 0 {
				t.Error("New wrote to the examples it was handed")
			}
		}
	}
	d, err := dataset.New(examples(1, 1, 2), nil, nil)
	if err != nil || d.Y != nil || d.Classes != nil {
		t.Errorf("without labels: %+v, %v", d, err)
	}
	if d, err = dataset.New(examples(1, 1, 2), []string{"a", "a"}, nil); err != nil ||
		len(d.Classes) != 1 {
		t.Errorf("one class: %+v, %v", d, err)
	}
}

func TestNewBad(t *testing.T) {
	two := examples(1, 1, 2)
	for _, c := range []struct {
		x                dataset.Examples
		labels, features []string
		want             string
	}{
		{two, []string{"a"}, nil, "1 labels 2"},
		{two, []string{"a", ""}, nil, "label 1 0 empty"},
		{two, []string{"a", "b\n"}, nil, "control character"},
		{two, nil, []string{"x", "y"}, "2 feature 1 features"},
		{examples(1, 1, float32(math.NaN())), nil, nil, "example 2 column 1 NaN"},
		{dataset.Examples{}, nil, nil, "no example"},
		{dataset.Examples{N: 2, D: 3, X: make([]float32, 5)}, nil, nil, "5 values"},
	} {
		if _, err := dataset.New(c.x, c.labels, c.features); !facts.Told(err, c.want) {
			t.Errorf("found %v, wanted %q", err, c.want)
		}
	}
}
