package main

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// TestFigure75: questions where the classifier is least sure teach more than random ones, and of
// documents that can be told apart few are enough.
func TestFigure75(t *testing.T) {
	e := open(t, simd.New())
	train, test := drawDocuments(400, 1, 1), drawDocuments(300, 1, 2)
	found := map[string]map[int]float64{}
	r := &run{options: options{Engine: e, Runs: 2, Seed: 1, Note: func(string, ...any) {}},
		name: "fig7.5-drawn"}
	r.emit = func(row Row) error {
		if found[row.Learner] == nil {
			found[row.Learner] = map[int]float64{}
		}
		found[row.Learner][row.Level] = row.Mean
		return nil
	}
	d := duel{train: train, test: test, size: 200, questions: 15, steps: "l2"}
	if err := r.curves(t.Context(), "drawn", d.always, largestClasses(train, 2)); err != nil {
		t.Fatal(err)
	}
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	if len(found) != 5 || len(found["random"]) != 12 || found["all labels"][16] < 0.99 {
		t.Fatalf("found %v", found)
	}
	for _, name := range []string{"active-svm", "active-bpm"} {
		if last := found[name][15]; last < 0.97 || last < found["random"][15]+0.01 {
			t.Errorf("%s is right about %v after 15 questions, random %v", name, last, found["random"][15])
		}
	}
}

// drawDocuments returns n documents of ten topics, 40 words each. A third of the words come from
// the 20 words of the topic, the rest from 400 common words. The first common words are frequent.
func drawDocuments(n int, seed, stream uint64) *dataset.Dataset {
	const topics, own, common, words = 10, 20, 400, 40
	random := rand.New(rand.NewPCG(seed, activeStream+stream))
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: topics*own + common, Starts: []int64{0}},
		Classes: classNames(topics)}
	for range n {
		topic := random.IntN(topics)
		counts := make([]float32, d.D)
		for range words {
			if random.IntN(3) == 0 {
				counts[topic*own+random.IntN(own)]++
			} else {
				u := random.Float64()
				counts[topics*own+int(float64(float64(u*u)*common))]++
			}
		}
		for j, count := range counts {
			if count > 0 {
				d.Columns, d.Values = append(d.Columns, int32(j)), append(d.Values, count)
			}
		}
		d.Starts, d.Y = append(d.Starts, int64(len(d.Values))), append(d.Y, int32(topic))
	}
	return d
}
