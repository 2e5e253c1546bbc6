package online

// errorSet is an ultraconservative additive algorithm (Algorithm 1 of the paper of UMA): the
// class of the example gets 1, those of the error set share -1.
type errorSet struct{ step string }

func (p errorSet) steps(tau, s []float32, e *example) bool {
	own := s[e.y]
	size, best, excess := 0, -1, 0.0
	for r, score := range s {
		if r == e.y || score < own {
			continue
		}
		size++
		excess += float64(score) - float64(own)
		if best < 0 || score > s[best] {
			best = r
		}
	}
	if size == 0 {
		return false
	}
	tau[e.y] = float32(e.weight)
	switch p.step {
	case StepMax:
		tau[best] = -tau[e.y]
		return true
	case StepRandom:
		left := e.random.IntN(size)
		for r, score := range s {
			if r == e.y || score < own {
				continue
			}
			if left == 0 {
				tau[r] = -tau[e.y]
			}
			left--
		}
		return true
	}
	for r, score := range s {
		if r == e.y || score < own {
			continue
		}
		share := 1 / float64(size)
		if p.step == StepProportional && excess > 0 {
			share = (float64(score) - float64(own)) / excess
		}
		tau[r] = float32(-e.weight * share)
	}
	return true
}

// perceptrons are one for each class, to whom the examples of the class are 1 and the others
// -1; none is content with a score of 0.
type perceptrons struct{}

func (perceptrons) steps(tau, s []float32, e *example) (any bool) {
	for r, score := range s {
		switch {
		case r == e.y && score <= 0:
			tau[r], any = float32(e.weight), true
		case r != e.y && score >= 0:
			tau[r], any = float32(-e.weight), true
		}
	}
	return any
}
