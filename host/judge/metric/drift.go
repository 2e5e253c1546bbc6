package metric

// drift says how far estimates move with the errors of the confusion matrix. Of B = C⁻¹ a small dC
// makes dB = -B·dC·B, so an estimate that is linear in B moves by -Σ dC[i][j]·G[i][j] with a G of
// its own.
type drift struct {
	q      int
	shares []float64 // Q×Q: C, moved a little towards uniform columns
	// Q: column j of dC varies as the shares of a sample of this size; 0 if it is known
	sizes []float64
}

// newDrift returns the drift of the matrix c, whose entries have these standard errors; nil for
// none.
func newDrift(c, errs []float64, q int) *drift {
	if errs == nil {
		return nil
	}
	const uniform = 0.01 // so that columns without noise vary, too
	d := &drift{q: q, shares: make([]float64, q*q), sizes: make([]float64, q)}
	for j := range q {
		spread, squares := 0.0, 0.0
		for i := range q {
			p, e := float64((1-uniform)*c[i*q+j])+uniform/float64(q), errs[i*q+j]
			d.shares[i*q+j] = p
			spread += float64(p * (1 - p))
			squares += float64(e * e)
		}
		if squares > 0 {
			d.sizes[j] = spread / squares
		}
	}
	return d
}

// variance returns the variance of the estimate with the given G; 0 without drift.
func (d *drift) variance(g func(i, j int) float64) float64 {
	if d == nil {
		return 0
	}
	all := 0.0
	for j, size := range d.sizes {
		if size == 0 {
			continue
		}
		mean, square := 0.0, 0.0
		for i := range d.q {
			p, v := d.shares[i*d.q+j], g(i, j)
			mean += float64(p * v)
			square += float64(p * float64(v*v))
		}
		all += max(0, square-float64(mean*mean)) / size
	}
	return all
}

// moves returns G of the accuracy: Bᵀ·J/n; nil if there is no drift.
func (s *correction) moves() func(i, j int) float64 {
	if s.drift == nil {
		return nil
	}
	g := make([]float64, s.q*s.q)
	for p := range s.q {
		for i := range s.q {
			for j := range s.q {
				g[i*s.q+j] += float64(s.inverse[p*s.q+i]*s.joint[p*s.q+j]) / s.n
			}
		}
	}
	return func(i, j int) float64 { return g[i*s.q+j] }
}
