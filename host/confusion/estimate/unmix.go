package estimate

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// unmixRounds are the rounds of Unmix.
const unmixRounds = 30

// Unmix estimates P(true) in place from P(noisy), n×q row-major, and the noise, q×q, by rounds of
// EM:
//
//	t[k]  ←  t[k] · Σ_y p[y]·C[y][k] / (C·t)[y]
//
// The time is in proportion to the entries of C that are above the least of their column. Where ctx
// ends, so does Unmix, and p means nothing.
func Unmix(ctx context.Context, p []float32, noise []float64, q int) {
	least := slices.Clone(noise[:q])
	for at, v := range noise {
		least[at%q] = min(least[at%q], v)
	}
	// C is least in each row, and more in these places.
	starts, columns, more := make([]int, 1, q+1), []int(nil), []float64(nil)
	for y := range q {
		for k, v := range noise[y*q : (y+1)*q] {
			if v > least[k] {
				columns, more = append(columns, k), append(more, v-least[k])
			}
		}
		starts = append(starts, len(columns))
	}
	parallel.Ranges(len(p)/q, 16, func(from, to int) {
		t, next := make([]float64, q), make([]float64, q)
		for row := range slices.Chunk(p[from*q:to*q], q) {
			if ctx.Err() != nil {
				return
			}
			for k := range t {
				t[k] = 1 / float64(q)
			}
			for range unmixRounds {
				clear(next)
				floor, weights := 0.0, 0.0
				for k, v := range least {
					floor += float64(v * t[k])
				}
				for y, v := range row {
					some, above := columns[starts[y]:starts[y+1]], more[starts[y]:starts[y+1]]
					sum := floor
					for at, k := range some {
						sum += float64(above[at] * t[k])
					}
					if sum == 0 || v == 0 {
						continue
					}
					w := float64(v) / sum
					weights += w
					for at, k := range some {
						next[k] += float64(w * above[at])
					}
				}
				settled := true
				for k, v := range next {
					was := t[k]
					t[k] *= v + float64(weights*least[k])
					settled = settled && t[k] == was
				}
				if settled { // further rounds change nothing, as of labels without noise
					break
				}
			}
			sum := lists.Sum(t)
			for k, f := range t {
				row[k] = float32(f / max(sum, 0x1p-60))
			}
		}
	})
}
