package active

import "github.com/uma-gpu/uma-gpu/host/confusion"

// Expert is a simulated expert: what people would have answered is known beforehand.
type Expert struct {
	answers []int32
}

// NewExpert returns an expert who knows the right class of each example, and says one that noise draws by the
// seed, each time the same; the right one for a nil noise. right is shared. The error is about noise, or a class
// that it does not have.
func NewExpert(right []int32, noise *confusion.Matrix, seed uint64) (*Expert, error) {
	if noise == nil {
		return &Expert{right}, nil
	}
	answers, err := noise.Inject(right, seed)
	return &Expert{answers}, err
}

// Answer labels the examples of the pool that which names.
func (e *Expert) Answer(p *Pool, which []int) {
	for _, i := range which {
		p.Labels[i] = e.answers[i]
	}
}
