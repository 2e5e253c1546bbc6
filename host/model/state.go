package model

// State is where a run stands between two steps: what it takes to go on with the same
// bits, besides the weights that its result would be, which are the model's own.
type State struct {
	Steps   int       // that were made
	Last    []float32 // Q×D row-major: the weights that the last step left
	Sum     []float64 // Q×D, for weights "average" after a step: Σ of the weights after each; else empty
	Counts  []int64   // Q×Q, for weights "best" once any were judged: examples by prediction and noisy label; else empty
	Learner []byte    // the learner's own
}
