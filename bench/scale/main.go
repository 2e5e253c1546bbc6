// Command scale says what training on many ranks takes by an α-β model: memory, traffic and time of a step of UMA and
// of softmax, and of the fits of kernel means and of kernel PCA, for a number of examples, features, classes and
// ranks. What an operation sends is docs/scale.md's table, which TestTraffic and TestKernelTraffic count.
//
//	go run ./bench/scale -examples 1e9 -features 1e4 -classes 10 -ranks 8,64,1024
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
)

// model is a cluster, with what it trains on.
type model struct {
	n, d, q float64
	atoms   float64 // of kernel means, and landmarks of kernel PCA
	alpha   float64 // seconds from rank to rank
	beta    float64 // seconds a byte
	read    float64 // bytes of examples that a rank's engine reads in a second
	flops   float64 // of a rank, for kernel values
}

// sum returns the seconds of an all-reduce of so many bytes among k ranks, and of the comparison of calls before it:
// by halving and doubling, which is what MPI libraries take for long messages.
func (m model) sum(k, bytes float64) float64 {
	if k <= 1 {
		return 0
	}
	return 4*math.Log2(k)*m.alpha + 2*(k-1)/k*bytes*m.beta
}

// step is what one step of a learner takes on each of k ranks.
type step struct {
	name    string
	reads   float64   // bytes of examples, of all ranks
	sums    []float64 // bytes of each sum
	resides float64   // bytes beside the examples, on each rank
}

func (m model) steps() []step {
	x := 4 * m.n * m.d
	return []step{
		{"UMA", x, []float64{16, 16*m.q*m.q + 24, 8*m.q*m.q*m.d + 16}, 12*m.q*m.q*m.d + 8*m.n},
		{"softmax", x, []float64{8*m.q*m.d + 32}, 8*m.q*m.d + 8*m.n},
	}
}

// fit is what a fit with a kernel function takes on all ranks.
type fit struct {
	name     string
	products float64 // operations
	ordered  float64 // bytes that are added in the order of the examples
	shared   float64 // bytes of all ranks beside the examples, and on each rank
	resides  float64
}

// fits: kernel values of the examples with all atoms, and of means with 4096 examples besides; then, as numbers that
// stay with the ranks, means or components. Of kernel PCA the features and their products too.
func (m model) fits() []fit {
	const errors, components = 4096, 500
	values, a := 2*m.n*m.d, m.atoms
	return []fit{
		{"kernel mean", values * (2*a + errors), 4 * m.q * (a + errors), 4 * m.n * m.q, 4*a*m.d + 12*a*a + 8*m.n},
		{"kernel PCA", 2*values*a + 2*m.n*a*(a+components), 4 * a * a, 4 * m.n * a, 4*a*m.d + 28*a*a + 8*m.n},
	}
}

// inOrder returns the bytes that k ranks send so that so many are added in order, and the seconds: in 8·k groups, each
// of which goes from rank to rank while the others do.
func (m model) inOrder(k, bytes float64) (sent, seconds float64) {
	slots := bytes / 8 // of k groups
	stages := 9*k - 1
	return stages * slots, stages * m.sum(k, slots)
}

func (m model) print(ranks []float64) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| ranks\t| learner\t| memory of a rank\t| summed in a step\t| reading\t| sums\t| a step\t"+
		"| of k times one\t|")
	fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, k := range ranks {
		for _, s := range m.steps() {
			bytes, seconds := 0.0, 0.0
			for _, b := range s.sums {
				bytes, seconds = bytes+b, seconds+m.sum(k, b)
			}
			pass := s.reads / k / m.read
			fmt.Fprintf(t, "| %v\t| %s\t| %s\t| %s\t| %.3g s\t| %.3g s\t| %.3g s\t| %.3g %%\t|\n", k, s.name,
				size(s.reads/k+s.resides), size(bytes), pass, seconds, pass+seconds, 100*pass/(pass+seconds))
		}
		for _, f := range m.fits() {
			sent, seconds := m.inOrder(k, f.ordered)
			sent, seconds = sent+4*m.atoms*m.d, seconds+4*m.atoms*m.d*m.beta // the atoms
			work := f.products / k / m.flops
			fmt.Fprintf(t, "| %v\t| %s, once\t| %s\t| %s\t| %.3g s\t| %.3g s\t| %.3g s\t| %.3g %%\t|\n", k, f.name,
				size((4*m.n*m.d+f.shared)/k+f.resides), size(sent), work, seconds, work+seconds, 100*work/(work+seconds))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	// The sum of classes takes as long as the reading of so many examples, with as many classes.
	fmt.Printf("\nclass sums take as long as reading where a rank has fewer than %.3g examples\n",
		2*8*m.q*m.q*m.beta*m.read/4)
	return nil
}

func size(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	k := 0
	for bytes >= 1000 && k < len(units)-1 {
		bytes, k = bytes/1000, k+1
	}
	return fmt.Sprintf("%.3g %s", bytes, units[k])
}

func main() {
	var m model
	flag.Float64Var(&m.n, "examples", 1e9, "number of examples")
	flag.Float64Var(&m.d, "features", 1e4, "number of features")
	flag.Float64Var(&m.q, "classes", 10, "number of classes")
	flag.Float64Var(&m.atoms, "atoms", 1e4, "atoms of a kernel mean, or landmarks of kernel PCA")
	flag.Float64Var(&m.alpha, "alpha", 2e-6, "seconds that a message takes besides its bytes")
	flag.Float64Var(&m.beta, "beta", 1/12.5e9, "seconds a byte takes")
	flag.Float64Var(&m.read, "read", 200e9, "bytes of examples that a rank reads in a second")
	flag.Float64Var(&m.flops, "flops", 1e12, "operations of a rank in a second, for kernel values")
	list := flag.String("ranks", "8,64,1024", "numbers of ranks")
	flag.Parse()
	var ranks []float64
	for _, text := range strings.Split(*list, ",") {
		k, err := strconv.Atoi(text)
		if err != nil || k < 1 {
			fmt.Fprintf(os.Stderr, "scale: -ranks: found %q, wanted numbers from 1 on\n", text)
			os.Exit(2)
		}
		ranks = append(ranks, float64(k))
	}
	if err := m.print(ranks); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}
