package active

// Agreement is how two models of one pool compare.
type Agreement struct {
	Changed float64 `json:"changed"` // the share of the examples whose predicted class is another one
	Kappa   float64 `json:"kappa"`   // agreement beyond chance (Cohen 1960), 1 where nothing changed
}

// Compare compares what two models predict of the same examples, one at least, of q classes.
func Compare(before, after []int32, q int) Agreement {
	n := float64(len(before))
	a, b := make([]float64, q), make([]float64, q)
	same := 0.0
	for i, class := range before {
		a[class]++
		b[after[i]]++
		if after[i] == class {
			same++
		}
	}
	if same == n {
		return Agreement{Kappa: 1}
	}
	chance := 0.0
	for k := range a {
		chance += float64(float64(a[k]/n) * float64(b[k]/n))
	}
	kappa := 0.0
	if chance < 1 {
		kappa = (float64(same/n) - chance) / (1 - chance)
	}
	return Agreement{Changed: 1 - float64(same/n), Kappa: kappa}
}

const (
	steadyRounds = 3
	steadyKappa  = 0.99
)

// Steady advises to stop asking: the mean kappa of the last three rounds is 0.99 or more
// (Bloodgood and Vijay-Shanker, A method for stopping active learning based on stabilizing
// predictions, 2009). It says that the model has settled, not that it is good.
func Steady(rounds []Agreement) bool {
	if len(rounds) < steadyRounds {
		return false
	}
	sum := 0.0
	for _, r := range rounds[len(rounds)-steadyRounds:] {
		sum += r.Kappa
	}
	return sum >= steadyKappa*steadyRounds
}
