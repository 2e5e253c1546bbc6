// Package model is the trained classifier: what it predicts, and its file, which has the
// weights, the confusion matrix they were trained with, and what is needed to repeat the
// training or to continue it.
//
// A model file is an .npz archive, a zip file of exactly these members:
//
//	W.npy          float32 Q×d, C order: row r is the weight vector of class r; left out of a
//	               model of trees and of a mixture
//	confusion.npy  float64 Q×Q, C order: C[p][q] = P(noisy = p | true = q); left out if
//	               the labels were taken to be right
//	meta.json      the fields of Meta, one to a line
//
// and, before the last, if the training found out how the labels are wrong,
//
//	learned.npy        float64 Q×Q: as confusion.npy, but learned
//	learned_error.npy  float64 Q×Q: the standard errors of its entries
//	annotators.npy     float64 M·Q×Q: the matrices of M annotators; left out if there are none
//
// and, if the model has kernel PCA,
//
//	landmarks.npy  float32 m×d; or, if they are sparse, landmark_starts.npy (int64),
//	               landmark_columns.npy (int32) and landmark_values.npy, of one row each
//	axes.npy       float32 D×m
//	offset.npy     float32 1×D
//
// and, if the model is trees (see package trees; meta.json has the rest of them),
//
//	tree_sizes.npy   int32 T×2: the number of nodes of each tree, and the class whose score it
//	                 adds to, -1 for all classes
//	tree_nodes.npy   int32 nodes×3: the column of each node of all trees, one tree after another,
//	                 and its children, leaf c as -1-c
//	tree_left.npy    int64 nodes×4: the bins that go to the first child, bit b%64 of word b/64
//	tree_values.npy  float32 1×V: what the leaves add, tree after tree
//
// and, if the model is a mixture,
//
//	member_1.npz, …  model files: their probabilities are added, times the shares of meta.json
//
// and, if its training had not ended (a checkpoint, or an interrupted run),
//
//	last.npy       float32 Q×d: the weights after the last step
//	sum.npy        float64 Q×d: the sum of the weights after each step, for weights "average"
//	               or "best-average"
//	counts.npy     int64 Q×Q: examples by W's prediction and noisy label, for weights "best"
//	               or "best-average"
//	learner.bin    what the learner keeps besides
//
// In Python, numpy.load("m.npz")["W"] is the weight matrix, and
// json.loads(numpy.load("m.npz")["meta.json"]) the rest.
//
// The same model gives the same bytes: members stand in the order above, carry
// the oldest date that zip knows instead of the time, and are stored, not
// compressed. Stored, because trained float32 weights hardly shrink, because the
// bytes of a compressor may change from one Go release to the next, because a
// stored array can be mapped into memory where it lies in the file, and because
// a stored member cannot claim more bytes than the file has.
package model

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
)

// FormatVersion is the version of the file format, the only one that is read. It grows whenever a
// field or a member is added: a reader that skipped one could predict wrongly without a word.
const FormatVersion = 4

// Model is a trained classifier of Q ≥ 2 classes, linear in D ≥ 1 columns: prepared
// features (the bias column included), or the prepared components of Projection. Score
// of class r: ⟨W[r], x⟩.
type Model struct {
	Q, D int
	// W is Q×D, row-major: the weight of class r and prepared column j is
	// W[r*D+j]. Every entry is finite.
	W []float32
	// Confusion is Q×Q, row-major: P(noisy = p | true = q) is Confusion[p*Q+q]; nil if
	// the labels were taken to be right. Entries are finite; whether they form a confusion
	// matrix is package confusion's to judge, before training.
	Confusion []float64
	// Learned is what the training found out of the noise; nil if nothing. Confusion is what
	// it was given.
	Learned *Learned
	// State resumes a training that had not ended; nil if it had ended.
	State *State
	// Projection makes the columns of W from prepared features, if Meta.Kernel is not
	// nil; else both are.
	Projection *engine.Projection
	// Trees score prepared features in place of W, which is then empty; nil for a linear model. D is
	// the number of columns that the preparation gives.
	Trees *ensemble.Model
	// Members are models of raw examples whose probabilities are mixed by Meta.Shares, in place of all
	// of these; nil of any other model. The preparation of a mixture does nothing.
	Members []*Model
	Meta    Meta
}

