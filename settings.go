package umagpu

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Settings say how a model is learned. Zero values stand for the defaults that Parameters tells.
type Settings struct {
	Learner string `json:"learner,omitempty"`
	// Parameters are the learner's, by name: {"l2": 0.01}. uma-gpu learners NAME lists them.
	Parameters map[string]any `json:"parameters,omitempty"`
	MaxSteps   *int           `json:"max_steps,omitempty"`
	Weights    string         `json:"weights,omitempty"`
	Seed       uint64         `json:"seed,omitempty"`
	Time       float64        `json:"time,omitempty"`

	Normalize           string   `json:"normalize,omitempty"`
	Kernel              string   `json:"kernel,omitempty"`
	Gamma               string   `json:"gamma,omitempty"`
	Coef0               *float64 `json:"coef0,omitempty"`
	Degree              int      `json:"degree,omitempty"`
	Components          int      `json:"components,omitempty"`
	Landmarks           string   `json:"landmarks,omitempty"`
	NormalizeComponents string   `json:"normalize_components,omitempty"`
}

// words of Settings.Gamma and Landmarks besides numbers.
var gammas = []string{"auto", "median", "search", "mean"}

// declared are the parameters of all requests, in the order of help.
var declared = slices.Concat(tableParameters, learningParameters, kernelParameters,
	taskParameters)

// tableParameters are of TableOptions.
var tableParameters = grouped("Data",
	Parameter{Name: "text", Value: "LIST",
		Sentence: "columns of free text, whose tf-idf becomes features"},
	Parameter{Name: "categories", Value: "LIST",
		Sentence: "columns of numbers that are categories"},
	Parameter{Name: "missing", Value: "RULE", Default: "auto",
		Choices: []string{"auto", dataset.MissingError, dataset.MissingMean, dataset.MissingIndicator},
		Sentence: "rule for missing values; indicator adds a feature, auto also takes words among " +
			"numbers"},
	Parameter{Name: "levels", Value: "N", Default: fmt.Sprint(features.DefaultLevels),
		Range: Range{Least: 1}, Sentence: "at most this many levels of a category become features"},
	Parameter{Name: "knots", Value: "N", Default: fmt.Sprint(features.UsualKnots),
		Range: Range{Most: 100}, Sentence: "at most this many knots, where the effect of a number " +
			"bends, in tables with words or missing values of 5000 examples"},
	Parameter{Name: "text_features", Value: "N", Default: fmt.Sprint(features.DefaultTextFeatures),
		Range:    Range{Least: 1, Most: math.MaxInt32},
		Sentence: "at most this many terms, words and runs of words, of a text's vocabulary"},
	Parameter{Name: "text_min_df", Value: "N", Default: fmt.Sprint(features.DefaultTextMinExamples),
		Range:    Range{Least: 1, Most: math.MaxInt32},
		Sentence: "at least this many examples have each term"},
	Parameter{Name: "text_ngrams", Value: "N", Default: fmt.Sprint(features.DefaultTextWords),
		Range:    Range{Least: 1, Most: features.MostTextWords},
		Sentence: "at most this many words in a run"},
	Parameter{Name: "storage", Value: "FORM", Default: "auto",
		Choices: []string{"auto", "dense", "sparse"}, Sentence: "of the features in memory"})

var learningParameters = grouped("Learner",
	Parameter{Name: "learner", Value: "NAME", Default: "softmax",
		Sentence: "name of the learner, uma-gpu learners NAME tells its flags; auto for the best of " +
			"linear, curved and trees by labels held out"},
	Parameter{Name: "max_steps", Value: "STEPS", Default: "the learner's",
		Sentence: "at most this many steps; passes, for online learners"},
	Parameter{Name: "weights", Value: "RULE", Default: "the learner's",
		Choices: []string{"best-average", "best", "average", "last"}, Sentence: "which weights to keep"},
	Parameter{Name: "seed", Value: "SEED", Default: "1", Sentence: "seed of all random choices"},
	Parameter{Name: "time", Value: "SECONDS", Default: "no limit", Range: Range{Open: true},
		Sentence: "end within this time, and keep what was learned"},
	Parameter{Name: "normalize", Value: "STEPS", Default: "auto",
		Sentence: "comma list of steps that prepare features: standardize, maxabs, bias, l2; or none"})

// kernelGroup is the heading of the parameters of kernels.
const kernelGroup = "Kernel"

