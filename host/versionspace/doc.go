// Package versionspace finds centres of a version space, {w : ‖w‖ ≤ 1, ⟨w, c_k⟩ ≥ 0 for all k}:
// the linear classifiers through the origin that are right about each example, c_k being example k
// times its label ±1 (Louche, From confusion noise to active learning, chapter 5).
//
// Ball finds the largest ball inside, whose centre points where the hard-margin support vector
// machine does. AnalyticCentre finds the point whose distances from all walls have the largest
// product. Centroid estimates the centroid, the mean of all those classifiers, which
// a Bayes point machine predicts with: a cut through the centroid takes 1/e of the volume away at
// least (Grünbaum 1960), and one near it not much less (Theorem 5.2).
//
// Soft has walls that w may be on the wrong side of, for examples that no w is right about and
// labels that may be wrong; Propagation finds its centre without a chain.
//
// Promised: a centre has the same bits on every machine and for any number of processors. All is
// float64 in a fixed order, products are rounded before they are added, and no function of package
// math but the square root decides anything. A ball is exact to 1e-9, or there is an error, and an
// analytic centre to rounding. A centroid is an estimate: what is known of its error is how far
// the chains that made it disagree; a Propagation's, how far tests found it from random points, a
// degree at most but for labels of which a third is wrong.
//
// Not built: kernels (kernel principal components give coordinates), chains on an engine.
package versionspace