// Map returns the map of m, that makes the columns of W from prepared features; nil if W
// is of the features themselves. It shares memory with m.
func (m *Model) Map() *pca.Map {
	if m.Projection == nil {
		return nil
	}
	return newMap(m.Meta.Kernel, m.Projection)
}

// SetMap makes k the map of m, sharing memory with it.
func (m *Model) SetMap(k *pca.Map) {
	kernel, projection := describe(k)
	m.Meta.Kernel, m.Projection = &kernel, projection
}

// check says what keeps m from being a model. It looks at all that Write and Load
// promise: shapes, finite entries, and the metadata.
func (m *Model) check() error {
	if m.Q < 2 {
		return fmt.Errorf("found %d classes, wanted at least 2: train on examples of two classes or more",
			m.Q)
	}
	if m.D < 1 {
		return fmt.Errorf("found %d columns, wanted at least 1: train on at least one feature", m.D)
	}
	var err error
	switch {
	case m.Members != nil:
		err = m.checkMixture()
	case m.Trees != nil:
		err = m.checkTrees()
	case !isProduct(len(m.W), m.Q, m.D):
		err = fmt.Errorf("array W: found %d weights, wanted %d×%d (classes × columns)", len(m.W), m.Q,
			m.D)
	}
	if err != nil {
		return err
	}
	if m.Confusion == nil && m.Meta.Condition != 0 {
		return fmt.Errorf("confusion.npy: found none, wanted the matrix, as meta.json says that "+
			"its condition_number is %v", m.Meta.Condition)
	}
	if m.Confusion != nil && !isProduct(len(m.Confusion), m.Q, m.Q) {
		return fmt.Errorf("confusion: found %d entries, wanted %d×%d (classes × classes)",
			len(m.Confusion), m.Q, m.Q)
	}
	if err := m.Meta.Check(); err != nil {
		return err
	}
	if len(m.Meta.Classes) != m.Q {
		return fmt.Errorf("meta.json: classes: found %d names, wanted %d, one for each row of W",
			len(m.Meta.Classes), m.Q)
	}
	if (m.Projection == nil) != (m.Meta.Kernel == nil) {
		return errNoProjection
	}
	width := m.Meta.Preparation.Width()
	if k := m.Meta.Kernel; k != nil {
		if err := checkProjection(m.Projection, k, width); err != nil {
			return fmt.Errorf("kernel PCA: %w", err)
		}
		width = k.Preparation.Width()
	}
	if width != m.D {
		return fmt.Errorf("meta.json: preparation: found one that gives %d columns, wanted %d, the "+
			"columns of W", width, m.D)
	}
	for i, v := range m.W {
		if !finite(float64(v)) {
			return fmt.Errorf("array W: found %v as the weight of class %.60q, column %d (from 0), wanted "+
				"a finite number: the training diverged; prepare the features (standardize, l2) or take fewer "+
				"steps", v, m.Meta.Classes[i/m.D], i%m.D)
		}
	}
	for i, v := range m.Confusion {
		if !(v >= 0 && v <= 1+1e-6) {
			return fmt.Errorf("confusion: found %v in row %d, column %d (from 0), wanted a probability", v,
				i/m.Q, i%m.Q)
		}
	}
	if err := m.Learned.check(m); err != nil {
		return err
	}
	if m.State == nil {
		if m.Meta.Stop == "checkpoint" {
			return fmt.Errorf("%s: found none, wanted the state of a training that goes on, as the stop of "+
				"meta.json, checkpoint, says", lastName)
		}
		return nil
	}
	return m.State.check(m)
}
