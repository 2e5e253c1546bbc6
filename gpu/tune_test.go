//go:build cgo && !noopencl

package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// tuneProblem has classes that overlap, so that there are steps to make.
func tuneProblem(n, d, q int) Problem {
	rng := rand.New(rand.NewPCG(7, 8))
	p := Problem{X: dataset.Examples{N: n, D: d, X: make([]float32, n*d)}, Y: make([]int32, n), Classes: q,
		Inverse: make([]float32, q*q), Repeat: 1}
	for i := range n {
		p.Y[i] = int32(rng.IntN(q))
		for j := range d {
			p.X.X[i*d+j] = float32(rng.NormFloat64())
		}
		p.X.X[i*d+int(p.Y[i])%d] += 1
	}
	for k := range q {
		p.Inverse[k*q+k] = 1
	}
	return p
}

// only returns the parameters of these names.
func only(names ...string) (some []parameter) {
	for _, p := range parameters {
		if slices.Contains(names, p.name) {
			some = append(some, p)
		}
	}
	return some
}

// A candidate whose kernels are wrong is rejected, also if they pass the self-test,
// and one that does not compile has failed; neither ends the search or is the best.
func TestTuneRejects(t *testing.T) {
	eachDevice(t, func(i Info) {
		for _, c := range []struct {
			style, parameter string
			value            int
			file, from, to   string
			verdict          Verdict
			want             string
		}{
			{"cpu", "score_rows", 4, "score.cl", "if (first + k < end)", "if (first + k < end - 1)", Rejected, "self-test: score differs from the known answer at index "},
			{"cpu", "score_rows", 16, "score.cl", "= score[c];", "= score[c] * (first + k == 297 ? 1.0f + 0x1p-23f : 1.0f);", Rejected, "score differs from the default's at index "},
			{"gpu", "score_width", 8, "score.cl", "if (u < end)", "if (u < end && (listed != 1 || u != 20))", Rejected, "assign differs from the default's in step "},
			{"cpu", "sum_columns", 32, "sums.cl", "int at = begin", "int at = begin + (begin > 100)", Rejected, "class sums differs from the default's at index "},
			{"cpu", "group", 64, "bound.cl", "FMA(rho, eta, MUL(nu, ADD(theta, (lanes_t)(slack[r]))))", "0.0f", Rejected, "differs from the default's "},
			{"cpu", "score_rows", 4, "score.cl", "int listed", "nonsense listed", Failed, "nonsense"},
		} {
			t.Run(i.ID()+"/"+c.parameter+" "+c.want, func(t *testing.T) {
				sources, err := kernels.Sources()
				if err != nil {
					t.Fatal(err)
				}
				broken := mutate(t, c.file, c.from, c.to)
				search := &tuner{Problem: tuneProblem(300, 7, 3), info: i, parameters: only(c.parameter),
					builds: func(of Tuning) build {
						b := build{sources: sources, style: c.style, bounds: "at once", guard: guardBytes}
						for _, p := range only(c.parameter) {
							if *p.of(&of) == c.value {
								b.sources = broken
							}
						}
						return b
					}}
				if err := search.run(context.Background()); err != nil {
					t.Fatal(err)
				}
				for _, found := range search.report.Candidates {
					if found.Value != c.value {
						if found.Ratio == nil || found.Seconds == nil || found.Bounded == nil || !(*found.Ratio > 0) {
							t.Errorf("found %+v", found)
						}
						continue
					}
					if found.Verdict != c.verdict || !strings.Contains(found.Reason, c.want) || found.Ratio != nil {
						t.Errorf("found %s, want %s: %s", found, c.verdict, c.want)
					}
				}
				if *only(c.parameter)[0].of(&search.report.Best) == c.value {
					t.Errorf("the best is %+v", search.report.Best)
				}
			})
		}
	})
}