var kernelParameters = grouped(kernelGroup,
	Parameter{Name: "kernel", Value: "FUNCTION",
		Choices:  []string{kernel.RBF, kernel.Poly, kernel.Linear},
		Sentence: "kernel function, for curved boundaries between classes"},
	Parameter{Name: "gamma", Value: "G", Default: "auto",
		Sentence: "γ of rbf and poly: a number above 0, median, search, mean, or auto"},
	Parameter{Name: "coef0", Value: "C", Default: "1", Range: Range{Least: -math.MaxFloat32},
		Sentence: "constant of poly"},
	Parameter{Name: "degree", Value: "DEGREE", Default: "3", Range: Range{Least: 1},
		Sentence: "degree of poly"},
	Parameter{Name: "components", Value: "D", Default: "500, or all", Range: Range{Least: 1},
		Sentence: "number of kernel principal components"},
	Parameter{Name: "landmarks", Value: "M", Default: "auto",
		Sentence: "number of examples that span the components; all, or auto"},
	Parameter{Name: "normalize_components", Value: "STEPS", Default: "auto",
		Sentence: "preparation of the components"})

var taskParameters = grouped("",
	Parameter{Name: "folds", Value: "K", Default: "5", Range: Range{Least: 2, Most: judge.MostFolds},
		Sentence: "hold out K parts in turn, from K trainings"},
	Parameter{Name: "judge", Value: "METHOD", Default: "auto",
		Choices:  []string{"auto", "folds", "model"},
		Sentence: "predict out of fold, by the model, or as fits the data"},
	Parameter{Name: "hold_out", Value: "SHARE", Default: "0", Range: Range{Most: below1},
		Sentence: "share of the examples to hold out, by which the model is judged"},
	Parameter{Name: "estimate_confusion",
		Sentence: "estimate the confusion matrix, and learn the model that clean learns"},
	Parameter{Name: "trust_confusion",
		Sentence: "train even if the labels say that the axes of the confusion matrix are exchanged"},
	Parameter{Name: "probabilities", Sentence: "the probability of each class"},
	Parameter{Name: "scores", Sentence: "the score of each class; the largest is predicted"},
	Parameter{Name: "sets", Value: "LEVEL", Default: "none", Range: Range{Most: below1, Open: true},
		Sentence: "prediction sets of this level, such as 0.9"},
	Parameter{Name: "by_class", Sentence: "sets of each level hold within each class"},
	Parameter{Name: "sure", Sentence: "sets hold for 95 % of draws of the examples, not in the mean"},
	Parameter{Name: "method", Value: "METHOD", Default: "the best for what is given",
		Sentence: "of estimation"},
	Parameter{Name: "survey",
		Sentence: "also report near duplicates, outliers, order and bad regions"},
	Parameter{Name: "k", Value: "K", Default: "10", Range: Range{Least: 1},
		Sentence: "choose this many examples"},
	Parameter{Name: "strategy", Value: "STRATEGY", Default: active.Margin,
		Choices: active.Strategies, Sentence: "by which to choose"})

// grouped puts parameters below a heading of help.
func grouped(heading string, all ...Parameter) []Parameter {
	for k := range all {
		all[k].Group = heading
	}
	return all
}

// seed returns the seed, 1 unless another is set.
func (s *Settings) seed() uint64 { return cmp.Or(s.Seed, 1) }

// time returns how long a training may take; 0 for no limit.
func (s *Settings) time() time.Duration { return time.Duration(s.Time * float64(time.Second)) }

// options returns how host trains by s.
func (s *Settings) options() (o host.Options, err error) {
	o = host.Options{Seed: s.seed(), Preparation: s.Normalize, Tool: Version,
		Time: s.time(), Weights: learners.Rule(s.Weights)}
	if s.Normalize == "auto" {
		o.Preparation = ""
	} else if s.Normalize != "" {
		if _, err := dataset.ParseSteps(s.Normalize); err != nil {
			return o, &Fault{Kind: Invalid, Option: "normalize", Cause: err}
		}
	}
	if s.MaxSteps != nil {
		o.MaxSteps = steps(*s.MaxSteps)
	}
	if o.Learner, err = s.Choose(); err != nil {
		return o, err
	}
	o.Kernel, err = s.kernel()
	return o, err
}

// steps returns a number of steps as package host has it.
func steps(n int) int {
	if n == 0 {
		return host.NoSteps
	}
	return n
}

