package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// knownCrowds are the accuracies of the votes and of Dawid-Skene, 100 rounds with a smoothing of 0.01
// from vote shares, which another implementation found.
var knownCrowds = []struct {
	name                 string
	majority, dawidSkene float64
}{
	{"bluebird", .7593, .8981}, {"dog", .8228, .8426}, {"rte", .8975, .9275}, {"trec", .6519, .7020},
	{"web", .7271, .8217}, {"CF", .8767, .8300}, {"MS", .6900, .7686},
}

// crowds compares with the known answers and fails where one is more than 0.005 off.
func crowds(w io.Writer, dir string) error {
	fmt.Fprintf(w, "| set | items | labels | majority | one-coin | Dawid-Skene | known | with 2 labels pooled "+
		"| rounds |\n")
	fmt.Fprintf(w, "|---|---|---|---|---|---|---|---|---|\n")
	var wrong error
	for _, known := range knownCrowds {
		right, err := readItems(filepath.Join(dir, "crowd", known.name, "truth.csv.gz"))
		if err != nil {
			return err
		}
		path := filepath.Join(dir, "crowd", known.name, "label.csv.gz")
		items, err := readItems(path) // more of which are labelled than have a truth
		if err != nil {
			return err
		}
		a, err := confusion.ReadAnnotations(context.Background(), path, confusion.AnnotationOptions{Items: len(items)})
		if err != nil {
			return err
		}
		classes := append([]string{}, a.Classes...)
		dataset.SortClasses(classes)
		if err := a.Arrange(classes); err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %d | %d ", known.name, a.N(), len(a.By))
		rounds := 0
		for k, o := range []confusion.CrowdOptions{
			{Method: confusion.Majority}, {Method: confusion.OneCoin}, {}, {Pooled: 2},
		} {
			c, err := confusion.FromCrowd(context.Background(), a, 1, o)
			if err != nil {
				return err
			}
			share, of := 0.0, 0.0
			for i, name := range right {
				if name == "" {
					continue
				}
				of++
				if a.Classes[c.Consensus[i]] == name {
					share++
				}
			}
			share /= of
			fmt.Fprintf(w, "| %.4f ", share)
			if k == 2 {
				fmt.Fprintf(w, "| %.4f ", known.dawidSkene)
				rounds = c.Rounds
				if d := share - known.dawidSkene; d > 0.005 || d < -0.005 {
					wrong = fmt.Errorf("%s: Dawid-Skene is right for %.4f, wanted %.4f within 0.005",
						known.name, share, known.dawidSkene)
				}
			}
		}
		fmt.Fprintf(w, "| %d |\n", rounds)
	}
	return wrong
}

// readItems returns the second field of each item, "" where it is not known.
func readItems(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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

// crowdSpeed measures an iteration of Dawid-Skene.
func crowdSpeed(w io.Writer) error {
	fmt.Fprintf(w, "| labels | items | annotators | classes | seconds an iteration |\n|---|---|---|---|---|\n")
	for _, n := range []int{1_000_000, 10_000_000} {
		a := crowdOf(n/5, 5, 1000, 10)
		begin := time.Now()
		if _, err := confusion.FromCrowd(context.Background(), a, 1, confusion.CrowdOptions{Rounds: 2}); err != nil {
			return err
		}
		few := time.Since(begin)
		const more = 10
		begin = time.Now()
		c, err := confusion.FromCrowd(context.Background(), a, 1, confusion.CrowdOptions{Rounds: 2 + more})
		if err != nil {
			return err
		}
		if c.Rounds != 2+more {
			return fmt.Errorf("%d rounds, wanted %d", c.Rounds, 2+more)
		}
		fmt.Fprintf(w, "| %d | %d | %d | 10 | %.3f |\n", n, n/5, 1000, (time.Since(begin)-few).Seconds()/more)
	}
	return nil
}

// crowdOf returns labels of which some 60 % are right.
func crowdOf(items, each, annotators, q int) *confusion.Annotations {
	a := &confusion.Annotations{Start: make([]int, 1, items+1)}
	for k := range q {
		a.Classes = append(a.Classes, fmt.Sprintf("%02d", k))
	}
	for k := range annotators {
		a.Names = append(a.Names, fmt.Sprintf("%06d", k))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range items {
		t := rng.IntN(q)
		first := rng.IntN(annotators - each)
		for k := range each {
			label := t
			if rng.Float64() > 0.3+0.6*float64((first+k)%7)/7 {
				label = rng.IntN(q)
			}
			a.By, a.Label = append(a.By, int32(first+k)), append(a.Label, int32(label))
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a
}
