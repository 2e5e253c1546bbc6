package learners

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Scored is the part of a run that all learners share which ask the engine for scores alone.
type Scored struct {
	Problem *Problem
	Scorer  *engine.Scorer

	name   string
	closed bool
}

// StartScored returns the start of the learner of that name: it loads the examples of a problem,
// and begin makes the run on them.
func StartScored(name string, begin func(*Scored) (Learner, error),
) func(context.Context, *Problem) (Learner, error) {
	return func(_ context.Context, problem *Problem) (Learner, error) {
		scorer, err := problem.Load()
		if err != nil {
			return nil, err
		}
		s := &Scored{Problem: problem, Scorer: scorer, name: name}
		l, err := begin(s)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return l, nil
	}
}

// Count implements Learner: it rescores the classes that changed.
func (s *Scored) Count(_ context.Context, w engine.Weights, changed []int) ([]int64, error) {
	return CountPredicted(s.Scorer, w, changed, s.Problem.Y)
}

// Ready returns an error if the run is closed or ctx cancelled.
func (s *Scored) Ready(ctx context.Context) error {
	if s.closed {
		return fmt.Errorf("%s: %w", s.name, engine.ErrClosed)
	}
	return ctx.Err()
}

func (s *Scored) Close() error {
	s.closed = true
	return s.Scorer.Close()
}

// CountPredicted is Learner.Count by a scorer, of examples of labels y.
func CountPredicted(s *engine.Scorer, w engine.Weights, changed []int, y []int32) ([]int64, error) {
	if err := s.Rescore(w, changed); err != nil {
		return nil, err
	}
	counts := make([]int64, w.Q*w.Q)
	return counts, s.CountPredicted(counts, y)
}

// EachScores calls f with the scores of each example, in order. f may change but not keep them.
func EachScores(s *engine.Scorer, f func(i int, scores []float32) error) error {
	const block = 4096
	n, _, q := s.Shape()
	scores := make([]float32, min(block, n)*q)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		if err := s.Scores(scores[:(to-from)*q], from, to); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := f(i, scores[(i-from)*q:(i-from+1)*q]); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckFinite returns an error if float32 cannot hold a weight; advice is what else to do than to
// normalise.
func CheckFinite(learner string, weights []float32, advice string) error {
	if Finite(weights) {
		return nil
	}
	return fmt.Errorf("%s: found weights too large for float32; normalise the features%s", learner,
		advice)
}

// Finite reports whether no number of v is infinite or NaN.
func Finite[T float32 | float64](v []T) bool {
	for _, f := range v {
		if f-f != 0 {
			return false
		}
	}
	return true
}

// SquaredLength returns ‖v‖², summed in float64 in the order of v: squares of float32 are exact
// there, so that fused or not is the same.
func SquaredLength(v []float32) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}

// EndInDoubt returns the doubt of a learner that leaves something undone.
func EndInDoubt(advice, format string, args ...any) []Doubt {
	return []Doubt{{Code: EndsInDoubt, Finding: fmt.Sprintf(format, args...),
		Advice: advice}}
}

// Weighting returns the parameter of class weights.
func Weighting(field *ClassWeights) Parameter {
	return OneOf("class_weights", field, "how much examples count by their label",
		Equal, "all examples alike", Balanced, "all labels alike")
}

// Pack returns a state for Learner.Save: numbers, slices and structs of them, and
// *rand.PCG, in little-endian order one after the other, and the SHA-256 of that.
func Pack(values ...any) (state []byte, err error) {
	for _, v := range values {
		if random, ok := v.(*rand.PCG); ok {
			v, err = random.MarshalBinary()
		}
		if err == nil {
			state, err = binary.Append(state, binary.LittleEndian, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return Seal(state), nil
}

// Seal returns a state followed by its SHA-256.
func Seal(state []byte) []byte {
	sum := sha256.Sum256(state)
	return append(state, sum[:]...)
}

// Unseal returns the state that Seal was given.
func Unseal(saved []byte) ([]byte, error) {
	body := len(saved) - sha256.Size
	if body < 0 {
		return nil, errors.New("it is too short")
	}
	if sum := sha256.Sum256(saved[:body]); !bytes.Equal(sum[:], saved[body:]) {
		return nil, errors.New("its checksum is another")
	}
	return saved[:body], nil
}

// SavedState reads what Pack returned. After a fault it reads nothing more.
type SavedState struct {
	rest []byte
	err  error
}

// Unpack returns a reader of saved.
func Unpack(saved []byte) *SavedState {
	state, err := Unseal(saved)
	return &SavedState{rest: state, err: err}
}

// Read writes the next values to places, and reports whether there was no fault so far.
func (s *SavedState) Read(places ...any) bool {
	for _, place := range places {
		if s.err != nil {
			return false
		}
		to := place
		random, ok := place.(*rand.PCG)
		if ok {
			to = make([]byte, 20)
		}
		var size int
		if size, s.err = binary.Decode(s.rest, binary.LittleEndian, to); s.err == nil && ok {
			s.err = random.UnmarshalBinary(to.([]byte))
		}
		s.rest = s.rest[size:]
	}
	return s.err == nil
}

// Refuse makes err the fault, if it is one and the first.
func (s *SavedState) Refuse(err error) {
	if s.err == nil {
		s.err = err
	}
}

// More reports whether there is more to read.
func (s *SavedState) More() bool { return s.err == nil && len(s.rest) > 0 }

// End returns the fault as an error of the learner of that name. What was not read is one.
func (s *SavedState) End(learner string) error {
	if s.More() {
		s.err = fmt.Errorf("%d bytes are left over", len(s.rest))
	}
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("%s: found a damaged state of a run: %w", learner, s.err)
}
