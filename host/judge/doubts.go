package judge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Codes of doubts of the training; learners have more.
const (
	NegativeError     string = "negative-error"      // the estimated error is clearly below 0
	UnexplainedLabels string = "unexplained-labels"  // C does not explain the labels
	TurnedConfusion   string = "turned-confusion"    // the transpose of C does
	ClassNotPredicted string = "class-not-predicted" // a class has labels and no predictions
	ConvergedAtOnce   string = "converged-at-once"   // nothing was learned, with a large error
	EstimatedNoise    string = "estimated-confusion" // C has standard errors
	NoiseByFeatures   string = "noise-by-features"   // C holds for easy examples and not for hard ones
)

// Thresholds of doubts: the p-value of the labels under C and the share that C leaves unexplained.
const (
	doubtful    = 1e-3
	unexplained = 0.01
	mostDoubted = 200 // classes; the time is cubic in them
)

// Ended is the outcome of a training for Doubts.
type Ended struct {
	Problem        *learners.Problem
	Classes        []string
	D              int                // columns of the weights
	Counts         []int64            // Q×Q, examples by prediction (row) and noisy label
	Inverse        *confusion.Inverse // C⁻¹ of EstimatedError
	EstimatedError float64
	Steps          int
	AtOnce         bool             // converged after at most one step of an iterative learner
	Doubts         []learners.Doubt // of the learner
}

// Doubts returns evidence against C or the result: a negative estimated error, labels that C does
// not explain, classes that are never predicted, convergence at the first step.
func Doubts(ctx context.Context, r *Ended) ([]learners.Doubt, error) {
	classes, noise, n := r.Classes, r.Problem.Noise, lists.Sum(r.Counts)
	if e := r.Problem.Evidence; e != nil && e.Classes != nil {
		noise = nil // C says nothing of sets and distributions
	}
	q := len(classes)
	if n == 0 {
		return nil, nil
	}
	var all []learners.Doubt
	off := standardError(r, n)
	if noise != nil && r.EstimatedError < -2*off {
		all = append(all, learners.Doubt{Code: NegativeError, Finding: fmt.Sprintf(
			"the estimated error is %.1f %% ± %.1f, below 0: the confusion matrix claims more noise than "+
				"the labels have, or the model memorised labels", 100*r.EstimatedError, 100*off),
			Advice: "check the confusion matrix"})
	}
	if noise != nil && q <= mostDoubted {
		d, err := unexplainedLabels(ctx, r, n >= int64(q)*int64(r.D))
		if err != nil {
			return nil, err
		}
		all = append(all, d...)
	}
	if never := neverPredicted(r.Counts, classes); len(never) > 0 {
		all = append(all, learners.Doubt{Code: ClassNotPredicted, Finding: fmt.Sprintf(
			"no example is predicted as %s, though some are labelled so", strings.Join(never, ", ")),
			Advice: "use more steps or a smaller penalty, or check whether the confusion matrix explains " +
				"these labels by other classes"})
	}
	if r.AtOnce && math.Abs(r.EstimatedError) > max(unexplained, 2*off) {
		all = append(all, learners.Doubt{Code: ConvergedAtOnce, Finding: fmt.Sprintf(
			"the training found nothing left to learn after step %d, with an estimated error of %.1f "+
				"%%", r.Steps, 100*r.EstimatedError), Advice: atOnceAdvice(noise)})
	}
	return append(all, r.Doubts...), nil
}

// Of labels that a model and C do not explain alike for easy and hard examples: standard errors,
// and the share.
const (
	surelyByFeatures = 4
	muchByFeatures   = 0.1
)

