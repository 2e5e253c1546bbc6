package host

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrResume marks errors of Options.Resume: a damaged state, or data, noise or options other than
// those with which the training began.
var ErrResume = errors.New("training cannot be resumed")

// base is the model whose preparation and kernel map are taken over; nil for none.
func (t *trainer) base() *model.Model {
	if t.Resume != nil {
		return t.Resume
	}
	return t.From
}

// adopt prepares d as the data of base were, to begin with its weights or to go on with it.
func (t *trainer) adopt(base *model.Model, d *dataset.Dataset) error {
	if !slices.Equal(base.Meta.Classes, t.data.Classes) {
		return fmt.Errorf("train: %w: data: got %.40q, want %.40q as the model of From or Resume",
			ErrClasses, t.data.Classes, base.Meta.Classes)
	}
	if err := features.PrepareBy(d, &base.Meta.Preparation, t.Memory...); err != nil {
		return err
	}
	if t.From != nil {
		w, err := binary.Append(nil, binary.LittleEndian, base.W)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(w)
		t.model.Meta.From = hex.EncodeToString(hash[:])
		return nil
	}
	t.model.Meta.From = base.Meta.From
	return t.checkSame(base)
}

// checkSame returns an error if the training to resume began in another way.
func (t *trainer) checkSame(base *model.Model) error {
	is, was := &t.model, base
	then := string(was.Meta.Parameters)
	// with what an older file leaves out
	if p, err := t.Learner.Definition().Parse(was.Meta.Parameters); err == nil {
		if text, err := learners.Marshal(p); err == nil {
			then = string(text)
		}
	}
	for _, c := range []struct {
		what      string
		same      bool
		now, then any
	}{
		{"contract version", is.Meta.ContractVersion == was.Meta.ContractVersion, is.Meta.ContractVersion,
			was.Meta.ContractVersion},
		{"learner", is.Meta.Learner == was.Meta.Learner, is.Meta.Learner, was.Meta.Learner},
		{"parameters", string(is.Meta.Parameters) == then, string(is.Meta.Parameters), then},
		{"weights", is.Meta.Weights == was.Meta.Weights, is.Meta.Weights, was.Meta.Weights},
		{"seed", is.Meta.Seed == was.Meta.Seed, is.Meta.Seed, was.Meta.Seed},
		{"data", is.Meta.DataSHA256 == was.Meta.DataSHA256, cmp.Or(is.Meta.DataSHA256, "without a hash") +
			t.onRanks(), was.Meta.DataSHA256},
		{"annotations", is.Meta.AnnotationsSHA256 == was.Meta.AnnotationsSHA256, "others",
			"those of the file"},
		{"inverse", is.Meta.Inverse == was.Meta.Inverse, cmp.Or(is.Meta.Inverse, confusion.Exact),
			cmp.Or(was.Meta.Inverse, confusion.Exact)},
		{"confusion matrix", slices.Equal(is.Confusion, was.Confusion), "another one",
			"that of the file"},
	} {
		if !c.same {
			return fmt.Errorf("train: %w: %s: got %v, want %v as it began", ErrResume, c.what, c.now, c.then)
		}
	}
	if made := base.Meta.Steps; made > t.MaxSteps {
		return fmt.Errorf("train: %w: most steps: got %d, want at least the %d that it has made",
			ErrResume, t.MaxSteps, made)
	}
	if base.State == nil {
		return fmt.Errorf("train: Resume: got a model whose training had ended (%s after %d steps), "+
			"want a checkpoint or the model of an interrupted run (From begins with its weights)",
			base.Meta.Stop, base.Meta.Steps)
	}
	return nil
}

// onRanks returns a remark on hashes that ranks cannot compare: one process makes those of earlier
// versions.
func (t *trainer) onRanks() string {
	if t.data.Stored().At.Shared() == nil {
		return ""
	}
	return " (of this version; one process can resume a training of an earlier version)"
}
