package shard

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// room is how many numbers the update vectors of all pairs have that are kept: 16 MiB.
const room = 4 << 20

// updates keeps what norms are made of, since a step asks for the norms of all pairs, and then for
// the vectors of most of them.
type updates struct {
	inverse []float32 // B, Q×Q, that what is known is made with
	known   []bool    // regions with norms, and vectors if there is room, of the last sums
	norms   []float32 // ‖z_pq‖², Q×Q
	z       []float32 // z_pq, Q×Q×d; empty if there is no room
}

func newUpdates(d, q int) updates {
	u := updates{known: make([]bool, q), norms: make([]float32, q*q)}
	if q*q*d <= room {
		u.z = make([]float32, q*q*d)
	}
	return u
}

// use makes inverse that of what is known from here on.
func (u *updates) use(inverse []float32) {
	if !slices.Equal(inverse, u.inverse) {
		u.inverse = append(u.inverse[:0], inverse...)
		clear(u.known)
	}
}

// floats writes the class sums of region p, Q×d, to dst as float32.
func (r *cells) floats(dst []float32, p int) {
	for i, sum := range r.region(p) {
		dst[i] = float32(sum)
	}
}

// combine writes z_pq to dst (clause 6): what engine.UpdateVector does, but of class sums g in
// float32, and column after column, where no sum waits for the one before it. b is row q of the
// inverse; where that is 0, as most of it is where labels are right, nothing is added: the sums
// are integers, so no sum so far is -0.
func combine(dst, g, b []float32, unit float32) {
	clear(dst)
	for k, b := range b {
		if b == 0 {
			continue
		}
		row, b64 := g[k*len(dst):(k+1)*len(dst)], float64(b)
		for j, acc := range dst {
			s := b64*float64(row[j]) + float64(acc) // the product is exact
			if numerics.Plain(s) || s == 0 {        // where all examples have 0, too
				dst[j] = float32(s)
			} else {
				dst[j] = numerics.FMA(b, row[j], acc)
			}
		}
	}
	for j, acc := range dst {
		dst[j] = acc * unit
	}
}

// Norms: clause 6, every pair.
func (r *cells) Norms(dst, inv []float32) error {
	var full []int // regions that are not empty
	for p := range r.q {
		if slices.Max(r.regions[p*r.q:(p+1)*r.q]) > 0 {
			full = append(full, p)
		}
	}
	if err := r.fetch(slices.Clone(full)...); err != nil {
		return err
	}
	u := &r.updates
	u.use(inv)
	news := slices.DeleteFunc(slices.Clone(full), func(p int) bool { return u.known[p] })
	parallel.Ranges(len(news), 1+100000/(r.q*r.q*r.d), func(from, to int) {
		g, z := make([]float32, r.q*r.d), make([]float32, r.d)
		for _, p := range news[from:to] {
			r.floats(g, p)
			for q := range r.q {
				at := p*r.q + q
				if len(u.z) > 0 {
					z = u.z[at*r.d : (at+1)*r.d]
				}
				combine(z, g, inv[q*r.q:(q+1)*r.q], r.fixed.Unit())
				u.norms[at] = numerics.Dot(z, z)
			}
		}
	})
	clear(dst)
	for _, p := range full {
		u.known[p] = true
		copy(dst[p*r.q:(p+1)*r.q], u.norms[p*r.q:])
	}
	return nil
}

// UpdateVectors: clause 6.
func (r *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	var regions []int
	for _, z := range pairs {
		if !slices.Contains(regions, z.P) {
			regions = append(regions, z.P)
		}
	}
	if err := r.fetch(regions...); err != nil {
		return err
	}
	u := &r.updates
	kept := len(u.z) > 0 && slices.Equal(inv, u.inverse)
	parallel.Ranges(len(pairs), 1+100000/(r.q*r.d), func(from, to int) {
		g, of := []float32(nil), -1
		for i := from; i < to; i++ {
			z, at := pairs[i], pairs[i].P*r.q+pairs[i].Q
			vector := dst[i*r.d : (i+1)*r.d]
			if kept && u.known[z.P] {
				copy(vector, u.z[at*r.d:])
				continue
			}
			if g == nil {
				g = make([]float32, r.q*r.d)
			}
			if of != z.P {
				r.floats(g, z.P)
				of = z.P
			}
			combine(vector, g, inv[z.Q*r.q:(z.Q+1)*r.q], r.fixed.Unit())
		}
	})
	return nil
}
