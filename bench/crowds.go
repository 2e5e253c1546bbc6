package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// knownCrowds are the accuracies of the votes and of Dawid-Skene, 100 rounds with a smoothing of
// 0.01 from vote shares, which another implementation found.
var knownCrowds = []struct {
	name                 string
	majority, dawidSkene float64
}{
	{"bluebird", .7593, .8981}, {"dog", .8228, .8426}, {"rte", .8975, .9275}, {"trec", .6519, .7020},
	{"web", .7271, .8217}, {"CF", .8767, .8300}, {"MS", .6900, .7686},
}

// crowds compares with the known answers, and fails where one is more than 0.005 off.
func crowds(ctx context.Context, c *call) error {
	data := c.flags.String("data", "", "`folder` of the data sets (required)")
	if err := c.parse(0, "data"); err != nil {
		return err
	}
	fmt.Fprint(c.stdout, head("set", "items", "labels", "majority", "one-coin", "Dawid-Skene", "known",
		"with 2 labels pooled", "rounds"))
	var wrong error
	for _, known := range knownCrowds {
		folder := filepath.Join(*data, "crowd", known.name)
		right, err := readItems(filepath.Join(folder, "truth.csv.gz"))
		if err != nil {
			return err
		}
		path := filepath.Join(folder, "label.csv.gz")
		items, err := readItems(path) // more items than have a truth
		if err != nil {
			return err
		}
		a, err := crowd.ReadAnnotations(ctx, path, crowd.AnnotationOptions{Items: len(items)})
		if err != nil {
			return err
		}
		classes := append([]string{}, a.Classes...)
		dataset.SortClasses(classes)
		if err := a.Arrange(classes); err != nil {
			return err
		}
		cells, rounds := []any{known.name, a.N(), len(a.By)}, 0
		for k, o := range []crowd.Options{
			{Method: crowd.Majority}, {Method: crowd.OneCoin}, {}, {Pooled: 2},
		} {
			found, err := crowd.Fit(ctx, a, 1, o)
			if err != nil {
				return err
			}
			share := rightShare(found.Consensus, a.Classes, right)
			cells = append(cells, fmt.Sprintf("%.4f", share))
			if k == 2 {
				cells, rounds = append(cells, fmt.Sprintf("%.4f", known.dawidSkene)), found.Rounds
				if math.Abs(share-known.dawidSkene) > 0.005 {
					wrong = fmt.Errorf("%s: Dawid-Skene is right for %.4f, wanted %.4f within 0.005",
						known.name, share, known.dawidSkene)
				}
			}
		}
		fmt.Fprint(c.stdout, line(append(cells, rounds)...))
	}
	return wrong
}

// rightShare returns the accuracy of a consensus on the items whose class is known.
func rightShare(consensus []int32, classes, right []string) float64 {
	share, of := 0.0, 0.0
	for i, name := range right {
		if name == "" {
			continue
		}
		of++
		if classes[consensus[i]] == name {
			share++
		}
	}
	return share / of
}

// readItems returns the second field of each item, "" where it is not known.
func readItems(path string) ([]string, error) {
	rows, err := readTable(path)
	if err != nil {
		return nil, err
	}
	var right []string
	for _, row := range rows[1:] {
		i, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, fmt.Errorf("%s: item %q: %w", path, row[0], err)
		}
		for len(right) <= i {
			right = append(right, "")
		}
		right[i] = row[1]
	}
	return right, nil
}
