// Package learners says what a learner is: something that, shown the state of a
// training run, makes one update of the weights. Each learner has a package of
// its own beside this one; the loop around them is host.Run.
package learners

import "github.com/uma-gpu/uma-gpu/host/engine"

// Learner updates weights from assignments of the examples to regions.
type Learner interface {
	// Margin is the α of the regions the learner wants (clause 4), at least 0.
	Margin() float32

	// Step makes one update of s.W in place, or finds that there is none to make.
	Step(s State) (Update, error)
}

// State is a training run between two steps. The learner may change W's values
// and nothing else.
type State struct {
	Examples   engine.Cells      // holds the scores and cells of W
	W          engine.Weights    // Q×d
	Assignment engine.Assignment // of W, at the learner's margin (0 while Steps is 0)
	Steps      int               // updates made so far
}

// Update says what a step did.
type Update struct {
	Converged bool    // no update was left to make; the rest is zero
	P, Q      int     // predicted and true class of the mistakes corrected
	Norm2     float32 // ‖z_pq‖²
	Changed   []int   // classes whose weights changed
}
