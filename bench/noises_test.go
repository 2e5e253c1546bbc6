package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestInjected(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 9000, D: 1}, Classes: []string{"a", "b", "c"}}
	for i := range d.N {
		d.Y = append(d.Y, int32(i%3))
	}
	for _, o := range injected {
		y, c, err := o.labels(t.Context(), "", d, 1)
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		if o.name == right.name {
			if c != nil || !slices.Equal(y, d.Y) {
				t.Errorf("%s: changed labels, or has the matrix %v", o.name, c)
			}
			continue
		}
		seen, err := observed(y, d)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range seen.P {
			if diff := p - c.P[i]; diff < -0.04 || diff > 0.04 {
				t.Errorf("%s: labels were drawn from %v, C is %v", o.name, seen.P, c.P)
				break
			}
		}
		again, _, _ := o.labels(t.Context(), "", d, 1)
		other, _, _ := o.labels(t.Context(), "", d, 2)
		if !slices.Equal(y, again) || slices.Equal(y, other) {
			t.Errorf("%s: the seed does not decide the labels", o.name)
		}
	}
}

func TestObserved(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 4, D: 1}, Classes: []string{"a", "b", "c"}}
	d.Y = []int32{0, 0, 1, 1}
	c, err := observed([]int32{0, 2, 1, 1}, d)
	if want := []float64{.5, 0, 0, 0, 1, 0, .5, 0, 1}; err != nil || !slices.Equal(c.P, want) {
		t.Errorf("found %v, %v; want %v", c, err, want)
	}
	if _, err := observed([]int32{0}, d); err == nil {
		t.Error("too few labels are no error")
	}
}

func TestColumn(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.csv"), pack(t, "1\n2\n3\n4\n"))
	write(t, filepath.Join(dir, "y.csv"), pack(t, "true,noisy\nb,b\na,b\nb,b\na,a\n"))
	from := func(column string) part {
		return part{path: "x.csv", options: file.Options{Labels: "y.csv",
			Table: file.Table{LabelColumn: column}}}
	}
	d, err := from("true").read(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	y, c, err := column("it", from("noisy")).labels(t.Context(), dir, d, 1)
	if err != nil || !slices.Equal(y, []int32{1, 1, 1, 0}) || !slices.Equal(c.P, []float64{.5, 0, .5,
		1}) {
		t.Errorf("found %v, %v, %v", y, c, err)
	}
	d.D = 2
	if _, _, err := column("it", from("noisy")).labels(t.Context(), dir, d, 1); err == nil {
		t.Error("other examples are no error")
	}
}

func TestCrowd(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"said":    "task,worker,label\n0,7,a\n1,7,b\n0,8,b\n1,8,b\n0,9,b\n2,9,a\n2,8,b\n",
		"named":   "song,label\ny,a\nx,b\ny,b\nz,a\n",
		"songs":   "year,song\n1,x\n2,y\n3,z\n",
		"few":     "year,song\n1,x\n",
		"stray":   "task,label\n0,a\n3,a\n",
		"unknown": "task,label\n0,a\n1,d\n",
		"lacks":   "task,label\n0,a\n1,a\n",
		"ragged":  "task,label\n0\n",
		"empty":   "",
	} {
		write(t, filepath.Join(dir, name), pack(t, text))
	}
	d := &dataset.Dataset{Examples: dataset.Examples{N: 3, D: 1}, Y: []int32{0, 1, 1},
		Classes: []string{"a", "b"}}
	for _, c := range []struct {
		crowd crowdTable
		want  [][]int32
	}{
		{crowdTable{path: "said", item: "task", label: "label"}, [][]int32{{0, 1, 1}, {1, 1}, {0, 1}}},
		{crowdTable{path: "named", item: "song", label: "label", items: "songs"}, [][]int32{{1}, {0, 1},
			{0}}},
	} {
		given, err := c.crowd.read(dir, d)
		if err != nil || !slices.EqualFunc(given, c.want, slices.Equal) {
			t.Errorf("%s: found %v, %v; want %v", c.crowd.path, given, err, c.want)
		}
	}
	for _, c := range []struct {
		crowd   crowdTable
		problem string
	}{
		{crowdTable{path: "said", item: "task", label: "class"}, `said:1 "class"`},
		{crowdTable{path: "stray", item: "task", label: "label"}, `stray:3 "3"`},
		{crowdTable{path: "unknown", item: "task", label: "label"}, `unknown:3 "1" "d"`},
		{crowdTable{path: "lacks", item: "task", label: "label"}, `lacks "2"`},
		{crowdTable{path: "ragged", item: "task", label: "label"}, "ragged line 2"},
		{crowdTable{path: "empty", item: "task", label: "label"}, "empty table"},
		{crowdTable{path: "named", item: "song", label: "label", items: "few"}, "few 1 items"},
		{crowdTable{path: "none", item: "song", label: "label"}, "none file"},
	} {
		if _, err := c.crowd.read(dir, d); !facts.Told(err, c.problem) {
			t.Errorf("%s: error %v, want one with %q", c.crowd.path, err, c.problem)
		}
	}
	said := crowdTable{path: "said", item: "task", label: "label"}
	votes, ones := map[[3]int32]bool{}, map[[3]int32]bool{}
	for seed := range uint64(40) {
		for _, c := range []struct {
			noise noise
			seen  map[[3]int32]bool
		}{{majority(said), votes}, {oneAnnotator(said), ones}} {
			y, _, err := c.noise.labels(t.Context(), dir, d, seed)
			if err != nil {
				t.Fatal(err)
			}
			c.seen[[3]int32(y)] = true
		}
	}
	// The last item has one vote for each class.
	if len(votes) != 2 || !votes[[3]int32{1, 1, 0}] || !votes[[3]int32{1, 1, 1}] {
		t.Errorf("majorities %v", votes)
	}
	if len(ones) != 4 || !ones[[3]int32{0, 1, 0}] {
		t.Errorf("single labels %v", ones)
	}
}