// OfNoise returns doubts about what is corrected by the matrix, nil for none: coverage, accuracy.
// p are Q numbers of each example; if they are probabilities, how often labels differ from the
// predicted class is compared with what p and C say of it, for the surer and the less sure half.
func OfNoise(p []float32, y []int32, noise *confusion.Matrix, probabilities bool,
) (all []learners.Doubt) {
	if noise == nil {
		return nil
	}
	if noise.Error != nil {
		all = append(all, learners.Doubt{Code: EstimatedNoise, Finding: "the confusion matrix is an " +
			"estimate: what is corrected by it counts its standard errors, and is wrong where its method " +
			"is", Advice: "check a few hundred labels for what must be relied on"})
	}
	if !probabilities {
		return all
	}
	q, n := noise.Q(), len(y)
	sure := make([]float32, n)
	for i := range sure {
		sure[i] = slices.Max(p[i*q : (i+1)*q])
	}
	order := lists.UpTo[int](n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sure[a], sure[b]) })
	off := func(k int) float64 {
		i := order[k]
		row := p[i*q : (i+1)*q]
		class := lists.Largest(row)
		less := 0.0
		for t, v := range row {
			less += float64(float64(v) * noise.P[class*q+t])
		}
		if int(y[i]) == class {
			return 1 - less
		}
		return -less
	}
	half := n / 2
	hard, hardOff := lists.MeanError(half, off)
	easy, easyOff := lists.MeanError(n-half, func(k int) float64 { return off(half + k) })
	differ := easy - hard
	if math.Abs(differ) > max(muchByFeatures, surelyByFeatures*math.Hypot(hardOff, easyOff)) {
		all = append(all, learners.Doubt{Code: NoiseByFeatures, Finding: fmt.Sprintf("of easy examples "+
			"%.1f %% more labels are the predicted class than the confusion matrix says, and of hard ones "+
			"%.1f %%: the noise depends on the features, or the probabilities are off", 100*easy, 100*hard),
			Advice: "what is corrected by the matrix is then wrong: check labels, or use a model that fits"})
	}
	return all
}

func atOnceAdvice(noise *confusion.Matrix) string {
	if noise == nil {
		return "see whether the features tell classes apart, and prepare them otherwise (" +
			quote.Option("normalize") + ")"
	}
	return "check whether the confusion matrix claims too much noise, and whether the features tell " +
		"classes apart"
}

// explainsBetter reports whether the transposed matrix explains what the matrix, e, does not.
func explainsBetter(turned, e *Explanation) bool {
	return !contradicted(turned) || turned.Deviance < e.Deviance/4
}

// contradicted reports whether an explanation leaves more labels than chance does.
func contradicted(e *Explanation) bool {
	return e.P < doubtful && e.Unexplained > unexplained
}

// standardError returns the standard error of the estimated error, over the labels of n examples.
func standardError(r *Ended, n int64) float64 {
	mean, squares := 0.0, 0.0
	for i, v := range r.Counts {
		share := float64(v) / float64(n)
		mean += share * r.Inverse.V[i]
		squares += share * r.Inverse.V[i] * r.Inverse.V[i]
	}
	return math.Sqrt(max(0, squares-mean*mean) / float64(n))
}

