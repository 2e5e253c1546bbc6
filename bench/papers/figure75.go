package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/versionspace"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

const figure75About = `The pool has two classes. One example of each class is labelled at the start.
Each question asks for the label of the example nearest to the classifier. active-svm takes the
centre of the largest ball of the version space as classifier, active-bpm its centroid. A billiard
finds the centroid, where the thesis has expectation propagation. random and random-bpm ask about
random examples, and predict with the ball and the centroid. Rows are the test accuracy after each
question. The last row is the largest ball of all labels of the pool.`

var figure75 = &experiment{
	Name: "fig7.5", Usage: "active learning by largest ball and centroid (figure 7.5 of Louche's " +
		"thesis)",
	Paper: thesis + "Figure 7.5",
	About: figure75About + "\n\n" +
		"The ten largest topics of Reuters-21578 and the ten largest newsgroups, each against the " +
		"rest, pools of 500\n" +
		"and 1000, the mean of the topics (a run is one of all topics); and banana, a pool of 400, " +
		"with rbf of\n" +
		"σ = 0.5. The thesis has 25 runs, 50 of banana. Its text tells two numbers.",
	Axis: "questions", Sets: []string{"reuters", "newsgroups", "banana"}, run: runFigure75,
}

var figure75Drawn = &experiment{
	Name: "fig7.5-drawn", Usage: "the same on documents that are drawn, which needs no data",
	Paper: thesis + "Figure 7.5",
	About: figure75About + "\n\n" +
		"Documents of ten topics, of 600 words that are frequent or rare, each against the rest, " +
		"pools of 500.",
	Axis: "questions", run: runFigure75Drawn,
}

// asker is a curve of figure 7.5.
type asker struct {
	name     string
	asks     active.Strategy
	predicts active.Strategy // whose centre is the classifier
}

var askers = []asker{
	{"active-bpm", active.BPM, active.BPM}, {"active-svm", active.SVM, active.SVM},
	{"random", active.Random, active.SVM}, {"random-bpm", active.Random, active.BPM},
}

const (
	activeStream = 0x616374697665 // "active"
	fewQuestions = 10             // up to which each is told of; then every fifth
)

// fewSteps samples centroids by a quarter of what active does: on six topics, twice each,
// accuracies after 5, 10, 20 and 50 questions were 0.822, 0.917, 0.952 and 0.967, and 0.823,
// 0.893, 0.946 and 0.966 with 4096.
var fewSteps = versionspace.Options{MaxSteps: 1024}

// told says whether a number of questions has a row.
func told(questions int) bool { return questions <= fewQuestions || questions%5 == 0 }

// duel is two classes to tell apart, a pool of training examples, and how to see them.
type duel struct {
	train, test *dataset.Dataset
	size        int // of the pool
	questions   int
	centroid    versionspace.Options // how centroids are sampled
	kernel      *fitting.Options
	steps       string
}

func runFigure75(ctx context.Context, r *run) error {
	for _, name := range r.Sets {
		if name == "banana" {
			if err := r.banana(ctx); err != nil {
				return err
			}
			continue
		}
		train, test, err := r.documents(ctx, name)
		if err != nil {
			return err
		}
		for _, size := range []int{500, 1000} {
			d := duel{train: train, test: test, size: size, questions: 100, steps: "bias,l2",
				centroid: fewSteps}
			if err := r.curves(ctx, fmt.Sprintf("%s, pool %d", name, size), d, largestClasses(train,
				10)); err != nil {
				return err
			}
		}
	}
	return nil
}

func runFigure75Drawn(ctx context.Context, r *run) error {
	train, test := drawDocuments(1500, r.Seed, 1), drawDocuments(1000, r.Seed, 2)
	d := duel{train: train, test: test, size: 500, questions: 30, steps: "bias,l2", centroid: fewSteps}
	return r.curves(ctx, "drawn, pool 500", d, largestClasses(train, 10))
}

