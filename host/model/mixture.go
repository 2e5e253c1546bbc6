package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// LeastMixed is the least probability that scores of a mixture tell from 0.
const LeastMixed = 0x1p-100

var errNested = errors.New("found a mixture in a mixture, wanted members without members")

// Mix returns the mixture of models of the same raw features and classes, with their shares, which
// sum to 1. It shares memory with them; its Provenance is the first one's.
func Mix(members []*Model, shares []float64) *Model {
	first := members[0]
	m := &Model{Q: first.Q, D: first.Meta.Features.Count, Confusion: first.Confusion, Members: members,
		Meta: first.Meta}
	m.Meta.Shares, m.Meta.Temperature = shares, 1
	m.Meta.Preparation = dataset.Preparation{D: m.D}
	m.Meta.Kernel, m.Meta.Trees = nil, nil
	return m
}

// mixtureScores are the scores of raw examples by the members: the logarithms of the means of their
// probabilities (clause 31).
func (m *Model) mixtureScores(ctx context.Context) func(*engine.Engine, engine.Weights,
	dataset.Examples) ([]float32, error) {
	return func(e *engine.Engine, _ engine.Weights, x dataset.Examples) ([]float32, error) {
		sums := make([]float32, x.N*m.Q)
		for k, member := range m.Members {
			p, err := member.Probabilities(ctx, e, x)
			if err != nil {
				return nil, err
			}
			share := float32(m.Meta.Shares[k])
			for at, v := range p {
				sums[at] += float32(share * v)
			}
		}
		parallel.Ranges(len(sums), 1024, func(from, to int) {
			for at := from; at < to; at++ {
				sums[at] = numerics.Log(max(sums[at], LeastMixed))
			}
		})
		return sums, nil
	}
}

// checkMixture says what is wrong with the members of m.
func (m *Model) checkMixture() error {
	shares := m.Meta.Shares
	if len(m.W) != 0 || m.Projection != nil || m.Trees != nil || len(shares) != len(m.Members) {
		return fmt.Errorf("found %d members with %d shares, weights, trees or a map, wanted members and "+
			"their shares alone", len(m.Members), len(shares))
	}
	sum := 0.0
	for k, member := range m.Members {
		meta := &member.Meta
		switch {
		case !(shares[k] > 0):
			return fmt.Errorf("meta.json: shares: found %v, wanted shares above 0", shares)
		case len(member.Members) > 0:
			return errNested
		case meta.Temperature == 0:
			return fmt.Errorf("%s: %w", memberName(k), ErrNoTemperature)
		case meta.Features.Count != m.Meta.Features.Count || !slices.Equal(meta.Classes,
			m.Meta.Classes):
			return fmt.Errorf("%s: found other features or classes than the mixture's", memberName(k))
		}
		sum += shares[k]
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("meta.json: shares: found a sum of %v, wanted 1", sum)
	}
	return nil
}

// memberName returns the name of the member that has a model of a mixture, counted from 0.
func memberName(k int) string { return fmt.Sprintf("member_%d.npz", k+1) }

// mixtureMembers returns the members that have the models of a mixture.
func (m *Model) mixtureMembers() (list []member, err error) {
	for k, one := range m.Members {
		var b bytes.Buffer
		if err := one.Write(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", memberName(k), err)
		}
		list = append(list, text(memberName(k), b.Bytes()))
	}
	return list, nil
}

// readMixture reads the models of a mixture.
func readMixture(a *contents, count int) (models []*Model) {
	for k := range count {
		file := a.text(memberName(k))
		if a.err != nil {
			return nil
		}
		one, err := readModel(bytes.NewReader(file), int64(len(file)), true)
		if err != nil {
			a.fail(fmt.Errorf("%s: %w", memberName(k), err))
			return nil
		}
		models = append(models, one)
	}
	return models
}
