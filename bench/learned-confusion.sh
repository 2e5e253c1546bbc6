#!/bin/sh
# Clean test error of softmax with the C by which labels were corrupted, with a C that it learns
# itself, and without one, for ten noises; and for how many of them learning comes within 1.5
# points of knowing.
#
# usage: learned-confusion.sh UMA-GPU DATA FASHION [FLAG...]
#   DATA holds optdigits/optdigits.{tra,tes}.gz and letter/letter-recognition.data.gz
#   FASHION holds Fashion-MNIST's four .gz files; 10,000 of its examples are used
#   FLAGs go to every training, such as --correction em
# Exits 1 if learning comes that near for less than eight.
set -eu
program=$(realpath "$1")
data=$(realpath "$2")
fashion=$(realpath "$3")
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# error prints the clean test error of a model trained with these flags.
error() {
	"$program" train --data noisy.csv --label-column "$label" --learner softmax --model m.npz --quiet --device cpu "$@" \
		>/dev/null
	"$program" eval --model m.npz --data "$test" --label-column "$label" --quiet | sed -n 's/^error rate *//p'
}

# measure NAME NOISE RATE SEED [FLAG...]
measure() {
	name=$1 noise=$2 rate=$3 seed=$4
	shift 4
	"$program" confusion inject --data "$train" --label-column "$label" "--$noise" "$rate" --seed "$seed" \
		--out noisy.csv --write-confusion C.csv --quiet
	echo "$(error --confusion C.csv "$@")" "$(error --learn-confusion "$@")" "$(error --correction none "$@")" >row
	awk -v what="$name $noise $rate" '{ printf "%-28s C known %.4f, learned %.4f, none %.4f\n", what, $1, $2, $3 }' row
	cat row >>rows
}

train=optdigits.csv test=optdigits.t.csv label=last
gzip -dc "$data/optdigits/optdigits.tra.gz" >$train
gzip -dc "$data/optdigits/optdigits.tes.gz" >$test
measure optdigits pairwise 0.40 1 "$@"
measure optdigits pairwise 0.45 2 "$@"
measure optdigits symmetric 0.40 3 "$@"
measure optdigits random 0.45 4 "$@"
train=letter.csv test=letter.t.csv label=first
gzip -dc "$data/letter/letter-recognition.data.gz" >letter.all.csv
head -n 15000 letter.all.csv >$train
tail -n 5000 letter.all.csv >$test
measure letter pairwise 0.30 5 "$@"
measure letter symmetric 0.20 6 "$@"
measure letter random 0.45 7 "$@"
train=fashion.csv test=fashion.t.csv label=last
"$program" split --data "$fashion/train-images-idx3-ubyte.gz" --labels "$fashion/train-labels-idx1-ubyte.gz" \
	--counts 10000 --out $train --quiet
"$program" convert --data "$fashion/t10k-images-idx3-ubyte.gz" --labels "$fashion/t10k-labels-idx1-ubyte.gz" \
	--out $test --quiet
measure fashion-mnist pairwise 0.40 8 "$@"
measure fashion-mnist symmetric 0.40 9 "$@"
measure fashion-mnist random 0.45 10 "$@"
awk '{ if ($2 <= $1 + 0.015) near++ } END { printf "within 1.5 points: %d of %d\n", near, NR; exit near < 8 }' rows