// documents reads a set of documents.
func (r *run) documents(ctx context.Context, name string) (train, test *dataset.Dataset,
	err error) {
	s := set{train: "reuters21578/reuters52.train.svm.gz", test: "reuters21578/reuters52.test.svm.gz",
		options: file.Options{Features: 21967}}
	if name == "newsgroups" {
		s = set{train: "20news/20news.train.svm.gz", test: "20news/20news.test.svm.gz",
			options: file.Options{Features: 44577}}
	}
	return s.readFiles(ctx, r)
}

// banana has 400 examples to ask about, and tests on the others; another split each run.
func (r *run) banana(ctx context.Context) error {
	s := set{train: "banana/banana.dat.gz", first: 400}
	head, tail, err := s.readFiles(ctx, r)
	if err != nil {
		return err
	}
	all, err := head.Join(tail.Examples)
	if err != nil {
		return err
	}
	y := append(slices.Clone(head.Y), tail.Y...)
	kernel := &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 2}, Components: 399,
		Landmarks: fitting.AllLandmarks}
	split := func(seed uint64) duel {
		order := rand.New(rand.NewPCG(seed, activeStream)).Perm(all.N)
		part := func(which []int) *dataset.Dataset {
			return pick(&dataset.Dataset{Examples: all, Classes: head.Classes,
				Found: dataset.Found{Path: head.Path}}, which, y)
		}
		return duel{train: part(order[:400]), test: part(order[400:]), size: 400, questions: 100,
			kernel: kernel,
			steps:  "none", centroid: fewSteps}
	}
	return r.measure(ctx, "banana", 100, func(seed uint64, accuracy accuracies) error {
		return r.duel(ctx, split(seed>>32), 1, seed, accuracy)
	})
}

// curves measures each topic against the rest, several at a time.
func (r *run) curves(ctx context.Context, data string, d duel, topics []int32) error {
	return r.measure(ctx, data, d.questions, func(seed uint64, accuracy accuracies) error {
		of, failed := make([]accuracies, len(topics)), make([]error, len(topics))
		parallel.Tasks(len(topics), func(k int) {
			of[k] = accuracies{}
			failed[k] = r.duel(ctx, d, topics[k], seed|uint64(topics[k]), of[k])
		})
		for _, a := range of {
			for name, list := range a {
				if accuracy[name] == nil {
					accuracy[name] = make([]float64, len(list))
				}
				for at, v := range list {
					accuracy[name][at] += v / float64(len(topics))
				}
			}
		}
		return errors.Join(failed...)
	})
}

// accuracies has those of each curve after 0, 1, … questions, 0 where nothing is told; and that of
// all labels last.
type accuracies map[string][]float64

// measure makes the runs, each with the seed of its number in the upper half, and the rows.
func (r *run) measure(
	ctx context.Context, data string, questions int, once func(seed uint64, a accuracies) error,
) error {
	var t tally
	for k := range r.Runs {
		found := accuracies{}
		if err := once((r.Seed+uint64(k))<<32, found); err != nil {
			return err
		}
		for _, a := range askers {
			for level := range questions + 2 {
				row := Row{Data: data, Learner: a.name, Level: level, X: float64(level), Measure: Accuracy}
				if last := level == questions+1; last && a.asks == active.SVM {
					row.Learner = "all labels"
				} else if last || !told(level) {
					continue
				}
				if a.asks == active.BPM && level == 10 && data != "banana" {
					row.Paper = number(0.9)
				} else if a.asks == active.BPM && level == 20 && data == "banana" {
					row.Paper = number(0.8)
				}
				t.add(row, found[a.name][level])
			}
		}
		r.Note("%s: %s, run %d of %d", r.name, data, k+1, r.Runs)
	}
	if err := r.writeAll(t); err != nil {
		return err
	}
	return ctx.Err()
}