// neverPredicted returns the quoted names of at most three classes with labels and no predictions,
// and the number of others.
func neverPredicted(counts []int64, classes []string) []string {
	q := len(classes)
	var names []string
	more := 0
	for p, name := range classes {
		labelled := int64(0)
		for other := range q {
			labelled += counts[other*q+p]
		}
		row := counts[p*q : (p+1)*q]
		switch {
		case labelled == 0 || slices.Max(row) > 0:
		case len(names) < 3:
			names = append(names, fmt.Sprintf("%q", name))
		default:
			more++
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d other classes", more))
	}
	return names
}

// Limits of the examples that are divided without C.
const (
	mostDivided   = 20000   // examples
	leastDivided  = 1000    // examples, whatever dividedValues says
	dividedValues = 1 << 24 // values, which are copied
)

// unexplainedLabels returns at most one doubt about C from the labels. Examples are divided in two
// ways, and C must explain the labels of each part for some shares of true classes: by prediction,
// unless the labels may be memorised, and by the nearest mean of the examples with each label,
// which does not use C. A learner with a wrong C may find parts that this C explains, mixtures of
// classes, as UMA does with a transposed C.
func unexplainedLabels(ctx context.Context, r *Ended, byPrediction bool) ([]learners.Doubt, error) {
	noise := r.Problem.Noise
	part := "predicted as %.60q"
	e, counts := Explanation{P: 1}, r.Counts
	if byPrediction {
		e = explain(noise, counts)
	}
	if !contradicted(&e) && ctx.Err() == nil {
		part = "nearest to the mean of those labelled %.60q"
		var err error
		if counts, err = divide(r.Problem); err != nil {
			return nil, fmt.Errorf("dividing the examples to judge the confusion matrix: %w", err)
		}
		e = explain(noise, counts)
	}
	if !contradicted(&e) {
		return nil, nil
	}
	classes, w := r.Classes, e.Worst
	d := learners.Doubt{Code: UnexplainedLabels, Finding: fmt.Sprintf(
		"the confusion matrix does not explain %.1f %% of the labels: of the examples "+
			""+part+", %.0f are labelled %.60q, and %.0f by the matrix at its best; is it of other labels, "+
			"is it turned (rows for columns), does it claim too much or too little noise?",
		100*e.Unexplained, classes[w.Predicted], w.Found, classes[w.Label], w.Explained),
		Advice: "check the confusion matrix"}
	other := turned(noise)
	if v := explain(other, counts); mostlyRight(other) && explainsBetter(&v, &e) {
		d.Code = TurnedConfusion
		d.Advice = "with its axes exchanged the matrix explains them: " +
			quote.Option("confusion-axes", "true-rows") + " reads it so"
	}
	return []learners.Doubt{d}, nil
}

// divide counts examples by the nearest label mean and by their own label. Means are of the other
// half of the examples.
func divide(p *learners.Problem) ([]int64, error) {
	n := len(p.Y)
	m := min(n, mostDivided, max(leastDivided, dividedValues/max(1, p.X.D)))
	var halves [2][]int
	for k := range m {
		halves[k%2] = append(halves[k%2], k*n/m)
	}
	q := p.Q
	counts := make([]int64, q*q)
	for k, half := range halves {
		if len(half) == 0 {
			continue
		}
		means, offset := meansOf(p.X, p.Y, halves[1-k], q)
		scores, err := engine.Scores(p.Engine, means, p.X.Pick(half))
		if err != nil {
			return nil, err
		}
		for i, label := range lists.At(p.Y, half) {
			nearest, best := 0, math.Inf(-1)
			for r, v := range offset {
				if s := float64(scores[i*q+r]) + v; s > best {
					nearest, best = r, s
				}
			}
			counts[nearest*q+int(label)]++
		}
	}
	return counts, nil
}

// meansOf returns the mean, for each label, of the given examples that have it, and the offset for
// which the nearest mean has the largest score; -Inf for a label without examples.
func meansOf(x dataset.Examples, labels []int32, some []int, q int,
) (w engine.Weights, offset []float64) {
	d := x.D
	w, offset = engine.NewWeights(q, d), make([]float64, q)
	sums, n := make([]float64, q*d), make([]float64, q)
	for _, i := range some {
		y := labels[i]
		to := sums[int(y)*d : (int(y)+1)*d]
		n[y]++
		columns, values := x.Entries(i)
		for c, v := range values {
			if columns != nil {
				c = int(columns[c])
			}
			to[c] += float64(v)
		}
	}
	for r := range q {
		if n[r] == 0 {
			offset[r] = math.Inf(-1)
			continue
		}
		for c, v := range sums[r*d : (r+1)*d] {
			w.W[r*d+c] = float32(v / n[r])
			offset[r] -= float64(v/n[r]*v/n[r]) / 2
		}
	}
	return w, offset
}
