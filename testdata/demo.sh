#!/bin/sh
# Shows UMA learning real digits from wrong labels: corrupts 40 % of the labels of
# a training set by a known asymmetric confusion matrix, trains UMA with that
# matrix and the same learner without it, and compares both on clean test data.
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
show train --data noisy.csv --confusion C.csv --device "$device" --max-steps 600 --model uma.npz

# Without C the estimates are about the wrong labels: only the first lines say much.
set -- train --data noisy.csv --device "$device" --max-steps 600 --model identity.npz
announce "$@"
"$program" "$@" >identity.txt
head -n 6 identity.txt

echo
echo "clean test error of UMA, which knows C:       $(error_of uma.npz)"
echo "of the same learner with C = identity:        $(error_of identity.npz)"