// duel asks about a pool of d for class topic against the rest.
func (r *run) duel(ctx context.Context, d duel, topic int32, seed uint64,
	accuracy accuracies) error {
	which, y := d.pool(topic, seed)
	x := &dataset.Dataset{Examples: d.train.Pick(which), Classes: []string{"rest", "topic"}}
	x.Path = d.train.Path
	p, err := active.NewPool(ctx, x, host.Options{Engine: r.Engine, Preparation: d.steps,
		Kernel: d.kernel})
	if err != nil {
		return err
	}
	test, err := p.Apply(ctx, r.Engine, d.test.Examples)
	if err != nil {
		return err
	}
	right := func(w engine.Weights) (float64, error) {
		predicted, err := engine.Predict(r.Engine, w, test)
		n := 0
		for i, class := range predicted {
			if (class == 1) == (d.test.Y[i] == topic) {
				n++
			}
		}
		return float64(n) / float64(len(predicted)), err
	}
	for _, a := range askers {
		for i := range p.Labels {
			p.Labels[i] = active.Unknown
		}
		p.Labels[0], p.Labels[1] = y[0], y[1]
		list := make([]float64, d.questions+2)
		o := active.Options{Strategy: a.predicts, K: 1, Seed: seed, Centroid: d.centroid,
			Train: host.Options{Engine: r.Engine}}
		for n := range d.questions + 1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			var centre engine.Weights
			if told(n) || a.asks == a.predicts {
				if centre, _, err = p.Centre(o); err != nil {
					return err
				}
			}
			if told(n) {
				if list[n], err = right(centre); err != nil {
					return err
				}
			}
			var asked []int
			if a.asks == a.predicts {
				asked, err = p.AskBy(o, centre)
			} else {
				asked, err = p.Ask(ctx, active.Options{Strategy: a.asks, K: 1, Seed: seed}, nil)
			}
			if err != nil {
				return err
			}
			for _, i := range asked {
				p.Labels[i] = y[i]
			}
		}
		if a.asks == active.SVM {
			copy(p.Labels, y)
			centre, _, err := p.Centre(o)
			if err != nil {
				return err
			}
			if list[d.questions+1], err = right(centre); err != nil {
				return err
			}
		}
		accuracy[a.name] = list
	}
	return nil
}

// pool draws size training examples, whose first is none of the topic and whose second is, and
// their labels.
func (d duel) pool(topic int32, seed uint64) (which []int, y []int32) {
	order := rand.New(rand.NewPCG(seed, activeStream)).Perm(d.train.N)
	for place := range int32(2) {
		for at := int(place); at < len(order); at++ {
			if (d.train.Y[order[at]] == topic) == (place == 1) {
				order[place], order[at] = order[at], order[place]
				break
			}
		}
	}
	which, y = order[:d.size], make([]int32, d.size)
	for k, i := range which {
		if d.train.Y[i] == topic {
			y[k] = 1
		}
	}
	return which, y
}

// largestClasses returns the n classes of the most examples.
func largestClasses(d *dataset.Dataset, n int) []int32 {
	counts, order := make([]int, len(d.Classes)), make([]int32, len(d.Classes))
	for k := range order {
		order[k] = int32(k)
	}
	for _, y := range d.Y {
		counts[y]++
	}
	slices.SortStableFunc(order, func(a, b int32) int { return counts[b] - counts[a] })
	return order[:min(n, len(order))]
}

// drawDocuments returns n documents of ten topics, 40 words each. A third of the words come from
// the
// 20 words of the topic, the rest from 400 common words. The first common words are frequent.
func drawDocuments(n int, seed, stream uint64) *dataset.Dataset {
	const topics, own, common, words = 10, 20, 400, 40
	random := rand.New(rand.NewPCG(seed, activeStream+stream))
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: topics*own + common, Starts: []int64{0}}}
	for k := range topics {
		d.Classes = append(d.Classes, strconv.Itoa(k))
	}
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
		for j, v := range counts {
			if v > 0 {
				d.Columns, d.Values = append(d.Columns, int32(j)), append(d.Values, v)
			}
		}
		d.Starts, d.Y = append(d.Starts, int64(len(d.Values))), append(d.Y, int32(topic))
	}
	return d
}
