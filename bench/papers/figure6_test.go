package main

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

// TestFigure6: who asks for the largest mistake needs few planes, who asks for the smallest few
// updates a plane, as the thesis has it; a wider margin leaves less to do.
func TestFigure6(t *testing.T) {
	e := open(t, simd.New())
	found := map[string]map[string]map[int]float64{}
	for _, d := range []*experiment{figure63, figure64} {
		found[d.Name] = map[string]map[int]float64{}
		err := perform(t.Context(), d, options{Engine: e, Runs: 10, Seed: 1}, func(row Row) error {
			name := row.Learner + " " + row.Measure
			if found[d.Name][name] == nil {
				found[d.Name][name] = map[int]float64{}
			}
			found[d.Name][name][row.Level] = row.Mean
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	shares, largest := found["fig6.3"]["largest share_of_runs"], found["fig6.4"]["largest planes"]
	if shares[1] != 1 || shares[5] > 0.5 || shares[7] != 0 ||
		found["fig6.3"]["smallest share_of_runs"][7] < 0.5 {
		t.Errorf("fig6.3 has %v", found["fig6.3"])
	}
	all := found["fig6.4"]
	if len(all) != 7 || largest[3] > 5 || all["smallest planes"][3] < 1.5*largest[3] ||
		all["largest updates"][0] < 2*all["largest updates"][7] || all["perceptron updates"][0] < 1 {
		t.Errorf("fig6.4 has %v", all)
	}
}
