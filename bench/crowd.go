package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// crowdTable is a table of what annotators said, a gzip file of CSV with a header: an item and the
// name of a class in each line.
type crowdTable struct {
	path        string
	item, label string // columns
	// a table with a column like item, which names the examples in order; "": their numbers from 0
	items string
}

// oneAnnotator is the noise of one label for each example, which the seed draws from those given.
func oneAnnotator(c crowdTable) noise {
	return c.noise("one annotator", func(labels []int32, _ int, rng *rand.Rand) int32 {
		return labels[rng.IntN(len(labels))]
	})
}

// majority is the noise of the label given most often; the seed draws among equals.
func majority(c crowdTable) noise {
	return c.noise("majority", func(labels []int32, q int, rng *rand.Rand) int32 {
		votes := make([]int, q)
		for _, k := range labels {
			votes[k]++
		}
		var most []int32
		for k, v := range votes {
			if v == slices.Max(votes) {
				most = append(most, int32(k))
			}
		}
		return most[rng.IntN(len(most))]
	})
}

// noise chooses a label from those of each example.
func (c crowdTable) noise(name string, choose func(labels []int32, q int,
	rng *rand.Rand) int32) noise {
	return noise{name: name, human: true,
		labels: func(_ context.Context, dir string, d *dataset.Dataset, seed uint64) ([]int32,
			*confusion.Matrix, error) {
			given, err := c.read(dir, d)
			if err != nil {
				return nil, nil, err
			}
			const stream = 0x63726f7764 // "crowd"
			rng := rand.New(rand.NewPCG(seed, stream))
			y := make([]int32, d.N)
			for i, labels := range given {
				y[i] = choose(labels, len(d.Classes), rng)
			}
			noise, err := observed(y, d)
			return y, noise, err
		}}
}

// read returns the labels of each example of d, at least one, in the order of the table.
func (c crowdTable) read(dir string, d *dataset.Dataset) ([][]int32, error) {
	names := make([]string, d.N)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	if c.items != "" {
		columns, err := readColumns(below(dir, c.items), c.item)
		if err != nil {
			return nil, err
		}
		if names = columns[0]; len(names) != d.N {
			return nil, fmt.Errorf("%s: found %d items, wanted %d as there are examples", below(dir,
				c.items), len(names), d.N)
		}
	}
	at := make(map[string]int, d.N)
	for i, name := range names {
		at[name] = i
	}
	path := below(dir, c.path)
	columns, err := readColumns(path, c.item, c.label)
	if err != nil {
		return nil, err
	}
	given := make([][]int32, d.N)
	for n, item := range columns[0] {
		i, known := at[item]
		k := slices.Index(d.Classes, columns[1][n])
		if !known || k < 0 {
			return nil, fmt.Errorf("%s:%d: found item %q with label %q, wanted one of the examples and of "+
				"the classes %.40q", path, n+2, item, columns[1][n], d.Classes)
		}
		given[i] = append(given[i], int32(k))
	}
	for i, labels := range given {
		if len(labels) == 0 {
			return nil, fmt.Errorf("%s: found no label of item %q, wanted at least one of each", path,
				names[i])
		}
	}
	return given, nil
}

// expand returns an example for each annotation of d, with that label, and the labels of d for
// them.
func (c crowdTable) expand(dir string, d *dataset.Dataset) (*dataset.Dataset, []int32, error) {
	given, err := c.read(dir, d)
	if err != nil {
		return nil, nil, err
	}
	var which []int
	var noisy, right []int32
	for i, labels := range given {
		for _, k := range labels {
			which, noisy, right = append(which, i), append(noisy, k), append(right, d.Y[i])
		}
	}
	each := &dataset.Dataset{Examples: d.Pick(which), Y: noisy, Classes: d.Classes}
	each.Path = d.Path
	return each, right, nil
}

// readTable returns the records of a gzip file of CSV, at least one.
func readTable(path string) ([][]string, error) {
	text, err := gunzip(path)
	if err != nil {
		return nil, err
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: wanted a table with a header", path)
	}
	return all, nil
}

// readColumns returns columns of a gzip file of CSV that its header names.
func readColumns(path string, names ...string) ([][]string, error) {
	all, err := readTable(path)
	if err != nil {
		return nil, err
	}
	columns := make([][]string, len(names))
	for i, name := range names {
		at := slices.Index(all[0], name)
		if at < 0 {
			return nil, fmt.Errorf("%s:1: found no column %q", path, name)
		}
		for _, record := range all[1:] {
			columns[i] = append(columns[i], record[at])
		}
	}
	return columns, nil
}
