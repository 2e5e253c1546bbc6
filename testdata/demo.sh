#!/bin/sh
# Shows learning of real digits from wrong labels: corrupts 40 % of the labels of a
# training set by a known asymmetric confusion matrix, trains logistic regression
# and UMA with that matrix and logistic regression without it, and compares them on
# clean test data.
#
# usage: demo.sh UMA-GPU [DEVICE]
#   DEVICE is the first OpenCL device, if there is one: auto would compute without
#   OpenCL on so few examples
set -eu
program=$(realpath "$1")
device=${2:-$("$program" devices | sed -n 's/^\(opencl:[0-9.]*\) .*/\1/p' | head -n 1)}
device=${device:-auto}
digits=$(realpath "$(dirname "$0")/digits.csv.gz")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# announce prints a command of the program, show runs it besides.
announce() {
	printf '\n$ uma-gpu %s\n' "$*"
}
show() {
	announce "$@"
	"$program" "$@"
}

# error_of prints the clean test error of a model.
error_of() {
	"$program" eval --model "$1" --data test.csv --device "$device" --quiet | sed -n 's/^error rate *//p'
}

gzip -dc "$digits" >all.csv
head -n 1200 all.csv >train.csv
tail -n +1201 all.csv >test.csv
echo "1,200 handwritten digits to learn from, 597 to test on. Four in ten digits q are labelled q+1."

show confusion inject --data train.csv --pairwise 0.4 --seed 1 --out noisy.csv --write-confusion C.csv
show train --data noisy.csv --confusion C.csv --device "$device" --model m.npz

# brief is show of the first lines alone.
brief() {
	announce "$@"
	"$program" "$@" >report.txt
	head -n 6 report.txt
}
brief train --data noisy.csv --confusion C.csv --device "$device" --learner uma --model uma.npz
# Without C the estimates are about the wrong labels.
brief train --data noisy.csv --device "$device" --model identity.npz

echo
echo "clean test error of logistic regression that knows C:     $(error_of m.npz)"
echo "of UMA, which knows C too:                                $(error_of uma.npz)"
echo "of logistic regression with C = identity:                 $(error_of identity.npz)"