// A search, dense and sparse, finds nothing wrong, frees all memory, and its best can
// be opened.
func TestTune(t *testing.T) {
	eachDevice(t, func(i Info) {
		sources, err := kernels.Sources()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			style      string
			sparse     bool
			parameters []parameter
		}{
			{"cpu", false, only("score_group", "sum_rows")},
			{"gpu", false, only("score_group", "group")},
			{"gpu", true, parameters},
		} {
			b := build{sources: sources, style: c.style, guard: guardBytes}
			search := &tuner{Problem: tuneProblem(200, 9, 4), info: i, parameters: c.parameters,
				builds: func(Tuning) build { return b }}
			if c.sparse {
				search.X = search.X.Compressed()
			}
			var told lastTask
			if err := search.run(progress.With(context.Background(), &told)); err != nil {
				t.Fatal(err)
			}
			r := search.report
			if task := told.ended; task == nil || task.Total != task.Done() && task.Total != task.Done()+measurements(1) {
				t.Errorf("%s: told of %+v, wanted all measurements, or all but those that confirm", c.style, task)
			}
			if len(r.Candidates) == 0 || r.Default.ScoreRows != 8 {
				t.Errorf("%s: found %+v", c.style, r)
			}
			for _, found := range r.Candidates {
				if found.Verdict == Rejected {
					t.Errorf("%s: %s", c.style, found)
				}
			}
			if err := engine.SelfTest(openTest(t, i, Options{Tuning: r.Best}, b)); err != nil {
				t.Error(err)
			}
		}
	})
}

// lastTask is a listener that keeps the task that ended last.
type lastTask struct{ ended *progress.Task }

func (l *lastTask) Began(*progress.Task)   {}
func (l *lastTask) Moved(*progress.Task)   {}
func (l *lastTask) Ended(t *progress.Task) { l.ended = t }

func TestTuneEnds(t *testing.T) {
	eachDevice(t, func(i Info) {
		ctx, cancel := context.WithCancel(context.Background())
		p := tuneProblem(50, 3, 2)
		p.Say = func(string, ...any) { cancel() }
		if _, err := Tune(ctx, i, Options{}, p); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
		p.Say, p.Repeat = nil, 0
		if _, err := Tune(context.Background(), i, Options{}, p); err == nil ||
			!strings.Contains(err.Error(), "wanted at least 1") {
			t.Errorf("no measurement: %v", err)
		}
		p.Repeat = 1
		clear(p.Y) // one class alone: W = 0 is as good as any
		if _, err := Tune(context.Background(), i, Options{}, p); err == nil ||
			!strings.Contains(err.Error(), "take other examples") {
			t.Errorf("nothing to learn: %v", err)
		}
	})
}

func TestTuningCheck(t *testing.T) {
	for _, bad := range []Tuning{{ScoreRows: 1}, {ScoreRows: 12}, {ScoreRows: 32}, {ScoreGroup: -64}, {ScoreWidth: 512},
		{SumColumns: 2048}, {SumRows: 1 << 17}, {Group: 3}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
		eachDevice(t, func(i Info) {
			if e, err := Open(i, Options{Tuning: bad}); err == nil {
				e.Close()
				t.Errorf("%+v was opened", bad)
			}
		})
	}
	for _, cpu := range []bool{true, false} {
		d := defaultTuning(cpu)
		if err := d.Check(); err != nil || d.or(defaultTuning(!cpu)) != d || (Tuning{}).or(d) != d {
			t.Errorf("default %+v: %v", d, err)
		}
		for _, p := range parameters {
			for _, v := range append(p.candidates(cpu, false, 0), p.candidates(cpu, true, 0)...) {
				var c Tuning
				if *p.of(&c) = v; c.Check() != nil {
					t.Errorf("candidate %d of %s is none", v, p.name)
				}
			}
		}
	}
	if got := (Tuning{ScoreGroup: 64, Group: 8}).within(16); got != (Tuning{ScoreGroup: 16, Group: 8}) {
		t.Errorf("found %+v", got)
	}
}

// Where all kernels but those of one tuning waste time, that one is found, and found
// once more.
func TestTuneFinds(t *testing.T) {
	eachDevice(t, func(i Info) {
		sources, err := kernels.Sources()
		if err != nil {
			t.Fatal(err)
		}
		slow := mutate(t, "score.cl", "float score[CLASSES];",
			"float score[CLASSES]; for (volatile int k = 0; k < 50000; k++);")
		search := &tuner{Problem: tuneProblem(300, 7, 3), info: i, parameters: only("score_rows"),
			builds: func(of Tuning) build {
				if of.ScoreRows == 4 {
					return build{sources: sources, style: "cpu"}
				}
				return build{sources: slow, style: "cpu"}
			}}
		if err := search.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := search.report.Default
		want.ScoreRows = 4
		if r := search.report; r.Best != want || !(r.Ratio < 1-gain) || r.Candidates[0].Verdict != Faster {
			t.Errorf("found %+v", r)
		}
	})
}