// Choose returns the learner with its parameters.
func (s *Settings) Choose() (learners.Params, error) {
	d, err := catalog.Find(cmp.Or(s.Learner, catalog.All()[0].Name))
	if err != nil {
		return nil, &Fault{Kind: Invalid, Option: "learner", Cause: err}
	}
	p := d.New()
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		parameter, ok := learners.Lookup(p, name)
		if !ok {
			return nil, unknownParameter(d.Name, name)
		}
		given := s.Parameters[name]
		if err := parameter.Set(parameterText(given)); err != nil {
			if _, text := given.(string); !text {
				return nil, invalid(name, fmt.Sprint(given), parameter.Wanted())
			}
			return nil, parameterFault(err)
		}
	}
	return p, parameterFault(learners.Check(p))
}

// unknownParameter returns the fault of a parameter that a learner does not have.
func unknownParameter(learner, name string) error {
	var have []string
	for _, d := range catalog.All() {
		if _, ok := learners.Lookup(d.New(), name); ok {
			have = append(have, d.Name)
		}
	}
	if have == nil {
		return invalid("parameters", strconv.Quote(name), "a parameter of learner "+learner)
	}
	return conflict(name, "learner "+learner, strings.Join(have, " or ")+", which has this parameter")
}

// parameterText returns a value of JSON as parameters are written.
func parameterText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	if number, ok := v.(float64); ok {
		return strconv.FormatFloat(number, 'g', -1, 64)
	}
	text, _ := json.Marshal(v) // a text that no parameter has, if it fails
	return string(text)
}

// needsKernel returns the fault of a parameter of other kernel functions.
func (s *Settings) needsKernel(name, kind string) error {
	return conflict(name, "a value beside "+quote.Option("kernel", s.Kernel),
		quote.Option("kernel", kind))
}

// kernel returns the kernel map of a training, nil for none.
func (s *Settings) kernel() (*fitting.Options, error) {
	if s.Kernel == "" {
		for _, p := range []struct {
			name string
			set  bool
		}{{"gamma", s.Gamma != ""}, {"coef0", s.Coef0 != nil}, {"degree", s.Degree != 0},
			{"components", s.Components != 0}, {"landmarks", s.Landmarks != ""},
			{"normalize_components", s.NormalizeComponents != ""}} {
			if p.set {
				return nil, conflict(p.name, "a value without a kernel", "a kernel function too")
			}
		}
		return nil, nil
	}
	o := &fitting.Options{Components: s.Components}
	if o.Function.Kind = s.Kernel; s.Kernel == kernel.Poly {
		o.Function.Coef0, o.Function.Degree = 1, cmp.Or(s.Degree, 3)
		if s.Coef0 != nil {
			o.Function.Coef0 = float32(*s.Coef0)
		}
	} else if s.Degree != 0 {
		return nil, s.needsKernel("degree", kernel.Poly)
	} else if s.Coef0 != nil {
		return nil, s.needsKernel("coef0", kernel.Poly)
	}
	if s.Kernel == kernel.Linear && s.Gamma != "" {
		return nil, s.needsKernel("gamma", kernel.RBF)
	}
	gamma := cmp.Or(s.Gamma, "auto")
	o.Median, o.Search, o.Mean = gamma == "median", gamma == "search", gamma == "mean"
	if !slices.Contains(gammas, gamma) {
		g, err := strconv.ParseFloat(gamma, 32)
		if err != nil || !(g > 0) || math.IsInf(g, 1) {
			return nil, invalid("gamma", gamma,
				"a finite number above 0, auto, median, search or mean")
		}
		o.Function.Gamma = float32(g)
	}
	switch s.Landmarks {
	case "", "auto":
	case "all":
		o.Landmarks = fitting.AllLandmarks
	default:
		m, err := strconv.Atoi(s.Landmarks)
		if err != nil || m < 1 {
			return nil, invalid("landmarks", strconv.Quote(s.Landmarks),
				"a number of at least 1, all or auto")
		}
		o.Landmarks = m
	}
	if n := s.NormalizeComponents; n != "" && n != "auto" {
		steps, err := dataset.ParseSteps(n)
		if err != nil {
			return nil, &Fault{Kind: Invalid, Option: "normalize_components", Cause: err}
		}
		o.Steps = &steps
	}
	return o, nil
}
