#!/bin/sh
# Whether other programs predict what we do: models of letter and 20 Newsgroups, trained with 40 % of the labels
# moved to the next class, written by uma-gpu export, run by ONNX Runtime and judged by the checker of package onnx.
#
# usage: exports.sh UMA-GPU DATA NODE-MODULES
#   DATA holds letter/letter-recognition.data.gz and 20news/20news.{train,test}.svm.gz
#   NODE-MODULES is a folder that has onnxruntime-node
# Prints one line for each model; exits 1 if a class differs, but for the polynomial kernel function, whose
# values go up to 900 and cancel: float32 by itself moves 27 classes of 5000 against float64 there.
# SETS are "letter 20news".
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
NODE_PATH=$(realpath "$3")
export NODE_PATH
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

run() {
	"$program" "$@" --quiet >report 2>notes || { cat notes >&2; exit 1; }
}

# judge NAME FEATURES: trained m.npz, and test.npz and test.svm that are the same examples.
judge() {
	run predict --model m.npz --data test.npz --device cpu --out ours.txt
	run predict --model m.npz --data test.npz --device cpu --probabilities --out ours.npy
	run export --model m.npz --out m.onnx
	/usr/bin/python3 -c "import onnx; onnx.checker.check_model(onnx.load('m.onnx'), full_check=True)"
	found=$(FEATURES=$2 node "$here/onnxruntime.js" m.onnx test.svm ours.txt ours.npy) || case $1 in
	*poly*) ;;
	*) failed=1 ;;
	esac
	echo "$1, ONNX Runtime: $found"
}

train() {
	run train --data noisy.npz --confusion C.csv --model m.npz --device cpu "$@"
}

letter() {
	run split --data "$data/letter/letter-recognition.data.gz" --format csv --label-column 1 --counts 15000,5000 \
		--seed 1 --out train.npz --out test.npz
	run convert --data test.npz --out test.svm
	run confusion inject --data train.npz --pairwise 0.4 --seed 1 --out noisy.npz --write-confusion C.csv
	train
	judge "letter, linear" 16
	train --normalize none
	judge "letter, linear in raw features" 16
	for kernel in rbf poly cosine linear; do
		components=200
		[ "$kernel" != linear ] && [ "$kernel" != cosine ] || components=16
		train --kernel "$kernel" --components "$components" --landmarks 1000
		judge "letter, $kernel kernel" 16
	done
	train --learner trees --mode boost --rounds 20
	judge "letter, boosted trees" 16
	train --learner trees --mode forest --rounds 20
	judge "letter, forest" 16
	run split --data noisy.npz --counts 2000,1 --seed 1 --out few.npz --out rest.npz
	run train --data few.npz --confusion C.csv --model m.npz --device cpu --learner kernelmean --kernel rbf --gamma mean
	judge "letter, kernel means" 16
}

news() {
	gunzip -c "$data/20news/20news.test.svm.gz" >test.svm
	run convert --data test.svm --out test.npz
	run confusion inject --data "$data/20news/20news.train.svm.gz" --pairwise 0.4 --seed 1 --out noisy.npz \
		--write-confusion C.csv
	run info --data noisy.npz --json
	features=$(sed -n 's/.*"features": *\([0-9]*\).*/\1/p' report)
	train --learner uma --max-steps 50
	judge "20news, linear" "$features"
}

for set in ${SETS:-letter 20news}; do
	case $set in
	letter) letter ;;
	20news) news ;;
	*) echo "exports.sh: set $set is not known; use letter or 20news" >&2; exit 2 ;;
	esac
done
exit $failed
