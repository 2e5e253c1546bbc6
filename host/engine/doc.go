// Package engine says what an engine is: a place where examples live, such as a processor or
// an OpenCL device, and that answers questions about them. What it is asked decides what it
// takes:
//
//   - [Engine.Load] takes examples to be scored: the scores of weights W, and the class that
//     they predict ([Scorer]).
//   - [Engine.LoadCells] takes examples with noisy labels: besides their scores, into which
//     cell of prediction and label each falls, the class sums of the cells, and update
//     vectors made of them ([Cells]).
//   - [Engine.LoadEvaluator] takes examples whose scores are compared with targets: besides
//     scores, the loss of W and its gradient ([Evaluator]).
//   - [Engine.Project] takes examples for one answer, kernel values or their projections,
//     and keeps nothing.
//
// [Engine.Plan] says beforehand what memory that takes. An engine is opened by its own
// package, cpuref, cpuref/simd or gpu; this one holds none, and what is written for its
// interfaces runs on each. Package contract has the numerics contract, to whose clauses
// comments refer: by it the answers of all engines have the same bits, so that which one
// answered shows in the time alone. [SelfTest] asks a few questions with known answers;
// package enginetest asks many more.
//
// Class sums are integers, so those of several data sets may be added, wherever these live;
// [UpdateVector] turns class sums into update vectors.
package engine
