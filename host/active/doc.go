// Package active chooses which examples of a pool to have labelled, so that few labels go far: a
// Pool has examples of which some are labelled, Ask names those to ask an expert about, and Fit
// learns a model of what is known so far. Session keeps questions and answers in a file, so that
// an expert may take days.
//
// Promised: the same pool, labels, options and seed give the same questions on every engine and
// any number of processors. Scores come from the engine; what the host adds to them is float64 in
// a fixed order, with the square root and the logarithm of package numerics for all functions.
//
// docs/active.md says what each strategy is, and when it loses.
package active
