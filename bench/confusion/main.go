// Command confusion measures how well confusion matrices are estimated: labels of crowds against
// known answers, the time that estimates take, and estimates from noisy labels alone.
//
//	go run ./bench/confusion -data DIR crowds|speed|estimators
//	go run ./bench/confusion table <LINES-OF-ESTIMATORS
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	data := flag.String("data", "", "`folder` of the data sets")
	only := flag.String("only", "", "estimators only of sets and noises whose name has this `text`")
	methods := flag.String("methods", "", "estimators only of methods whose name has this `text`")
	seeds := flag.Int("seeds", 1, "estimators with the seeds 1 to `k`")
	flag.Parse()
	var err error
	switch flag.Arg(0) {
	case "crowds":
		err = crowds(os.Stdout, *data)
	case "speed":
		err = crowdSpeed(os.Stdout)
	case "estimators":
		err = estimators(context.Background(), os.Stdout, *data, *only, *methods, *seeds)
	case "table":
		err = table(os.Stdout, os.Stdin)
	default:
		err = fmt.Errorf("found %q, wanted crowds, speed, estimators or table", flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "confusion:", err)
		os.Exit(1)
	}
}
