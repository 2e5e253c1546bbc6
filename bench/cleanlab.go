package main

import (
	"cmp"
	"math"
	"slices"
)

// confidentJoint counts examples by noisy label (row) and the class that they are confidently of:
// the most likely one of those whose probability reaches the mean that it has among the examples
// with that label (Northcutt, Jiang & Chuang, Confident learning, JAIR 70, 2021, equation 1). Rows
// are scaled to the numbers of labels (equation 3) and rounded to whole examples, each row's sum
// kept.
func confidentJoint(p []float32, y []int32, q int) [][]int {
	mean, of := make([]float64, q), make([]int, q)
	for i, k := range y {
		mean[k] += float64(p[i*q+int(k)])
		of[k]++
	}
	for k := range mean {
		mean[k] /= float64(max(1, of[k]))
	}
	counts := make([][]float64, q)
	for k := range counts {
		counts[k] = make([]float64, q)
	}
	for i, k := range y {
		at := -1
		for t, v := range p[i*q : (i+1)*q] {
			if of[t] > 0 && float64(v) >= mean[t]-1e-6 && (at < 0 || v > p[i*q+at]) {
				at = t
			}
		}
		if at >= 0 {
			counts[k][at]++
		}
	}
	joint := make([][]int, q)
	for k, row := range counts {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for t := range row {
			row[t] *= float64(of[k]) / math.Max(1, sum)
		}
		joint[k] = wholes(row, of[k])
	}
	return joint
}

// wholes rounds numbers down or up to whole ones of the given sum, up where the rest is largest.
func wholes(row []float64, sum int) []int {
	whole, order := make([]int, len(row)), make([]int, len(row))
	for t, v := range row {
		whole[t], order[t] = int(v), t
		sum -= whole[t]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return -cmp.Compare(row[a]-math.Floor(row[a]), row[b]-math.Floor(row[b]))
	})
	for _, t := range order[:max(0, min(sum, len(order)))] {
		whole[t]++
	}
	return whole
}

// pruneByNoiseRate flags, for each noisy label k and other class t, as many examples labelled k as
// the confident joint has of that pair: those where p[t] - p[k] is largest (the paper's
// prune-by-noise-rate, cleanlab's default); but none whose most likely class is k.
func pruneByNoiseRate(p []float32, y []int32, q int) []bool {
	flags, members := make([]bool, len(y)), make([][]int, q)
	for i, k := range y {
		members[k] = append(members[k], i)
	}
	for k, row := range confidentJoint(p, y, q) {
		for t, n := range row {
			if t == k || n == 0 {
				continue
			}
			order := slices.Clone(members[k])
			slices.SortStableFunc(order, func(a, b int) int {
				return cmp.Compare(p[b*q+t]-p[b*q+k], p[a*q+t]-p[a*q+k])
			})
			for _, i := range order[:min(n, len(order))] {
				flags[i] = largest(p[i*q:(i+1)*q]) != k
			}
		}
	}
	return flags
}
