//go:build !purego

package simd

import "github.com/uma-gpu/uma-gpu/host/numerics"

// The assembly. A tile goes on with rows × columns of sums: the sums of row r begin at
// totals[r·width], each by k products of p[r·step + i], which is one number, and w[i·stride], the
// first of the columns, for increasing i. tile16 has 4 rows, the others 8.

//go:noescape
func tile4NEON(p *float32, step int, w *float32, stride, k int, totals *float32, width int)

//go:noescape
func tile8NEON(p *float32, step int, w *float32, stride, k int, totals *float32, width int)

//go:noescape
func tile16NEON(p *float32, step int, w *float32, stride, k int, totals *float32, width int)

// These go on with as many sums of n products, n at least 1, of a value and the vectors at its
// place: 16·place in from, or 4·place.

//go:noescape
func gather4NEON(places *int32, values *float32, n int, from, totals *float32)

//go:noescape
func gather16NEON(places *int32, values *float32, n int, from, totals *float32)

// tileRows are the rows of tile16.
const tileRows = 4

// assembly: every arm64 has NEON.
func assembly() []*kernels {
	k := portable
	k.level = "NEON"
	k.dense = []denseKernel{denseNEON(4, 8, tile4NEON), denseNEON(8, 8, tile8NEON), denseNEON(16,
		tileRows, tile16NEON)}
	k.widths = []int{4, 8, 16}
	k.sparse, k.sparseWidths = []sparseKernel{sparseNEON(4, gather4NEON), sparseNEON(16,
		gather16NEON)}, []int{4, 16}
	k.fewer = false
	k.product, k.weighted, k.mostRows = productNEON, weightedNEON, 16
	k.columnSums = []columnsKernel{columnSumsNEON}
	return []*kernels{&k}
}

// denseNEON is denseGo for n classes.
func denseNEON(n, rows int, tile func(p *float32, step int, w *float32, stride, k int,
	totals *float32, width int)) denseKernel {
	return func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step, _,
		_ int) {
		last := (d+3)/4*4 - 4 // where the last group of columns begins
		for i := 0; i < lanes*blocks; i += rows {
			var own [2][4 * lanes]float32
			acc, totals := own[0][:rows*n], own[1][:rows*n]
			row := x[i*d:]
			for from := 0; from <= last; from += chunk {
				clear(acc)
				if to := min(from+chunk, last); from < to {
					tile(&row[from], d, &w[from*n], n, to-from, &acc[0], n)
				}
				if last < from+chunk {
					tile(&row[d-4], d, &w[last*n], n, 4, &acc[0], n)
				}
				for k, v := range acc {
					totals[k] += v
				}
			}
			for k, v := range totals {
				at := i + k/n
				scores[at/lanes*step+lines[k%n]+at%lanes] = v
			}
		}
	}
}

// productNEON is productGo.
func productNEON(x []float32, stride, blocks, columns int, w, totals []float32, step int,
	first bool) {
	for i := 0; i < productRows*blocks; i += tileRows {
		for half := 0; half < productColumns; half += lanes {
			var acc [tileRows * lanes]float32
			tile16NEON(&x[i*stride], stride, &w[half], productColumns, columns, &acc[0], lanes)
			for k, v := range acc {
				total := &totals[(i+k/lanes)*step+half+k%lanes]
				if first {
					*total = 0
				}
				*total += v
			}
		}
	}
}

// weightedNEON is weightedGo. Coefficients of rows that fill up a tile are 0, as are columns.
func weightedNEON(x []float32, stride, columns, examples int, a []float32, step, rows int,
	totals []float32, width, _, _ int) {
	var weights [16 * numerics.Block]float32
	for r := range rows {
		for i := range examples {
			weights[r*numerics.Block+i] = a[i/lanes*step+r*lanes+i%lanes]
		}
	}
	var last [numerics.Block * lanes]float32
	for j := 0; j < columns; j += lanes {
		from, by, some := x[j:], stride, min(lanes, columns-j)
		if some < lanes {
			for i := range examples {
				copy(last[i*lanes:], from[i*stride:i*stride+some])
			}
			from, by = last[:], lanes
		}
		for r := 0; r < rows; r += tileRows {
			p, few := &weights[r*numerics.Block], min(tileRows, rows-r)
			if few == tileRows && some == lanes {
				tile16NEON(p, numerics.Block, &from[0], by, examples, &totals[r*width+j], width)
				continue
			}
			var own [tileRows * lanes]float32
			for k := range few {
				copy(own[k*lanes:], totals[(r+k)*width+j:][:some])
			}
			tile16NEON(p, numerics.Block, &from[0], by, examples, &own[0], lanes)
			for k := range few {
				copy(totals[(r+k)*width+j:][:some], own[k*lanes:])
			}
		}
	}
}

// sparseNEON is sparseGo for n classes.
func sparseNEON(n int, gather func(places *int32, values *float32, n int, from,
	totals *float32)) sparseKernel {
	return func(starts []int64, columns []int32, values, w []float32, _ int, out []float32) {
		for i := range len(starts) - 1 {
			to := out[i*n : (i+1)*n]
			clear(to)
			for k, end := starts[i], starts[i+1]; k < end; {
				first, last := k, columns[k]|(chunk-1)
				for k++; k < end && columns[k] <= last; k++ {
				}
				var acc [lanes]float32
				gather(&columns[first], &values[first], int(k-first), &w[0], &acc[0])
				for c := range to {
					to[c] += acc[c]
				}
			}
		}
	}
}

// columnSumsNEON is columnSumsGo for 16 rows.
func columnSumsNEON(runs, rows []int32, values, a []float32, scale float32, sums []int64) {
	for ; len(runs) > 0; runs = runs[2:] {
		var acc [lanes]float32
		n := runs[0]
		gather16NEON(&rows[0], &values[0], int(n), &a[0], &acc[0])
		rows, values = rows[n:], values[n:]
		sum := sums[int(runs[1])*lanes:][:lanes]
		for r, v := range acc {
			sum[r] += numerics.Quantize(v, scale)
		}
	}
}
