#!/bin/sh
# Compares UMA with known C, the same learner with C = identity, and scikit-learn's
# Perceptron: test errors after training on clean labels and on labels of which
# 40 % are wrong, and the error on those noisy training labels themselves.
# Needs Debian's python3-sklearn; PYTHON names the interpreter.
#
# usage: perceptron.sh UMA-GPU TRAIN TEST [FLAG...]
#   TRAIN and TEST are LIBSVM files whose classes are numbers, plain or gzip
#   FLAGs go to every training of uma-gpu, such as --max-steps 2000
set -eu
here=$(realpath "$(dirname "$0")")
program=$(realpath "$1")
train=$(realpath "$2")
test=$(realpath "$3")
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# learn MODEL DATA [FLAG...]
learn() {
	model=$1 data=$2
	shift 2
	"$program" train --data "$data" --format libsvm --learner uma --model "$model" --quiet "$@" >/dev/null
}

# error_of MODEL DATA
error_of() {
	"$program" eval --model "$1" --data "$2" --format libsvm --quiet | sed -n 's/^error rate *//p'
}

"$program" confusion inject --data "$train" --format libsvm --symmetric 0.4 --seed 1 \
	--out noisy.svm --write-confusion C.csv --quiet
learn clean.npz "$train" "$@"
learn known.npz noisy.svm --confusion C.csv "$@"
learn identity.npz noisy.svm "$@"

row='%-28s %12s %12s %12s\n'
# shellcheck disable=SC2059 # one lay-out for all rows
{
	printf "$row" '' 'clean labels' 'noisy labels' 'on the noisy'
	printf "$row" 'UMA, C known' \
		"$(error_of clean.npz "$test")" "$(error_of known.npz "$test")" "$(error_of known.npz noisy.svm)"
	printf "$row" 'the same, C = identity' \
		"$(error_of clean.npz "$test")" "$(error_of identity.npz "$test")" "$(error_of identity.npz noisy.svm)"
	# shellcheck disable=SC2046 # three words
	printf "$row" "scikit-learn's Perceptron" \
		$("${PYTHON:-/usr/bin/python3}" "$here/perceptron.py" "$train" noisy.svm "$test")
}
