package gpu

import "fmt"

// Tuning is how kernels divide their work. The results are the same, bit for bit.
// All numbers are powers of two; 0 is the default of the device's kind.
type Tuning struct {
	// ScoreRows is the number of examples whose scores a work-item computes at a
	// time on a processor, 2 to 16. GPUs take one.
	ScoreRows int `json:"score_rows"`
	// ScoreGroup is the number of work-items in a work-group that scores, 1 to 1024.
	ScoreGroup int `json:"score_group"`
	// ScoreWidth is the number of columns that such a work-group reads at once on a
	// GPU, 1 to 256; more than ScoreGroup counts as ScoreGroup.
	ScoreWidth int `json:"score_width"`
	// SumColumns is the number of columns of a class sum that a work-item moves, 1
	// on a GPU, 8 to 1024 on a processor.
	SumColumns int `json:"sum_columns"`
	// SumRows is the number of examples that are summed together, at most, when
	// they move from one cell to another, 1 to 65536.
	SumRows int `json:"sum_rows"`
	// WeightedColumns is the number of columns that a work-item takes of the weighted
	// sums of a block of examples on a processor, 64 to 4096. GPUs take one.
	WeightedColumns int `json:"weighted_columns"`
	// Group is the number of work-items in a work-group of kernels that assign,
	// move, compute norms, and evaluate, 1 to 1024.
	Group int `json:"group"`
}

// defaultTuning is the best that was found on the devices that were measured.
func defaultTuning(cpu bool) Tuning {
	if cpu {
		return Tuning{ScoreRows: 8, ScoreGroup: 8, ScoreWidth: 8, SumColumns: 128, SumRows: 64, WeightedColumns: 256,
			Group: 8}
	}
	return Tuning{ScoreRows: 8, ScoreGroup: 64, ScoreWidth: 32, SumColumns: 1, SumRows: 64, WeightedColumns: 64,
		Group: 64}
}

// parameter is a field of a tuning.
type parameter struct {
	name        string // as in JSON
	of          func(*Tuning) *int
	least, most int
}

var parameters = []parameter{
	{"score_rows", func(t *Tuning) *int { return &t.ScoreRows }, 2, 16},
	{"score_group", func(t *Tuning) *int { return &t.ScoreGroup }, 1, 1024},
	{"score_width", func(t *Tuning) *int { return &t.ScoreWidth }, 1, 256},
	{"sum_columns", func(t *Tuning) *int { return &t.SumColumns }, 1, 1024},
	{"sum_rows", func(t *Tuning) *int { return &t.SumRows }, 1, 65536},
	{"weighted_columns", func(t *Tuning) *int { return &t.WeightedColumns }, 64, 4096},
	{"group", func(t *Tuning) *int { return &t.Group }, 1, 1024},
}

// Check returns an error if a number is none of those allowed.
func (t Tuning) Check() error {
	for _, p := range parameters {
		v := *p.of(&t)
		if v != 0 && (v < p.least || v > p.most || v&(v-1) != 0) {
			return fmt.Errorf("tuning: %s is %d, wanted a power of two from %d to %d, or 0 for the default", p.name, v,
				p.least, p.most)
		}
	}
	return nil
}

// or fills the zeros of t from d.
func (t Tuning) or(d Tuning) Tuning {
	for _, p := range parameters {
		if to := p.of(&t); *to == 0 {
			*to = *p.of(&d)
		}
	}
	return t
}

// within halves work-groups until they have at most so many work-items.
func (t Tuning) within(most int) Tuning {
	for _, size := range []*int{&t.ScoreGroup, &t.Group} {
		for *size > max(most, 1) {
			*size /= 2
		}
	}
	return t
}
