// Command scale says what training on many ranks takes by an α-β model: memory, traffic and time of a step of UMA and
// of softmax, and of the scores of kernel means, for a number of examples, features, classes and ranks. What an
// operation sends is docs/scale.md's table, which TestTraffic counts.
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
	atoms   float64 // of kernel means
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
		// Means of atoms: a kernel value of each example and atom, once; then what each rank has found goes to all.
		values, sent := 2*m.n*m.atoms*m.d/k/m.flops, 4*m.n*m.q
		seconds := math.Log2(max(1, k))*m.alpha + sent*m.beta
		fmt.Fprintf(t, "| %v\t| kernel mean, once\t| %s\t| %s sent\t| %.3g s\t| %.3g s\t| %.3g s\t| %.3g %%\t|\n", k,
			size(4*m.n*m.d/k+sent+4*m.atoms*m.d), size(sent), values, seconds, values+seconds,
			100*values/(values+seconds))
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
	flag.Float64Var(&m.atoms, "atoms", 1e4, "atoms of a kernel mean")
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
