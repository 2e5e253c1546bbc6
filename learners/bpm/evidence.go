package bpm

import (
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/versionspace"
	"github.com/uma-gpu/uma-gpu/learners"
)

// noise returns C, or nil if it says that all labels are right.
func noise(p *learners.Problem) []float64 {
	if p.Noise == nil {
		return nil
	}
	for r := range p.Q {
		if p.Noise.P[r*p.Q+r] != 1 {
			return p.Noise.P
		}
	}
	return nil
}

// least is the probability that a class keeps, however far an example is from it.
const least = 1e-6

// witness writes what labels say to the evidence of machines.
func (l *learner) witness(machines []*machine) {
	q, y := l.Problem.Q, l.Problem.Y
	c := l.noise
	if c == nil {
		for _, m := range machines {
			for i, k := range y {
				m.evidence[i] = versionspace.Evidence{Below: 1}
				if int(k) == m.class {
					m.evidence[i] = versionspace.Evidence{Above: 1}
				}
			}
		}
		return
	}
	if q == 2 {
		for i, k := range y {
			machines[0].evidence[i] = versionspace.Evidence{Above: c[k*2+1], Below: c[k*2]}
		}
		return
	}
	parallel.Ranges(len(y), 256, func(from, to int) {
		likely := make([]float64, q)
		for i := from; i < to; i++ {
			for _, m := range l.machines {
				likely[m.class] = max(versionspace.Share(m.centre.Without()[i]), least)
			}
			label := c[int(y[i])*q : (int(y[i])+1)*q]
			for _, m := range machines {
				said, all := 0.0, 0.0
				for t, p := range likely {
					if t != m.class {
						said += float64(label[t] * p)
						all += p
					}
				}
				m.evidence[i] = versionspace.Evidence{Above: label[m.class], Below: said / all}
			}
		}
	})
}
